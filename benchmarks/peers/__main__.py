"""Lamina beside the tools that people use today, in one run on the same data.

    python -m benchmarks.peers [--locomo FILE | --beam FOLDER | --longmemeval FILE | --set FOLDER]
        [--only NAME,…] [--questions N] [--work FOLDER] [--json] [--markdown FILE]

Without a path it takes Lamina's own set. Each tool is installed into an environment of its own below the work
folder (used again in the next run) and runs in processes of its own, with a home of its own; all that take a
custom embedding get the same one. Linux only: memory is read from /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.peers.environments import ROOT, environment, version_of
from benchmarks.peers.measure import Measured, measure
from benchmarks.peers.processes import Worker, closed_environment
from benchmarks.peers.table import report
from benchmarks.peers.tools import TOOLS, Tool
from lamina.evaluation import corpora as loaders
from lamina.evaluation.corpora import Corpus

OWN_SET = ROOT / "src" / "lamina" / "evaluation" / "sets" / "coding"
PATHS = {
    "--work": "",
    "--markdown": "",
    "--locomo": "FILE",
    "--beam": "FOLDER",
    "--longmemeval": "FILE",
    "--set": "FOLDER",
}
LOADERS = {
    "locomo": loaders.load_locomo,
    "beam": loaders.load_beam,
    "longmemeval": loaders.load_longmemeval,
    "set": loaders.load_set,
}


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    options = parse(arguments)
    if not Path("/proc/self/status").exists():
        raise SystemExit("this benchmark reads /proc: run it on Linux")
    corpora = sampled(by_turn(load(options)), options.questions)
    work = Path(options.work).absolute()
    work.mkdir(parents=True, exist_ok=True)
    with endpoint(work) as (url, server):
        measured = [measure(tool, corpora, work, url, say) for tool in chosen(options.only)]
        endpoint_mb = server.peak_mb()
    if options.json:
        print(json.dumps([plain(each) for each in measured], ensure_ascii=False, indent=1))
        return
    text = report(measured, notes(measured, endpoint_mb, len(corpora)))
    heading = f"{data_line(corpora)} {machine_line()}\n\n"
    if options.markdown:
        Path(options.markdown).write_text(page(arguments, heading + text), encoding="utf-8")
    print(heading + text)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__.split("\n")[0])
    which = parser.add_mutually_exclusive_group()
    for name, what in (("locomo", "FILE"), ("beam", "FOLDER"), ("longmemeval", "FILE"), ("set", "FOLDER")):
        which.add_argument(f"--{name}", metavar=what, type=Path)
    parser.add_argument("--only", metavar="NAME,…", default="", help=", ".join(tool.name for tool in TOOLS))
    parser.add_argument("--questions", metavar="N", type=int, help="take so many, spread evenly")
    parser.add_argument("--work", metavar="FOLDER", default=str(Path(tempfile.gettempdir(), "lamina-peers")))
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--markdown", metavar="FILE", help="also write the page of the documentation")
    return parser.parse_args(arguments)


def load(options: argparse.Namespace) -> list[Corpus]:
    """Read the data that was asked for."""
    for name, loader in LOADERS.items():
        path = getattr(options, name)
        if path is not None:
            return loader(path)
    return loaders.load_set(OWN_SET)


def by_turn(corpora: Sequence[Corpus]) -> list[Corpus]:
    """Let turns be gold where sessions are; questions without a gold turn that exists are left out."""
    turned = []
    for corpus in corpora:
        there = {unit.id for unit in corpus.units}
        questions = [each._replace(gold=(each.turns or each.gold) & there) for each in corpus.questions]
        turned.append(corpus._replace(questions=tuple(each for each in questions if each.gold)))
    return turned


def sampled(corpora: Sequence[Corpus], count: int | None) -> list[Corpus]:
    """Keep `count` questions, spread evenly over all corpora; corpora without questions are left out."""
    places = [(at, question) for at, corpus in enumerate(corpora) for question in corpus.questions]
    if count and count < len(places):
        places = [places[number * len(places) // count] for number in range(count)]
    kept = [
        corpus._replace(questions=tuple(question for where, question in places if where == at))
        for at, corpus in enumerate(corpora)
    ]
    return [corpus for corpus in kept if corpus.questions]


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


def data_line(corpora: Sequence[Corpus]) -> str:
    """Say what was searched."""
    turns = sum(len(corpus.units) for corpus in corpora)
    questions = sum(len(corpus.questions) for corpus in corpora)
    several = f"{len(corpora)} corpora searched one by one, " if len(corpora) > 1 else ""
    return f"{several}{turns:,} turns, {questions:,} questions.".capitalize()


def machine_line() -> str:
    """Say when and on what kind of machine it ran."""
    day = datetime.now(UTC).date().isoformat()
    cores = len(os.sched_getaffinity(0))
    return f"{day}, {cores} cores, {platform.system()}, Python {platform.python_version()}."


def notes(measured: Sequence[Measured], endpoint_mb: float, corpora: int) -> list[str]:
    """Return what has to be known to read the tables."""
    names = {each.name for each in measured}
    told = [
        "A ratio is to Lamina's figure in the same run; bold means better than Lamina (words and vectors).",
        "recall@10 counts all turns in ten results; recall in the first 10 turns stops at ten turns.",
        "A result shows a turn if it holds all of its wording, half of it, or 200 characters in a row.",
        "Index, changed file and cold search are processes started anew; the last two are medians of three.",
        "For a tool whose search brings the index up to date, the changed file is timed with that search.",
        "Warm is one search after another in one process. Times are wall clock. Memory is the peak (VmHWM).",
    ]
    if corpora > 1:
        told.append("Index and disk are sums over all corpora; changed file and cold search are the first's.")
    if any(tool.endpoint and tool.name in names for tool in TOOLS):
        told.append(
            "The installed tools get their embedding (wordllama, 256 dimensions) from a server on the same "
            f"machine that is warm already; its {endpoint_mb:.0f} MB and its start are not in their figures, "
            "while Lamina loads its own embedder itself."
        )
    for tool in TOOLS:
        if tool.note and tool.name in names:
            version = version_of(tool.name) if tool.endpoint else ""
            told.append(f"{tool.title}{' ' + version if version else ''}: {tool.note}")
    return told


def page(arguments: Sequence[str], text: str) -> str:
    """Return the page of the documentation; paths of this machine stay out of it."""
    shown = [each for each in _named(arguments) if each]
    command = shlex.join(["python", "-m", "benchmarks.peers", *shown])
    return (
        "# Lamina beside other tools\n\n"
        "Written by the command below; do not edit.\n\n"
        f"    {command}\n\n" + text.replace("\n### ", "\n## ")
    )


def _named(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the command line with words in place of paths, without what does not change the figures."""
    waiting = None
    for each in arguments:
        name, given, _ = each.partition("=")
        if waiting is not None:
            yield waiting
            waiting = None
        elif name in PATHS:
            yield name if PATHS[name] else ""
            waiting = None if given else PATHS[name]
            if given:
                yield PATHS[name]
        else:
            yield each


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
