"""A source of documents that needs no disk."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable
from itertools import count

from lamina.index.base import Document, Reading, Stamp


class MemorySource:
    """Documents by file; every `put` gives the file a new stamp."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self.files: dict[str, list[Document]] = {}
        self.broken: set[str] = set()
        self._stamps: dict[str, Stamp] = {}
        self._clock = count(1)
        for document in documents:
            self.files.setdefault(document.file, []).append(document)
        for rel in self.files:
            self.touch(rel)

    def put(self, rel: str, documents: list[Document]) -> None:
        self.files[rel] = documents
        self.touch(rel)

    def touch(self, rel: str) -> None:
        self._stamps[rel] = (next(self._clock), 1, 1, 1)

    def remove(self, rel: str) -> None:
        del self.files[rel]
        del self._stamps[rel]

    def stamps(self, only: Collection[str] | None = None) -> dict[str, Stamp]:
        return {rel: stamp for rel, stamp in self._stamps.items() if only is None or rel in only}

    def read(self, rel: str) -> Reading:
        if rel in self.broken:
            raise PermissionError(13, "Permission denied", rel)
        return Reading(tuple(self.files[rel]), self.checksum(rel))

    def checksum(self, rel: str) -> int:
        return zlib.crc32(repr(self.files[rel]).encode())
