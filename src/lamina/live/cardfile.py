"""A card kept for one folder: its text, and what must not have changed since it was made.

The hook command reads it on the standard library alone; `lamina.live.cards` writes it. Checking costs one
look at each file that the card was made of, so that an edit by hand shows at the next session.
"""

# os.path and os.scandir cost less than pathlib, which the hook does not import.
# ruff: noqa: PTH116

from __future__ import annotations

import os
import time

from .disk import read_text, replace
from .payload import harmless, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HEAD = "lamina card 1"
SKIPPED = frozenset({"history", "junk.md", "history.md"})
"""What of a scope is never in a card."""
_FOLDER = 0o040000
DECIDING = (
    "HOME",
    "LAMINA_CAPTURE_INTERVAL_S",
    "LAMINA_CARD_CHARS",
    "LAMINA_CARD_INTERVAL_S",
    "LAMINA_NUDGES",
    "LAMINA_RECALL",
    "LAMINA_WORKSPACE",
    "XDG_CONFIG_HOME",
)
"""The variables that decide what a card says. Nothing else of the environment is written down."""


class Card:
    """A card that is true now; `settings` are texts the hook keeps for later events."""

    def __init__(self, text: str, settings: Mapping[str, str]) -> None:
        self.text = text
        self.settings = settings
        self.mark = key_of(text)


def key_of(text: str) -> str:
    """Return 16 letters that stand for a text."""
    from zlib import adler32, crc32

    data = text.encode("utf-8", "surrogatepass")
    return f"{crc32(data):08x}{adler32(data):08x}"


def card_key(cwd: str, env: Mapping[str, str]) -> str:
    """Return what decides which card is meant: the folder, and the environment that settings come from."""
    ours = [f"{name}={value}" for name in DECIDING if (value := harmless(env.get(name, "")))]
    return "\n".join((cwd, *ours))


def today() -> str:
    """Return the UTC day as the card file names it."""
    return time.strftime("%Y-%m-%d", time.gmtime())


def read_card(path: str, key: str) -> Card | None:
    """Return the card at `path` if it was made for `key`, today, of files that are the same now."""
    head, _, text = read_text(path).partition("\n\n")
    lines = head.split("\n")
    if lines[:3] != [HEAD, quoted(key), today()]:
        return None
    settings: dict[str, str] = {}
    for line in lines[3:]:
        word, value, name = (*line.split(" ", 2), "", "")[:3]
        if word == "set":
            settings[value] = name
        elif (word == "file" and stamp(name) != value) or (word == "tree" and tree(name) != value):
            return None
    return Card(text, settings)


def write_card(
    path: str, key: str, text: str, *, day: str, seen: Iterable[str], settings: Mapping[str, str]
) -> None:
    """Keep a card. `seen` is what `seen_file` and `seen_tree` said before it was made."""
    lines = [HEAD, quoted(key), day, *seen, *(f"set {name} {value}" for name, value in settings.items())]
    replace(path, "\n".join(lines) + "\n\n" + text)


def seen_file(path: str) -> str:
    """Return the line that holds a card to a file or a folder as it is now."""
    return f"file {stamp(path)} {path}"


def seen_tree(path: str) -> str:
    """Return the line that holds a card to all files below a folder as they are now."""
    return f"tree {tree(path)} {path}"


def key_in(path: str) -> str | None:
    """Return the key that a kept card was made for."""
    from .payload import text_of

    lines = read_text(path).split("\n", 2)
    return text_of(lines[1]) if lines[0] == HEAD and len(lines) > 1 else None


def stamp(path: str) -> str:
    """Return what tells whether a file has not changed, or a folder is the same; `-` if there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return "-"
    folder = found.st_mode & _FOLDER
    if folder:
        return f"{found.st_ino}"
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"


def tree(path: str) -> str:
    """Return what tells whether the files below a scope's folder are the same."""
    from zlib import crc32

    total = count = 0
    folders = [path]
    while folders:
        try:
            entries = os.scandir(folders.pop())
        except OSError:
            continue
        with entries:
            for entry in entries:
                if entry.name in SKIPPED and len(entry.path) == len(path) + 1 + len(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                    continue
                found = entry.stat(follow_symlinks=False)
                seen = (entry.path, found.st_mtime_ns, found.st_ctime_ns, found.st_size)
                total += crc32("\0".join(map(str, seen)).encode("utf-8", "replace"))
                count += 1
    return f"{count}:{total:x}"
