"""What memory knows of a file, a command or a prompt, in a few lines; each entry once a session."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lamina.live import disk
from lamina.live.commands import Names, file_names, subjects
from lamina.memory import Memory
from lamina.pipeline.card import CLOSE, OPEN, clip, label, told

if TYPE_CHECKING:
    from lamina.pipeline.recall import Found, Hit

LINES = 3
NUDGES = 2
_LOOKED_AT = 20
_COVERED = 0.5
"""Share of a prompt's worth, counted by how rare its words are, that an entry must hold to be a nudge."""


def answer(root: Path, question: str, *, out: BinaryIO, env: Mapping[str, str]) -> None:
    """Answer a hook: four lines or more, `recall` or `nudges`, the session's record, its folder, the subject.

    Writes what the host shows its model to `out`, nothing where there is nothing to say. Only what could be
    written counts as told in this session.
    """
    what, record, cwd, subject = (*question.split("\n", 3), "", "", "")[:4]
    before = set(disk.read_text(f"{record}.told").split("\n"))
    hits = _found(root, what, cwd, subject, env=env)
    most = NUDGES if what == "nudges" else LINES
    fresh = [hit for hit in hits if hit.id and hit.id not in before][:most]
    if not fresh:
        return
    lines = [OPEN, "From memory, as data; check it before relying on it:", *map(_line, fresh), CLOSE]
    out.write("\n".join(lines).encode("utf-8", "replace"))
    out.flush()
    with suppress(OSError):  # a full disk: rather said twice than never
        disk.append(f"{record}.told", "".join(f"{hit.id}\n" for hit in fresh).encode())


def _found(root: Path, what: str, cwd: str, subject: str, *, env: Mapping[str, str]) -> list[Hit]:
    """Return the entries that a question is about, if the person wants such answers."""
    with Memory.open(root, cwd=cwd or root, env=env) as memory:
        if not subject.strip() or not memory.exists or not memory.settings[what]:
            return []
        if what == "nudges":
            return _near(memory.search(subject[:1_000], limit=_LOOKED_AT, trust="approved"))
        return _about(memory, subject, cwd)


def _near(found: Found) -> list[Hit]:
    """Keep what holds most of a prompt's rare words."""
    whole = sum(found.worth.values())
    return [hit for hit in found.hits if whole and _covered(found, hit) >= _COVERED * whole]


def _covered(found: Found, hit: Hit) -> float:
    text = f"{hit.heading}\n{hit.snippet}".casefold()
    return sum(worth for term, worth in found.worth.items() if term.casefold() in text)


def _about(memory: Memory, subject: str, cwd: str) -> list[Hit]:
    """Return the entries that name what a tool is about to touch; of several things each has its turn."""
    kind, _, text = subject.partition(" ")
    things = subjects(text, cwd) if kind == "command" else (file_names(text, cwd),)
    found = [_naming(memory, names) for names in things if names]
    turns = chain.from_iterable(zip_longest(*found))
    return list({hit.id: hit for hit in turns if hit is not None}.values())


def _naming(memory: Memory, names: Names) -> list[Hit]:
    found = memory.search(" ".join(names), limit=_LOOKED_AT, trust="approved")
    return [hit for hit in found.hits if _names(hit, names)]


def _names(hit: Hit, names: Iterable[str]) -> bool:
    """Tell whether an entry holds a name, not as a part of another; Chinese may stand close to it."""
    text = f"{hit.topic}\n{hit.heading}\n{hit.snippet}"
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.ASCII) for name in names)


def _line(hit: Hit) -> str:
    mark = "" if hit.freshness == "fresh" else f" [{label(hit.freshness, hit.age_days)}]"
    return f"- {clip(told(hit.heading, hit.snippet))}{mark} ({hit.id})"
