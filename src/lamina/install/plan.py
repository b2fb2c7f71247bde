"""What an install or an uninstall would change: worked out in full before anything is touched."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lamina.hosts.setup import Edit, OwnFile
from lamina.install import disk, edits
from lamina.install.edits import InFile
from lamina.install.record import Kept, Record
from lamina.store import files


class Change(NamedTuple):
    """One file: what stands there, what will, and what the record says of it."""

    file: Path
    held: disk.Held
    new: bytes | None
    kept: Kept

    @property
    def action(self) -> str:
        """What happens to the file: `none`, `create`, `change` or `remove`."""
        if self.new == self.held.data:
            return "none"
        if self.held.data is None:
            return "create"
        return "remove" if self.new is None else "change"

    @property
    def executable(self) -> bool:
        """Whether the file is to be run."""
        return any(isinstance(edit, OwnFile) and edit.executable for edit in self.kept.edits)

    def diff(self) -> str:
        """Return the change as a unified diff."""
        before, after = _lines(self.held.data), _lines(self.new)
        old = str(self.file) if self.held.data is not None else "/dev/null"
        new = str(self.file) if self.new is not None else "/dev/null"
        told = difflib.unified_diff(before, after, old, new)
        return "".join(line if line.endswith("\n") else line + "\n" for line in told)


def changes(
    wanted: Sequence[Edit], *, others: Iterable[Edit] = (), before: Record | None = None
) -> list[Change]:
    """Return what has to be done so that exactly the `wanted` edits stand.

    `others` are edits of other ways to install, which are taken out; `before` is the record of an earlier
    install. Raises BadInput, UnreadableFile, UnsafePath or UnwritableStore for a file that can't be edited.
    """
    new = edits.by_file(wanted)
    marks = edits.by_file([*others, *wanted])
    known: Mapping[Path, Kept] = before.files if before else {}
    paths = dict.fromkeys([*new, *known, *marks])
    found = [_change(path, new.get(path, []), marks.get(path, []), known.get(path)) for path in paths]
    for change in found:
        if change.action != "none":
            disk.check_writable(change.file, change.held)
    return found


def _change(file: Path, wanted: Sequence[InFile], marks: Sequence[InFile], known: Kept | None) -> Change:
    held = disk.look(file)
    base = _base(file, held.data, marks, known)
    new = edits.put(file, base, wanted) if wanted else base
    if wanted and edits.same(file, new, held.data):
        new = held.data  # a host that lays its file out anew has not changed what it says
    folders = disk.missing_folders(held.target.parent)
    if known is None:
        return Change(file, held, new, Kept(base, held.mode, (), tuple(folders), tuple(wanted)).followed(new))
    kept = known._replace(edits=tuple(wanted), folders=tuple(dict.fromkeys([*known.folders, *folders])))
    if base != known.base:
        kept = kept._replace(base=base, left=(), mode=held.mode)
    return Change(file, held, new, kept.followed(new) if wanted else kept)


def _base(file: Path, data: bytes | None, marks: Sequence[InFile], known: Kept | None) -> bytes | None:
    """Return what the file would be without Lamina: to the byte if nobody else has touched it."""
    if known is None:
        return edits.take(file, data, marks, None)
    if data is None:
        return None
    if data == known.base or files.fingerprint(data) in known.left:
        return known.base
    if known.edits and isinstance(known.edits[-1], OwnFile):
        return known.base
    return edits.take(file, data, [*known.edits, *marks], known.base)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
