"""What an import costs, beside the least that reading the same bytes can cost.

    python -m benchmarks.importing [TRANSCRIPTS]      prints a Markdown table (default 1000)

The transcripts are generated: sessions of 6 to 24 exchanges in 20 projects with tool calls and their output.
Times are CPU of whole processes; "parsing" is one Python process that runs json.loads over every line.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from lamina.hosts.render import Said, Tool, Turn, render_claude, render_codex, session_uuid

STARTED = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
PARTS = ("parser", "queue", "billing page", "login", "search index", "importer", "cache", "mail worker")
THINGS = (
    "Redis",
    "SQLite",
    "Postgres",
    "a ring buffer",
    "plain files",
    "a worker pool",
    "two retries",
    "UTC days",
)
REASONS = (
    "it needs no server",
    "one file is easy to back up",
    "the old one loses events",
    "tests run faster with it",
)
PARSING = (
    "import json,sys,pathlib\n"
    "for p in pathlib.Path(sys.argv[1]).rglob('*.jsonl'):\n"
    "    for line in p.open('rb'): json.loads(line)\n"
)
MODULE = "import sys; from lamina.interfaces.cli.main import main; sys.exit(main())"


class Cost(NamedTuple):
    """CPU seconds and the largest resident size of one process, in MB."""

    cpu_s: float
    rss_mb: float


def session(number: int) -> tuple[str, str]:
    """Return the file name and the text of one generated transcript."""
    rng = random.Random(number)
    name = session_uuid(f"bench-{number}")
    turns: list[Turn] = []
    for step in range(rng.randrange(6, 25)):
        part, thing, reason = rng.choice(PARTS), rng.choice(THINGS), rng.choice(REASONS)
        turns.append(
            Said(
                "user",
                f"Let's use {thing} for the {part}, because {reason}. "
                f"Step {step}, port {rng.randrange(3000, 9000)}.",
            )
        )
        output = "\n".join(f"{part}.py:{n}: value {rng.random():.6f}" for n in range(rng.randrange(5, 120)))
        turns.append(Tool("Bash", {"command": f"make {part.split()[0]}"}, output))
        turns.append(
            Said(
                "assistant",
                f"The {part} now uses {thing}: {reason}. "
                f"The tests pass; `{part.split()[0]}_{step}` holds the setting.",
            )
        )
    cwd, started = f"/home/dev/project-{number % 20}", STARTED + timedelta(hours=number)
    render = render_codex if number % 4 == 0 else render_claude
    return name, render(name, turns, cwd=cwd, started=started)


def generate(folder: Path, count: int) -> int:
    """Write `count` transcripts below `folder` and return their bytes."""
    size = 0
    for number in range(count):
        name, text = session(number)
        path = folder / f"project-{number % 20}" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        size += path.stat().st_size
    return size


def cost(code: str, arguments: Sequence[str], home: Path) -> Cost:
    """Run Python code in a process of its own, with an empty home, and return what it cost."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the measured command failed: {arguments}")
    return Cost(
        usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024 * 1024)
    )


def measure(count: int) -> list[str]:
    """Return the table's lines."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, home = Path(scratch, "transcripts"), Path(scratch, "home")
        home.mkdir()
        size = generate(folder, count) / 1e6
        parsing = cost(PARSING, [str(folder)], home)
        call = ["--root", str(home / "store"), "import", str(folder)]
        first = cost(MODULE, call, home)
        again = cost(MODULE, call, home)
    rows = [
        f"| {count} transcripts, {size:.0f} MB | CPU | ratio to parsing | MB/s | memory |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, each in (
        ("json.loads over every line", parsing),
        ("first import", first),
        ("import again, nothing new", again),
    ):
        rows.append(
            f"| {name} | {each.cpu_s:.2f} s | {each.cpu_s / parsing.cpu_s:.1f} "
            f"| {size / each.cpu_s:.1f} | {each.rss_mb:.0f} MB |"
        )
    return rows


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    print("\n".join(measure(int(arguments[0]) if arguments else 1_000)))


if __name__ == "__main__":
    main(sys.argv[1:])
