"""What the stages of a project's memory cost, beside the least that reading the same text can cost.

    python -m benchmarks.project [SESSIONS]      prints a Markdown table (default 5000)

The sessions stand in daily files of ten, each with one decision: with 5,000 the digest gets 2 MB. Times are
CPU of whole processes without a model, with the built-in semantic core; "parsing" is one Python process that
runs json.loads over the same sessions as JSON Lines.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from benchmarks.importing import MODULE, PARSING, PARTS, REASONS, THINGS, cost
from lamina.formats.daily import Session, appended, render_session, render_title

FIRST = date(2025, 1, 1)
A_FILE = 10


def session(number: int, moment: datetime) -> str:
    """Return one generated session of a daily record."""
    part, thing = PARTS[number % len(PARTS)], THINGS[number // 8 % len(THINGS)]
    choice = f"Use {thing} for the {part} {number}, because {REASONS[number // 64 % len(REASONS)]}."
    return render_session(
        Session(
            f"{moment:%Y-%m-%dT%H:%M:%SZ}",
            f"{moment:%H:%M}",
            part,
            f"The {part} was looked at.",
            decisions=((choice, "`session`"),),
        )
    )


def generate(memory: Path, lines: Path, first: int, count: int) -> int:
    """Write daily files, and their sessions as JSON Lines beside them; returns their bytes."""
    size = 0
    for begin in range(first, first + count, A_FILE):
        day = FIRST + timedelta(days=begin // A_FILE)
        text, told = "", []
        for number in range(begin, min(begin + A_FILE, first + count)):
            moment = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(hours=number % A_FILE)
            told.append(session(number, moment))
            text = appended(text, render_title("harbor", day), told[-1])
        (memory / f"{day}-work-memory.md").write_text(text, encoding="utf-8")
        (lines / f"{day}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in told))
        size += len(text.encode())
    return size


def measure(count: int) -> list[str]:
    """Return the table's lines."""
    with tempfile.TemporaryDirectory() as scratch:
        home, memory, lines = (Path(scratch, name) for name in ("home", "harbor/memory", "lines"))
        for each in (home, memory, lines):
            each.mkdir(parents=True)
        size = generate(memory, lines, 0, count) / 1e6
        parsing = cost(PARSING, [str(lines)], home)
        call = ["--root", str(home / "store"), "digest", "--project", str(memory.parent), "--model", "none"]
        rows = [("json.loads over every session", parsing), ("first digest", cost(MODULE, call, home))]
        digest = (memory / "digest.md").stat().st_size / 1e6
        generate(memory, lines, count, A_FILE)
        rows.append((f"{A_FILE} sessions more", cost(MODULE, call, home)))
        rows.append(("digest again, nothing new", cost(MODULE, call, home)))
        (memory / "vectors.db").unlink(missing_ok=True)
        rows.append(("digest again, the core's file deleted", cost(MODULE, call, home)))
        refine = [*call[:2], "refine", *call[3:], "--yes", "--force"]
        rows.append(("plan of a refine", cost(MODULE, [*call[:2], "refine", *call[3:5], "--plan"], home)))
        rows.append(("refine", cost(MODULE, refine, home)))
        rows.append(("refine again", cost(MODULE, refine, home)))
    return [
        f"| {count:,} sessions, {size:.1f} MB, digest {digest:.1f} MB | CPU | ratio to parsing | memory |",
        "| --- | ---: | ---: | ---: |",
        *(
            f"| {name} | {each.cpu_s:.2f} s | {each.cpu_s / parsing.cpu_s:.1f} | {each.rss_mb:.0f} MB |"
            for name, each in rows
        ),
    ]


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    print("\n".join(measure(int(arguments[0]) if arguments else 5_000)))


if __name__ == "__main__":
    main(sys.argv[1:])
