"""What an agent does without a memory tool: grep for the words of the question, best-matching sections first.

`rg` is used where it is installed, else `grep`. Nothing is indexed.
"""

# ruff: noqa: D102 - loop.Driver says what the methods do

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING

import loop

if TYPE_CHECKING:
    from pathlib import Path

# Runs of one script, so that an identifier inside Chinese or Japanese text is a word of its own.
PLAIN = r"[A-Za-z0-9_][\w./:-]*[A-Za-z0-9_]"
WORD = re.compile(PLAIN + r"|[\u3400-\u9fff]{2,}|[\u30a0-\u30ff]{2,}|[\uac00-\ud7a3]{2,}", re.ASCII)
COMMON = frozenset(
    "a about and are as at be been by can did do does for from had has have how i in is it its of on or our "
    "that the their them they this to was we were what when where which who whom whose why will with would "
    "you your".split()
)
SECTION = re.compile(r"^## ", re.MULTILINE)
Section = tuple[str, int]


class Grep:
    """Counts, for each section, how many different words of the question one pass of grep found in it."""

    def __init__(self, folder: Path) -> None:
        self._pages = folder / "pages"
        program = ["rg", "--no-config"] if shutil.which("rg") else ["grep", "-r", "-H"]
        self._command = [*program, "-n", "-o", "-i", "-F"]

    def index(self) -> None:
        """There is none."""

    def update(self, page: str) -> None:
        """There is none."""

    def search(self, text: str, limit: int) -> list[Section]:
        terms = {word.casefold() for word in WORD.findall(text)} - COMMON
        if not terms:
            return []
        options = [part for term in sorted(terms) for part in ("-e", term)]
        done = subprocess.run(
            [*self._command, *options, "."], cwd=self._pages, capture_output=True, text=True, check=False
        )
        found: dict[Section, set[str]] = defaultdict(set)
        starts: dict[str, list[int]] = {}
        for line in done.stdout.splitlines():
            path, number, word = line.split(":", 2)
            if path not in starts:
                starts[path] = self._starts(path)
            found[path, sum(start <= int(number) for start in starts[path])].add(word.casefold())
        return sorted(found, key=lambda section: (-len(found[section]), section))[:limit]

    def shown(self, answer: list[Section]) -> list[dict[str, str]]:
        results = []
        for path, number in answer:
            text = (self._pages / path).read_text(encoding="utf-8")
            results.append({"text": SECTION.split(text)[number], "page": path.removeprefix("./")})
        return results

    def _starts(self, path: str) -> list[int]:
        lines = (self._pages / path).read_text(encoding="utf-8").split("\n")
        return [number for number, line in enumerate(lines, 1) if line.startswith("## ")]


if __name__ == "__main__":
    loop.main(Grep)
