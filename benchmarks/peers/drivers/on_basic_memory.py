"""basic-memory through the function behind its search tool, for many searches in one process.

Index, update and cold search use its own command. The project is found by its name, as the command does.
"""

# ruff: noqa: D102 - loop.Driver says what the methods do

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import loop
from basic_memory.mcp.tools import search_notes

PROJECT = "turns"


class Notes:
    """One event loop, so that its database stays open between searches."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loop = asyncio.new_event_loop()

    def search(self, text: str, limit: int) -> Any:
        call = search_notes(query=text, project=PROJECT, page_size=limit, output_format="json")
        return self._loop.run_until_complete(call)

    def shown(self, answer: Any) -> list[dict[str, str]]:
        if isinstance(answer, str):
            raise TypeError(answer[:200])
        return [
            {
                "text": each.get("matched_chunk") or each.get("content") or "",
                "page": Path(each["file_path"]).name,
            }
            for each in answer["results"]
        ]


if __name__ == "__main__":
    loop.main(Notes)
