"""The memory folder of a project: where it is, what lies in it, and how a file of it is replaced.

It belongs to the project and not to the store, so its files have the project's rights, and whatever is not
ours to read (links, special files) is left alone and named.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

from lamina import errors
from lamina.formats.declared import declared, pointed
from lamina.formats.origin import daily_day
from lamina.store import files, locks

INSTRUCTIONS: Final = ("AGENTS.md", "CLAUDE.md")
DEFAULT: Final = "memory"
DIGEST: Final = "digest.md"
VECTORS: Final = "vectors.db"
_MOST_POINTED: Final = 20
_MOST_BYTES: Final = 256 << 10
_WAIT_S: Final = 60.0


class MemoryFolder(NamedTuple):
    """A project's memory folder: both are real paths. `prefix` is how references begin (`memory`)."""

    root: Path
    path: Path
    prefix: str

    @property
    def digest(self) -> Path:
        """The digest's file."""
        return self.path / DIGEST

    @property
    def vectors(self) -> Path:
        """The semantic core's file."""
        return self.path / VECTORS

    def rel(self, name: str) -> str:
        """Return how a file of the folder is named in references."""
        return f"{self.prefix}/{name}" if self.prefix else name


@dataclass(frozen=True, slots=True)
class Dailies:
    """The daily files by name, in chronological order, with their bytes; `problems` are those left out."""

    data: Mapping[str, bytes] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def day(self, name: str) -> date:
        """Return the day of a file."""
        day = daily_day(name)
        assert day is not None
        return day


def resolve(root: Path, *, given: str | os.PathLike[str] | None = None, setting: str = "") -> MemoryFolder:
    """Find a project's memory folder; nothing is made.

    `given` is what the person said and may lie anywhere; `setting` is the `memory_path` of the project. Else
    a line `Memory path:` in AGENTS.md or CLAUDE.md at the root, or in a file that they name, else `memory/`.
    Raises Undecided where two of them name different folders or one leads out of the project (judged by real
    paths), NoSuchFile without a root.
    """
    real = Path(os.path.realpath(root))
    if not real.is_dir():
        raise errors.NoSuchFile(f"{root}: no such folder", "name the project's folder with --project")
    if given is not None:
        return _folder(real, Path(os.path.realpath(given)))
    said = {f".lamina.toml: {setting}": setting} if setting else {}
    said |= _declarations(real)
    found = {where: Path(os.path.realpath(real / path)) for where, path in said.items()}
    different = sorted({str(path) for path in found.values()})
    if len(different) > 1:
        raise errors.Undecided(
            "the memory path is declared in different ways: " + "; ".join(found),
            "say which one counts with --memory-path",
            choices=tuple(f"--memory-path {path}" for path in different),
        )
    path = next(iter(found.values())) if found else Path(os.path.realpath(real / DEFAULT))
    if not _is_in(path, real):
        where = next(iter(found), DEFAULT)
        raise errors.Undecided(
            f"{where} leads out of the project, to {path}",
            "if that is meant, say so with --memory-path",
            choices=(f"--memory-path {path}",),
        )
    return _folder(real, path)


def read_dailies(folder: MemoryFolder) -> Dailies:
    """Read the daily files, oldest first; what is no plain file is named and left out."""
    data: dict[str, bytes] = {}
    problems: list[str] = []
    try:
        names = os.listdir(folder.path)
    except FileNotFoundError:
        return Dailies()
    except OSError as problem:
        raise errors.UnreadableFile(
            f"{folder.path}: can't be read ({problem.strerror})", "give yourself read permission on it"
        ) from problem
    for name in sorted(names, key=lambda each: (each[:10], each)):
        if daily_day(name) is None:
            continue
        try:
            data[name] = files.read_bytes(folder.path / name)
        except errors.LaminaError as problem:
            problems.append(problem.message)
    return Dailies(data, tuple(problems))


def read(path: Path) -> str | None:
    """Return a file's text, None where there is none.

    Raises UnsafePath for a link or a special file, UnreadableFile for bytes that are no UTF-8.
    """
    return files.read_optional(path)


def replace(path: Path, text: str, *, old: str | None) -> None:
    """Replace a file in one step if it still says `old` (None: is not there), keeping its rights.

    Raises ChangedMeanwhile otherwise, UnwritableStore where the disk takes nothing; then nothing changed.
    """
    expected = None if old is None else files.fingerprint(old)
    _make_dir(path.parent)
    staged = files.stage(text, path.parent)
    try:
        _give_rights(staged, path)
        files.put_in_place(staged, path, expected=expected)
    except BaseException:
        files.discard(staged)
        raise
    files.sync_folder(path.parent)


@contextmanager
def locked(folder: MemoryFolder, *, make: bool = False) -> Iterator[None]:
    """Hold the folder for one command of Lamina; what a killed one left half written is cleared away.

    `make` makes the folder where there is none. Raises Busy, NoSuchFile.
    """
    if make:
        _make_dir(folder.path)
    with locks.folder_lock(folder.path, timeout_s=_WAIT_S):
        _sweep(folder.path)
        yield


def _declarations(root: Path) -> dict[str, str]:
    """Return what the instruction files declare, by where it stands."""
    found: dict[str, str] = {}
    texts = {name: text for name in INSTRUCTIONS if (text := _instructions(root, name))}
    more = [path for text in texts.values() for path in pointed(text)]
    for path in list(dict.fromkeys(more))[:_MOST_POINTED]:
        if path not in texts and (text := _instructions(root, path)):
            texts[path] = text
    for name, text in texts.items():
        for each in declared(text):
            found[f"{name}:{each.line}: {each.path}"] = each.path
    return found


def _instructions(root: Path, name: str) -> str:
    """Read an instruction file that lies in the project; "" for anything else."""
    path = Path(os.path.realpath(root / name))
    try:
        if not _is_in(path, root) or not stat.S_ISREG(path.stat().st_mode):
            return ""
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _folder(root: Path, path: Path) -> MemoryFolder:
    if path.exists() and not path.is_dir():
        raise errors.UnsafePath(f"{path}: is not a folder", "name the memory folder with --memory-path")
    inside = _is_in(path, root)
    prefix = path.relative_to(root).as_posix() if inside else DEFAULT
    return MemoryFolder(root, path, "" if prefix == "." else prefix)


def _is_in(path: Path, root: Path) -> bool:
    return path == root or root in path.parents


def _make_dir(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise errors.UnsafePath(f"{path}: is a file where a folder is needed", "move it away") from None
    except OSError as problem:
        raise files.unwritable(path, problem) from problem


def _give_rights(staged: Path, path: Path) -> None:
    """Give a new file the rights of the one that it replaces, else those that the project's files get."""
    try:
        mode = stat.S_IMODE(path.lstat().st_mode)
    except OSError:
        mode = 0o666 & ~_umask()
    staged.chmod(mode)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sweep(path: Path) -> None:
    for each in path.glob(f"{files.TEMPORARY}*.tmp"):
        files.discard(each)
