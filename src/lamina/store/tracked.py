"""What a project's repository holds: files that git tracks, lines in them, and commits.

A repository is somebody else's: its settings may name programs (monitors, hooks, filters, signature checks,
remotes of objects that are missing), its files may be links, its names may hold anything. Nothing of it is
run, nothing is fetched, and no link is followed. Whatever fails gives less, never an exception.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, NamedTuple

from lamina.store import git

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date, datetime
    from pathlib import Path

_LIST_BYTES = 16_000_000
_MATCH_BYTES = 4_000_000
_LOG_BYTES = 4_000_000
_FILE_BYTES = 1_000_000
_A_FILE = "20"
"""Lines of one file that may match, so that no file takes all the room."""

_QUIET = {
    "GIT_ALLOW_PROTOCOL": "none",  # a clone without all objects would fetch, by a program its settings name
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


class Match(NamedTuple):
    """A term found in a tracked file; `line` is 1-based, `text` as it stands there."""

    path: str
    line: int
    text: str


class Commit(NamedTuple):
    """A commit: full hash, UTC day, message, and the files that it touched."""

    hash: str
    day: str
    subject: str
    body: str
    files: tuple[str, ...]


def tracked_files(top: Path, *, within_s: float = 10.0) -> list[str]:
    """List what git tracks below the top of a worktree, with `/`, sorted by git; links are left out."""
    ran = ask(top, ["ls-files", "-z", "--cached", "--stage"], most=_LIST_BYTES, within_s=within_s)
    names = []
    for record in ran.out.rpartition("\0")[0].split("\0"):
        head, tab, name = record.partition("\t")
        if tab and head.startswith("100"):  # plain files, no links and no repositories inside
            names.append(name)
    return names


def grep_tracked(top: Path, terms: Sequence[str], *, within_s: float = 10.0) -> list[Match]:
    """Find whole words in tracked text files, whatever their case; bounded in time and in output.

    The terms are taken as they are: no patterns, and never options.
    """
    plain = list(dict.fromkeys(term for term in terms if term and term.isprintable()))
    if not plain:
        return []
    flags = [
        "--no-color",
        "--no-column",
        "--no-heading",
        "--no-break",
        "-I",
        "-i",
        "-n",
        "-z",
        "-o",
        "--full-name",
        "--threads=2",
        "-m",
        _A_FILE,
    ]
    grep = ["grep", *flags, "--no-textconv", "--no-recurse-submodules"]
    one = "|".join(re.escape(term) for term in sorted(plain, key=len, reverse=True))
    # One pattern of all terms is several times faster than many fixed ones, where git knows such patterns.
    pattern = f"(?<![A-Za-z0-9_])(?:{one})(?![A-Za-z0-9_])"
    ran = ask(top, [*grep, "-P", "-e", pattern, "--"], most=_MATCH_BYTES, within_s=within_s)
    if ran.code > 1:
        fixed = [part for term in plain for part in ("-e", term)]
        ran = ask(top, [*grep, "-F", "-w", *fixed, "--"], most=_MATCH_BYTES, within_s=within_s)
    return list(_matches(ran.out))


def commits_about(
    top: Path, since: date | datetime, *, most: int = 1_000, within_s: float = 10.0
) -> list[Commit]:
    """List the newest commits of HEAD since a UTC day or a moment, newest first, with their files."""
    shape = "--format=%x00%H%x00%cd%x00%s%x00%b%x00"
    safe = [
        "--no-show-signature",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-mailmap",
        "--no-notes",
    ]
    asked = [
        "log",
        *safe,
        "--no-renames",
        "--name-only",
        "--encoding=UTF-8",
        shape,
        "--date=format-local:%Y-%m-%d",
    ]
    begin = since.isoformat()
    begin = begin if "T" in begin else f"{begin}T00:00:00Z"
    bounds = [f"--since={begin}", "-n", str(most), "HEAD", "--"]
    env = {"TZ": "UTC"}
    ran = ask(top, [*asked, *bounds], most=_LOG_BYTES, within_s=within_s, env=env)
    parts = ran.out.split("\0")[1:]
    return [_commit(parts[at : at + 5]) for at in range(0, len(parts) - 4, 5)]


def read_tracked(top: Path, path: str) -> str | None:
    """Return the text of a plain file of up to 1 MB below `top`, None for anything else.

    No part of the path may be a link, so nothing outside can be read.
    """
    parts = path.split("/")
    if not path or any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        return None
    data = _read_below(top, parts)
    if data is None or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def head_commit(top: Path) -> str:
    """Return the full hash of the commit that is checked out, "" where there is none."""
    ran = ask(top, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], most=200, within_s=5.0)
    return ran.out.strip() if re.fullmatch("[0-9a-f]{40,64}", ran.out.strip()) else ""


def ask(
    top: Path, args: Sequence[str], *, most: int, within_s: float, env: dict[str, str] | None = None
) -> git.Ran:
    """Ask git about a repository that is somebody else's: it runs nothing, fetches nothing, locks nothing."""
    ceiling = {"GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.realpath(top))}  # noqa: PTH120 - never one above
    return git.head(top, args, most=most, timeout_s=within_s, env={**_QUIET, **ceiling, **(env or {})})


def _matches(out: str) -> Iterator[Match]:
    """Read `path NUL line NUL text` and a line feed, record by record; a cut one at the end is dropped."""
    at = 0
    while (name_end := out.find("\0", at)) >= 0:
        line_end = out.find("\0", name_end + 1)
        end = out.find("\n", line_end + 1)
        if line_end < 0 or end < 0:
            return
        number = out[name_end + 1 : line_end]
        if number.isdecimal():
            yield Match(out[at:name_end], int(number), out[line_end + 1 : end])
        at = end + 1


def _commit(parts: list[str]) -> Commit:
    hash_, day, subject, body, names = parts
    return Commit(hash_, day, subject, body, tuple(name for name in names.split("\n") if name))


def _read_below(top: Path, parts: Sequence[str]) -> bytes | None:
    folder = getattr(os, "O_DIRECTORY", 0)
    handles: list[int] = []
    try:
        handles.append(os.open(top, os.O_RDONLY | folder))
        for part in parts[:-1]:
            handles.append(os.open(part, os.O_RDONLY | os.O_NOFOLLOW | folder, dir_fd=handles[-1]))
        handles.append(os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=handles[-1]))
        info = os.fstat(handles[-1])
        if not stat.S_ISREG(info.st_mode) or info.st_size > _FILE_BYTES:
            return None
        with os.fdopen(handles.pop(), "rb") as file:
            return file.read(_FILE_BYTES)
    except (OSError, ValueError):
        return None
    finally:
        for handle in handles:
            os.close(handle)
