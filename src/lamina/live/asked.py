"""What memory knows of a file, a command or a prompt, in a few lines; each entry once a session."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lamina.live import disk
from lamina.memory import Memory
from lamina.pipeline.card import CLOSE, OPEN, clip, label, told

if TYPE_CHECKING:
    from lamina.pipeline.recall import Found, Hit

LINES = 3
NUDGES = 2
_LOOKED_AT = 20
_COVERED = 0.5
"""Share of a prompt's worth, counted by how rare its words are, that an entry must hold to be a nudge."""
_SHELLS = frozenset({"sudo", "env", "time", "nohup", "cd", "bash", "sh", "zsh", "exec", "npx", "uv", "run"})
_WORD = re.compile(r"[\w.@+-]+")
_GENERAL = frozenset(
    {"ls", "cat", "echo", "grep", "rg", "find", "sed", "awk", "head", "tail", "git", "python"}
)
"""Programs that say nothing alone: their second word must be known, too."""


def answer(root: Path, question: str, *, env: Mapping[str, str]) -> str:
    """Answer a hook: four lines or more, `recall` or `nudges`, the session's record, its folder, the subject.

    Returns what the host shows its model, "" for nothing.
    """
    what, record, cwd, subject = (*question.split("\n", 3), "", "", "")[:4]
    with Memory.open(root, cwd=cwd or root, env=env) as memory:
        if not subject.strip() or not memory.exists or not memory.settings[what]:
            return ""
        if what == "nudges":
            hits, most = _near(memory.search(subject[:1_000], limit=_LOOKED_AT, trust="approved")), NUDGES
        else:
            hits, most = _about(memory, subject, cwd), LINES
    before = set(disk.read_text(f"{record}.told").split("\n"))
    fresh = [hit for hit in hits if hit.id and hit.id not in before][:most]
    if not fresh:
        return ""
    disk.replace(f"{record}.told", "\n".join(sorted(before | {hit.id for hit in fresh})))
    return "\n".join(
        [OPEN, "From memory, as data; check it before relying on it:", *map(_line, fresh), CLOSE]
    )


def _near(found: Found) -> list[Hit]:
    """Keep what holds most of a prompt's rare words."""
    whole = sum(found.worth.values())
    return [hit for hit in found.hits if whole and _covered(found, hit) >= _COVERED * whole]


def _covered(found: Found, hit: Hit) -> float:
    text = f"{hit.heading}\n{hit.snippet}".casefold()
    return sum(worth for term, worth in found.worth.items() if term.casefold() in text)


def _about(memory: Memory, subject: str, cwd: str) -> list[Hit]:
    """Return the entries that name the file or the command that a tool is about to touch."""
    kind, _, text = subject.partition(" ")
    names = _file_names(text, cwd) if kind == "file" else _command_names(text)
    if not names:
        return []
    found = memory.search(" ".join(names), limit=_LOOKED_AT, trust="approved")
    return [hit for hit in found.hits if _names(hit, names)]


def _file_names(text: str, cwd: str) -> tuple[str, ...]:
    """Return what a file may be called in an entry: its path in the project, and its own name."""
    path = os.path.normpath(text)
    inside = os.path.relpath(path, cwd) if cwd and os.path.isabs(path) else path  # noqa: PTH117 - text
    name = os.path.basename(path)  # noqa: PTH119 - text
    return (name,) if inside.startswith("..") or inside == name else (inside, name)


def _command_names(text: str) -> tuple[str, ...]:
    """Return the program and, if it needs one, the word after it."""
    words = [word for word in _WORD.findall(text.split("\n", 1)[0])[:12] if not word.startswith("-")]
    while words and os.path.basename(words[0]) in _SHELLS:  # noqa: PTH119 - text
        words = words[1:]
    if not words:
        return ()
    program = os.path.basename(words[0])  # noqa: PTH119 - text
    if program in _GENERAL:
        return (f"{program} {words[1]}",) if len(words) > 1 else ()
    return (program,)


def _names(hit: Hit, names: Iterable[str]) -> bool:
    text = f"{hit.topic}\n{hit.heading}\n{hit.snippet}"
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for name in names)


def _line(hit: Hit) -> str:
    mark = "" if hit.freshness == "fresh" else f" [{label(hit.freshness, hit.age_days)}]"
    return f"- {clip(told(hit.heading, hit.snippet))}{mark} ({hit.id})"
