"""mem0 without a language model (`infer=False`): one memory per turn in its default local vector store."""

# ruff: noqa: D102 - loop.Driver says what the methods do

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import loop
from mem0 import Memory

if TYPE_CHECKING:
    from pathlib import Path

USER = {"user_id": "developer"}


class Memories:
    """A Memory whose store and history lie in the corpus's own index folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        embedder = {
            "model": os.environ["PEERS_MODEL"],
            "openai_base_url": os.environ["OPENAI_BASE_URL"],
            "embedding_dims": 256,
        }
        store = {
            "collection_name": "turns",
            "path": str(folder / "index" / "qdrant"),
            "embedding_model_dims": 256,
            "on_disk": True,
        }
        self._memory = Memory.from_config(
            {
                "embedder": {"provider": "openai", "config": embedder},
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(folder / "index" / "history.db"),
            }
        )

    def index(self) -> None:
        for turn in loop.turns(self._folder):
            self._add(turn)

    def update(self, page: str) -> None:
        """Replace the last memory of the page: a memory is the unit here, as a file is elsewhere."""
        old = self._memory.get_all(filters={**USER, "page": page}, top_k=1000)["results"]
        last = [turn for turn in loop.turns(self._folder) if turn["page"] == page][-1]
        start = content(last)[:40]
        found = next(each for each in old if each["memory"].startswith(start))
        self._memory.update(found["id"], content(last))

    def search(self, text: str, limit: int) -> list[dict[str, Any]]:
        return self._memory.search(text, filters=USER, top_k=limit)["results"]

    def shown(self, answer: list[dict[str, Any]]) -> list[dict[str, str]]:
        return [
            {"text": each["memory"], "page": (each.get("metadata") or {}).get("page", "")} for each in answer
        ]

    def _add(self, turn: dict[str, str]) -> None:
        facts = {"page": turn["page"], "day": turn["day"]}
        self._memory.add(content(turn), **USER, metadata=facts, infer=False)


def content(turn: dict[str, str]) -> str:
    """Return a turn as one memory."""
    return f"{turn['label']}: {turn['text']}"


if __name__ == "__main__":
    loop.main(Memories)
