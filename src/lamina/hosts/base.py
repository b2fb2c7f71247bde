"""What every host adapter offers, and which adapters there are."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, runtime_checkable

from lamina.errors import NoSuchFile, UnreadableFile
from lamina.formats.event import Damage, Event, Position, Session
from lamina.hosts.dialect import Dialect
from lamina.hosts.setup import Edit, Where

#: Host name → module of its adapter, in the order in which `detect` asks them.
HOSTS: Mapping[str, str] = {
    "claude-code": "lamina.hosts.claude_code",
    "codex": "lamina.hosts.codex",
    "gemini": "lamina.hosts.gemini",
    "qwen": "lamina.hosts.qwen",
    "copilot": "lamina.hosts.copilot",
    "dsh": "lamina.hosts.dsh",
    "opencode": "lamina.hosts.opencode",
}
#: The same for hosts that have hooks, but whose transcripts are not read.
ONLY_LIVE: Mapping[str, str] = {"cursor": "lamina.hosts.cursor"}


class Transcript(Protocol):
    """One transcript, read lazily: iterate once.

    `session` tells what the head of the file tells and grows (a later title) while iterating.
    `position` is behind the last record whose events were all taken, so stopping at any
    event and resuming there loses none.
    """

    @property
    def session(self) -> Session:
        """The session, as far as it is known by now."""
        ...

    @property
    def position(self) -> Position:
        """Where a later run resumes."""
        ...

    def __iter__(self) -> Iterator[Event | Damage]: ...


@runtime_checkable
class Host(Protocol):
    """One agent program's dialect."""

    @property
    def name(self) -> str:
        """The host's name in commands and sources."""
        ...

    def transcripts(self, home: Path, env: Mapping[str, str]) -> Iterator[Path]:
        """Find the transcripts this host left on the machine, sorted; never its own memory files."""
        ...

    def recognises(self, path: Path) -> bool:
        """Tell by the content of the first records whether this host wrote the file."""
        ...

    def stamp(self, path: Path) -> tuple[int, int] | None:
        """Return size and time of the last change (ns) of a transcript, None if it is gone."""
        ...

    def sessions(self, path: Path) -> Iterator[Path]:
        """Yield the transcripts in a file: itself, or one path for each session of a file of many."""
        ...

    def read(self, path: Path, position: Position | None = None) -> Transcript:
        """Open a transcript, behind `position` if the bytes before it are unchanged.

        Raises NoSuchFile or UnreadableFile.
        """
        ...


class Files:
    """What hosts share whose transcripts are files, one a session."""

    def stamp(self, path: Path) -> tuple[int, int] | None:
        """Return size and time of the last change (ns) of a transcript, None if it is gone."""
        return file_stamp(path)

    def sessions(self, path: Path) -> Iterator[Path]:
        """Yield the file itself."""
        yield path


@runtime_checkable
class Live(Protocol):
    """What a host that Lamina can be installed into offers besides: its hooks and its settings."""

    @property
    def name(self) -> str:
        """The host's name in commands and sources."""
        ...

    @property
    def hooks(self) -> Dialect:
        """How its hooks speak."""
        ...

    def present(self, home: Path, env: Mapping[str, str]) -> bool:
        """Tell whether this host is there for this user, by its folders and by PATH."""
        ...

    def setup(self, where: Where) -> list[Edit]:
        """Say what an install changes: hooks, the MCP server, skills. Pure: nothing is touched."""
        ...


def file_stamp(path: Path) -> tuple[int, int] | None:
    """Return size and time of the last change (ns) of a plain file, None if it is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def host_named(name: str) -> Host | None:
    """Give the adapter of this name, or None."""
    module = HOSTS.get(name)
    if module is None:
        return None
    host: Host = import_module(module).HOST
    return host


def live_named(name: str) -> Live | None:
    """Give what can be installed into the host of this name, None for a host without hooks."""
    module = HOSTS.get(name) or ONLY_LIVE.get(name)
    if module is None:
        return None
    host = import_module(module).HOST
    return host if isinstance(host, Live) else None


def detect(path: Path) -> Host | None:
    """Give the host that wrote this file, going by its content; None for any other file."""
    for name in HOSTS:
        host = host_named(name)
        if host is not None and host.recognises(path):
            return host
    return None


def walk(folder: Path, *, depth: int) -> Iterator[Path]:
    """List the plain files below a folder, sorted, at most `depth` folders deep.

    Links to folders are not followed (they may turn in circles) and unreadable folders are
    passed over.
    """
    try:
        children = sorted(folder.iterdir())
    except OSError:
        return
    for child in children:
        try:
            mode = child.lstat().st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode):
            yield child
        elif stat.S_ISDIR(mode) and depth > 0:
            yield from walk(child, depth=depth - 1)


def check_readable(path: Path) -> None:
    """Raise NoSuchFile or UnreadableFile unless `path` is a plain file that can be opened."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "not a plain file"
            raise UnreadableFile(f"{path} is {what}", hint="Name a transcript file.")
        path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise NoSuchFile(f"{path} does not exist", hint="Check the path.") from problem
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise UnreadableFile(f"{path} can't be read: {reason}", hint="Check its permissions.") from problem
