"""memsearch through its Python interface; index, update and cold search use its own command."""

# ruff: noqa: D102 - loop.Driver says what the methods do

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import loop
from memsearch import MemSearch


class Searcher:
    """One open MemSearch and one event loop, as a program that stays open has them."""

    def __init__(self, folder: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._memory = MemSearch(
            [folder / "pages"],
            embedding_provider="openai",
            embedding_model=os.environ["PEERS_MODEL"],
            embedding_base_url=os.environ["OPENAI_BASE_URL"],
            milvus_uri=str(folder / "index" / "milvus.db"),
        )

    def search(self, text: str, limit: int) -> list[dict[str, Any]]:
        return self._loop.run_until_complete(self._memory.search(text, top_k=limit))

    def shown(self, answer: list[dict[str, Any]]) -> list[dict[str, str]]:
        return [{"text": each["content"], "page": Path(each["source"]).name} for each in answer]


if __name__ == "__main__":
    loop.main(Searcher)
