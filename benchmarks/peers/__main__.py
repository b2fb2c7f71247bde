"""Lamina beside the tools that people use today, in one run on the same data.

    python -m benchmarks.peers [--own] [--locomo FILE] [--beam FOLDER] [--longmemeval FILE] [--set FOLDER]
        [--only NAME,…] [--questions N] [--work FOLDER] [--json] [--markdown FILE]

Without a path it takes Lamina's own set; of several sets, each gets its tables. Each tool is installed into
an environment of its own below the work folder (used again in the next run) and runs in processes of its own,
with a home of its own; all that take a custom embedding get the same one. Linux only, for memory's sake.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.peers.data import add_options, load
from benchmarks.peers.environments import environment
from benchmarks.peers.measure import Measured, measure
from benchmarks.peers.page import body, page
from benchmarks.peers.processes import Worker, closed_environment
from benchmarks.peers.tools import TOOLS, Tool


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    options = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # so that what it started is ended, too
    if not Path("/proc/self/status").exists():
        raise SystemExit("this benchmark reads /proc: run it on Linux")
    sets, tools = load(options), chosen(options.only)
    work = Path(options.work).absolute()
    work.mkdir(parents=True, exist_ok=True)
    with endpoint(work) as (url, server):
        results = [
            (data, [measure(tool, data.corpora, work, url, say, greet=at == 0) for tool in tools])
            for at, data in enumerate(sets)
        ]
        endpoint_mb = server.peak_mb()
    if options.json:
        found = {data.title: [plain(each) for each in measured] for data, measured in results}
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    text = body(results, endpoint_mb)
    if options.markdown:
        Path(options.markdown).write_text(page(arguments, text), encoding="utf-8")
    print(text)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--only", metavar="NAME,…", default="", help=", ".join(tool.name for tool in TOOLS))
    parser.add_argument("--work", metavar="FOLDER", default=str(Path(tempfile.gettempdir(), "lamina-peers")))
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--markdown", metavar="FILE", help="also write the page of the documentation")
    return parser.parse_args(arguments)


def chosen(only: str) -> list[Tool]:
    """Return the tools that were asked for, in their own order."""
    names = {name.strip() for name in only.split(",") if name.strip()}
    unknown = names - {tool.name for tool in TOOLS}
    if unknown:
        there = ", ".join(tool.name for tool in TOOLS)
        raise SystemExit(f"no tool is called {', '.join(sorted(unknown))}: there are {there}")
    return [tool for tool in TOOLS if not names or tool.name in names]


@contextmanager
def endpoint(work: Path) -> Iterator[tuple[str, Worker]]:
    """Serve the shared embedding on a free port of this machine while the block runs."""
    programs = environment("embedding", work)
    home = work / "runs" / "endpoint"
    env = closed_environment(home, path=[programs])
    script = str(Path(__file__).with_name("embedding_server.py"))
    with Worker([str(programs / "python"), script], env, home, "endpoint") as server:
        yield f"http://127.0.0.1:{server.hear()['port']}/v1", server


def plain(measured: Measured) -> dict[str, object]:
    """Return the figures as JSON can hold them."""
    values = measured._asdict()
    values["kinds"] = {kind: each._asdict() for kind, each in measured.kinds.items()}
    return {name: value._asdict() if hasattr(value, "_asdict") else value for name, value in values.items()}


def say(text: str) -> None:
    """Tell what is going on."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
