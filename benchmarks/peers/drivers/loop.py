"""What every driver is called with: `SCRIPT prepare|index|update|search|serve FOLDER [PAGE or QUERY]`.

FOLDER is one corpus laid out for one tool: `pages/` (Markdown, a file per session), `turns.jsonl` (a line per
turn) and `index/` for whatever the tool keeps.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, Protocol

RESULTS = 10


class Driver(Protocol):
    """One tool on one corpus. `search` is timed; `shown` makes of its answer what a person would read."""

    def index(self) -> None:
        """Build the index."""

    def update(self, page: str) -> None:
        """Bring the index up to date after one page changed."""

    def search(self, text: str, limit: int) -> Any:
        """Return the tool's own answer."""

    def shown(self, answer: Any) -> list[dict[str, str]]:
        """Return the results as `{"text", "page"}`, best first."""


def turns(folder: Path) -> list[dict[str, Any]]:
    """Return the turns of a corpus."""
    lines = (folder / "turns.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def main(open_driver: Any) -> None:
    """Do what the command line says."""
    what, folder, *rest = sys.argv[1:]
    driver: Driver = open_driver(Path(folder))
    if what in {"index", "prepare"}:
        getattr(driver, what)()
    elif what == "update":
        driver.update(rest[0])
    elif what == "search":
        print(json.dumps(driver.shown(driver.search(rest[0], RESULTS)), ensure_ascii=False))
    else:
        serve(driver)


def serve(driver: Driver) -> None:
    """Answer `{"search": text}` with `{"ms", "hits"}` until the input ends; a failed search is survived."""
    say({"ready": True})
    for line in sys.stdin:
        text = json.loads(line)["search"]
        before = time.perf_counter()
        told: dict[str, Any] = {}
        hits: list[dict[str, str]] = []
        try:
            answer = driver.search(text, RESULTS)
            told["ms"] = 1000 * (time.perf_counter() - before)
            hits = driver.shown(answer)
        except Exception as problem:  # noqa: BLE001 - whatever a foreign tool raises is a result, too
            told["failed"] = f"{type(problem).__name__}: {problem}"
            told.setdefault("ms", 1000 * (time.perf_counter() - before))
        say({**told, "hits": hits})


def say(message: dict[str, Any]) -> None:
    """Print one line."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
