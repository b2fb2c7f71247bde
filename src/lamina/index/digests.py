"""The digests of projects as the index reads them: files outside the store, named by their absolute paths."""

# os.path costs less than pathlib on the path of a cold search.
# ruff: noqa: PTH116

from __future__ import annotations

import os
import stat

from lamina.index.base import Document, Reading, Stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from lamina.store.projects import Known
    from lamina.store.trusted import Kept, ProjectDigest

TOPIC = "Project digest"
LAYERS = {"decision": "decisions", "learning": "learnings", "state": "semantic", "open": "episodic"}


class Digests:
    """The digests that this machine knows, and those `here`, where one stands."""

    def __init__(self, root: str, here: Iterable[Known] = ()) -> None:
        self._root = root
        self._here = {known.path: known for known in here}

    def stamps(self, only: Collection[str] | None) -> dict[str, Stamp]:
        """List the digests that are plain files.

        What else decides how their items stand (tombstones, the person's trust) is part of the stamp, so a
        change of it is a change of the file.
        """
        found: dict[str, Stamp] = {}
        around = [_seen(f"{self._root}/{name}") for name in ("state/trust.json", "suppressed.jsonl")]
        for path, known in self._known().items():
            info = _plain(path) if only is None or path in only else None
            if info is not None:
                graves = _seen(f"{self._root}/workspaces/{known.key}/suppressed.jsonl")
                origin = _seen(f"{known.root}/.git/config")
                mark = _mark((around, known, graves, origin))
                found[path] = (info.st_mtime_ns, info.st_size, info.st_ino, info.st_ctime_ns ^ mark)
        return found

    def read(self, path: str) -> Reading:
        """Parse a digest; a damaged one has no documents. Raises LaminaError for what can't be read."""
        from pathlib import Path
        from zlib import crc32

        from lamina.errors import NoSuchFile
        from lamina.store import trusted

        known = self._known().get(path)
        if known is None:
            raise NoSuchFile(f"{path}: no project has this digest")
        digest = trusted.load(Path(self._root), known)
        return Reading([document(digest, kept) for kept in digest.items], crc32(digest.data), digest.damage)

    def _known(self) -> dict[str, Known]:
        from pathlib import Path

        from lamina.store.projects import known

        return known(Path(self._root)) | self._here


def document(digest: ProjectDigest, kept: Kept) -> Document:
    """Return an item as a document."""
    item = kept.item
    return Document(
        item.id, digest.scope.name, LAYERS[item.kind], TOPIC, kept.heading, item.text, digest.known.path,
        item.line, kept.date, trust=kept.trust, source=digest.source(item),
    )  # fmt: skip


def _plain(path: str) -> os.stat_result | None:
    """Return what a file looks like, None for one that is no plain file, or that a link leads to."""
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return None
    return info if stat.S_ISREG(info.st_mode) and os.path.realpath(path) == path else None


def _seen(path: str) -> tuple[int, int, int] | None:
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return info.st_mtime_ns, info.st_size, info.st_ino


def _mark(seen: object) -> int:
    from zlib import crc32

    return crc32(repr(seen).encode("utf-8", "surrogatepass"))
