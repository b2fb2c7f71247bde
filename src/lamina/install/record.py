"""What an install has changed, kept in the store until it is taken back: `state/installed/<host>/<place>/`.

It is written before the files are touched, so a killed install can be completed or taken back.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lamina import errors
from lamina.hosts.setup import JsonItem, JsonMember, OwnFile, TomlTable, YamlItem
from lamina.install.edits import InFile
from lamina.store import files
from lamina.store.layout import safe_name

MANIFEST = "manifest.json"
_LEFT = 6


class Kept(NamedTuple):
    """One file: what stood there before (None: nothing), and what we left."""

    base: bytes | None
    mode: int
    left: tuple[str, ...]
    """Fingerprints of what our installs wrote on top of `base`."""
    folders: tuple[Path, ...] = ()
    """The folders that were made for it."""
    edits: tuple[InFile, ...] = ()

    def followed(self, data: bytes | None) -> Kept:
        """Return the record with one more version of the file that is ours."""
        mark = files.fingerprint(data) if data is not None else ""
        left = tuple(each for each in self.left if each != mark)
        return self._replace(left=(*left, mark)[-_LEFT:] if mark else left)


class Record(NamedTuple):
    """One place (the user's home, or a project) that a host was installed into."""

    host: str
    mode: str
    project: Path | None
    files: Mapping[Path, Kept]


def records(root: Path, host: str) -> list[Record]:
    """Return the records of a host, the user's first."""
    found = [_load(folder, host) for folder in sorted(_home(root, host).glob("*/"))]
    return sorted(filter(None, found), key=lambda record: str(record.project or ""))


def record_of(root: Path, host: str, project: Path | None) -> Record | None:
    """Return the record of one place, None if there is none."""
    return _load(_folder(root, host, project), host)


def is_there(root: Path, host: str) -> bool:
    """Tell whether a host has a record, also a damaged one."""
    return any(_home(root, host).glob(f"*/{MANIFEST}"))


def any_left(root: Path) -> bool:
    """Tell whether any host has a record, also one of an install that was killed."""
    return any((root / "state" / "installed").glob(f"*/*/{MANIFEST}"))


def save(root: Path, record: Record) -> None:
    """Write a record: the backups first, then what names them. Raises UnwritableStore."""
    folder = _folder(root, record.host, record.project)
    names = {}
    for path, kept in record.files.items():
        if kept.base is not None:
            names[path] = f"{files.fingerprint(kept.base)[:20]}.bak"
            _write(folder / names[path], kept.base)
    told = {
        "host": record.host,
        "mode": record.mode,
        "project": str(record.project) if record.project else None,
        "files": [_told(path, kept, names.get(path)) for path, kept in record.files.items()],
    }
    files.write_text(folder / MANIFEST, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    for old in folder.glob("*.bak"):
        if old.name not in names.values():
            files.discard(old)


def drop(root: Path, host: str, project: Path | None) -> None:
    """Remove the record of one place."""
    folder = _folder(root, host, project)
    files.discard(folder / MANIFEST)
    shutil.rmtree(folder, ignore_errors=True)
    for empty in (folder.parent, folder.parent.parent):
        try:
            empty.rmdir()
        except OSError:
            return


def _home(root: Path, host: str) -> Path:
    return root / "state" / "installed" / safe_name(host)


def _folder(root: Path, host: str, project: Path | None) -> Path:
    name = "user" if project is None else f"project-{files.fingerprint(str(project))[:16]}"
    return _home(root, host) / name


def _write(path: Path, data: bytes) -> None:
    if path.exists() and path.read_bytes() == data:
        return
    files.make_dir(path.parent)
    staged = path.with_suffix(".new")
    try:
        staged.write_bytes(data)
        staged.chmod(0o600)
        staged.replace(path)
    except OSError as problem:
        raise files.unwritable(path, problem) from problem


def _told(path: Path, kept: Kept, backup: str | None) -> dict[str, Any]:
    return {
        "file": str(path),
        "backup": backup,
        "was_there": kept.base is not None,
        "mode": f"{kept.mode:o}",
        "left": list(kept.left),
        "folders": [str(folder) for folder in kept.folders],
        "edits": [_edit(edit) for edit in kept.edits],
    }


def _edit(edit: InFile) -> list[Any]:
    match edit:
        case JsonMember(_, at, value):
            return ["member", list(at), value]
        case JsonItem(_, at, value):
            return ["item", list(at), value]
        case TomlTable(_, at, value):
            return ["table", list(at), dict(value)]
        case YamlItem(_, name, value):
            return ["yaml", name, dict(value)]
        case OwnFile():
            return ["own"]


def _load(folder: Path, host: str) -> Record | None:
    try:
        said = files.parse_json(files.read_text(folder / MANIFEST))
        kept = {Path(each["file"]): _kept(folder, each) for each in said["files"]}
        project = Path(said["project"]) if said["project"] else None
        return Record(host, str(said["mode"]), project, kept)
    except errors.NoSuchFile:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise errors.UnreadableFile(
            f"{folder / MANIFEST}: the record of the install is damaged ({problem})",
            f"the backups stand beside it; move {folder} away to go on without it",
        ) from problem


def _kept(folder: Path, said: Mapping[str, Any]) -> Kept:
    path, backup = Path(said["file"]), said["backup"]
    base = files.read_bytes(folder / safe_name(backup)) if backup else None
    edits = tuple(_edit_of(path, each) for each in said["edits"])
    folders = tuple(map(Path, said["folders"]))
    return Kept(base, int(said["mode"], 8), tuple(said["left"]), folders, edits)


def _edit_of(path: Path, said: Sequence[Any]) -> InFile:
    match list(said):
        case ["member", [*at], value]:
            return JsonMember(path, tuple(at), value)
        case ["item", [*at], value]:
            return JsonItem(path, tuple(at), value)
        case ["table", [*at], dict(value)]:
            return TomlTable(path, tuple(at), value)
        case ["yaml", str(name), dict(value)]:
            return YamlItem(path, name, value)
        case ["own"]:
            return OwnFile(path, b"")
    raise ValueError(f"unknown edit {said!r}")
