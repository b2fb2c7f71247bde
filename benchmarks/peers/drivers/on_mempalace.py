"""mempalace through the function behind its search tool; index, update and cold search use its own command.

`prepare` sets up its folder of pages, with its heuristics only; that is not timed.
"""

# ruff: noqa: D102 - loop.Driver says what the methods do

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import loop
from mempalace.searcher import search_memories


class Palace:
    """The palace of one corpus."""

    def __init__(self, folder: Path) -> None:
        self._pages = folder / "pages"
        self._palace = str(folder / "index")

    def prepare(self) -> None:
        if not (self._pages / "mempalace.yaml").exists():
            program = str(Path(sys.executable).with_name("mempalace"))
            command = [
                program,
                "--palace",
                self._palace,
                "init",
                str(self._pages),
                "--yes",
                "--no-llm",
                "--direct",
            ]
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def search(self, text: str, limit: int) -> dict[str, Any]:
        return search_memories(text, self._palace, n_results=limit)

    def shown(self, answer: dict[str, Any]) -> list[dict[str, str]]:
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return [{"text": hit["text"], "page": Path(hit["source_file"]).name} for hit in answer["results"]]


if __name__ == "__main__":
    loop.main(Palace)
