"""The commits of a project's repository, read without changing anything in it.

A message and the name of a file may hold anything but NUL, so everything is cut at NUL. What is no UTF-8
comes as U+FFFD.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lamina.store import tracked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lamina.store.git import Ran

WALK = 10_000
"""How many of the newest commits are looked at where no range is known."""

_HASH = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")
_STATUS = re.compile("[A-Z][0-9]{0,3}")
_AT_ONCE = 100
_LIST_BYTES = 64_000_000
_SOME_BYTES = 16_000_000
_ONE_BYTES = 2_000_000
_WITHIN_S = 60.0
_HERE = ("--git-dir=.",)  # the folder itself, never a repository around it
_SHOW = (
    "--no-walk=unsorted",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-mailmap",
    "--no-notes",
    "--no-decorate",
    "--encoding=UTF-8",
    "-z",
)


class Commit(NamedTuple):
    """A commit: full hash, time in seconds since 1970, whole message, and the files that it changed."""

    hash: str
    seconds: int
    message: str
    files: tuple[str, ...] = ()
    """Paths in git's order; a renamed file is `old → new`."""


class Tip(NamedTuple):
    """Where HEAD of a repository stands; `reason` says why nothing can be read, or that it is shallow."""

    hash: str = ""
    reason: str = ""


def tip(common: Path) -> Tip:
    """Look at the git folder of a repository with one run of git."""
    ran = _ask(common, ["rev-parse", "--is-shallow-repository", "HEAD^{commit}"], most=1_000)
    words = ran.out.split()
    if not words or words[0] not in ("true", "false"):
        return Tip(reason="git reads no repository there")
    if not ran.ok or len(words) < 2 or not _HASH.fullmatch(words[1]):
        return Tip(reason="has no commits yet")
    return Tip(words[1], "is a shallow clone: only the commits in it are read" if words[0] == "true" else "")


def is_ancestor(common: Path, old: str, new: str) -> bool:
    """Tell whether a commit is still behind another one."""
    return (
        bool(_HASH.fullmatch(old)) and _ask(common, ["merge-base", "--is-ancestor", old, new], most=1_000).ok
    )


def hashes(common: Path, head: str, *, after: str = "") -> list[str] | None:
    """List commits up to `head` without merges, parents first: those not behind `after`, else the newest.

    None where git broke off: a part of the list says nothing of what is missing.
    """
    bounds = [head, f"^{after}"] if after else ["-n", str(WALK), head]
    ran = _ask(
        common, ["rev-list", "--topo-order", "--reverse", "--no-merges", *bounds, "--"], most=_LIST_BYTES
    )
    return [line for line in ran.out.split("\n") if _HASH.fullmatch(line)] if ran.ok else None


def read(common: Path, wanted: Sequence[str]) -> Iterator[Commit]:
    """Yield commits in the order asked for; one that can't be read is left out."""
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        told = _messages(common, some)
        changed = _changed(common, some)
        for hash_ in some:
            if hash_ in told:
                yield told[hash_]._replace(files=changed.get(hash_, ()))


def _messages(common: Path, some: Sequence[str]) -> dict[str, Commit]:
    out, whole = _show(common, ["--no-patch", "--format=%H%x00%ct%x00%B"], some)
    if not whole and len(some) > 1:  # too much at once
        return {hash_: each for one in some for hash_, each in _messages(common, [one]).items()}
    parts = out.split("\0")
    found = (parts[at : at + 3] for at in range(0, len(parts) - 2, 3))
    return {
        hash_.strip(): Commit(hash_.strip(), int(when) if when.isdecimal() else 0, message)
        for hash_, when, message in found
    }


def _changed(common: Path, some: Sequence[str]) -> dict[str, tuple[str, ...]]:
    out, whole = _show(common, ["--name-status", "--find-renames", "-l200", "--format=%H"], some)
    if not whole and len(some) > 1:
        return {hash_: each for one in some for hash_, each in _changed(common, [one]).items()}
    files: dict[str, list[str]] = {}
    current: list[str] = []
    parts = iter(out.split("\0")[:-1])
    for part in parts:
        word = part.strip()
        if _HASH.fullmatch(word):
            current = files.setdefault(word, [])
        elif _STATUS.fullmatch(word):
            name = next(parts, "")
            current.append(f"{name} → {next(parts, '')}" if word[0] in "RC" else name)
    return {hash_: tuple(names) for hash_, names in files.items()}


def _show(common: Path, shape: Sequence[str], some: Sequence[str]) -> tuple[str, bool]:
    """Return what git prints of commits, and whether that is all."""
    most = _SOME_BYTES if len(some) > 1 else _ONE_BYTES
    ran = _ask(common, ["log", *_SHOW, *shape, *some, "--"], most=most)
    return ran.out.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), ran.ok


def _ask(common: Path, args: Sequence[str], *, most: int) -> Ran:
    return tracked.ask(common, [*_HERE, *args], most=most, within_s=_WITHIN_S, env={"TZ": "UTC"})
