"""What a bullet of a record rests on: what was given, a commit or a file of today, else the session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lamina.formats.lines import fold
from lamina.pipeline.exchanges import terms

SESSION = "`session`"
_PATH = re.compile(r"[\w@+-][\w.@+/-]*[\w]")
_SHORT = 7
_SHARED = 2  # words that a bullet and a commit's subject must share
_LEAST = 0.5  # of the subject's words


class Commit(NamedTuple):
    """A commit of today: its full hash, its subject, the files that it changed."""

    hash: str
    subject: str
    files: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """The first digits of the hash."""
        return self.hash[:_SHORT]


def evidence(text: str, given: str, commits: Sequence[Commit]) -> str:
    """Return a bullet's evidence, in backticks; nothing is said that was not given or found in git."""
    if given.strip():
        return _quoted(given)
    for commit in commits:
        if commit.short in text:
            return f"`commit {commit.short}`"
    named = set(_PATH.findall(text))
    for commit in commits:
        for file in commit.files:
            if file in named or ("." in file and file.rpartition("/")[2] in named):
                return f"`{_plain(file)}`"
    said = set(terms(text))
    for commit in commits:
        words = set(terms(commit.subject))
        if len(said & words) >= max(_SHARED, _LEAST * len(words)):
            return f"`commit {commit.short}`"
    return SESSION


def listed(commits: Sequence[Commit], known: str, most: int) -> tuple[str, ...]:
    """Return the commits as a record lists them, oldest first, without those that `known` text names."""
    new = [commit for commit in reversed(commits) if commit.short not in known]
    return tuple(f"{commit.short} {fold(commit.subject)}" for commit in new[-most:])


def _quoted(given: str) -> str:
    """Put what was given into backticks, piece by piece where it came in some."""
    text = fold(given)
    pieces = [piece.strip() for piece in text.split("`")[1::2]] if text.count("`") >= 2 else [text]
    return ", ".join(f"`{_plain(piece)}`" for piece in pieces if piece.strip()) or SESSION


def _plain(text: str) -> str:
    return fold(text.replace("`", "'"))
