"""References from a project's digest to where a line came from.

    memory/2026-11-30-esm-memory.md#session-2026-11-30T09:00:00Z     a session of a daily record
    memory/2026-08-23-old-memory.md                                  a daily file without session marks
    digest#section-2026-11-30T12:00:00Z                              a section of the digest itself

They are written in one form and read leniently: two references are the same if `key_of` says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date
from typing import Final

from lamina.formats.dates import parse_day

DIGEST: Final = "digest"
SECTION: Final = "section-"
SESSION: Final = "session-"
_DAILY: Final = re.compile(r"(\d{4}-\d{2}-\d{2})-(.+)-memory\.md", re.DOTALL)
_ENCODED: Final = {"%": "%25", ",": "%2C", "#": "%23", "`": "%60"}
_DECODED: Final = {code: char for char, code in _ENCODED.items()}
_CODE: Final = re.compile("%25|%2C|%23|%60", re.IGNORECASE)

Key = tuple[str, str]
"""What a reference means: a file's name (`digest` for the digest itself), the id of a session or section."""


def origin(file: str, session: str = "") -> str:
    """Write a reference to a session of a daily file, or to the whole file if no session is named."""
    name = "".join(_ENCODED.get(char, char) for char in file)
    part = "".join(_ENCODED.get(char, char) for char in session)
    return f"{name}#{SESSION}{part}" if session else name


def section_origin(section: str) -> str:
    """Write a reference to a section of the digest."""
    return f"{DIGEST}#{SECTION}{section}"


def origins_of(text: str) -> tuple[str, ...]:
    """Read a comma list of references, with or without backticks, in order, each once."""
    pieces = (piece.strip().strip("`").strip() for piece in text.split(","))
    return tuple(dict.fromkeys(piece for piece in pieces if piece))


def render_origins(refs: tuple[str, ...]) -> str:
    """Write references as a marker's value."""
    return ",".join(refs)


def quote_origins(refs: tuple[str, ...]) -> str:
    """Write references for people: in backticks, with commas."""
    return ", ".join(f"`{ref}`" for ref in refs)


def key_of(ref: str) -> Key:
    """Give what a reference means: folders, `./`, the kind of slash and `session-` make no difference."""
    file, _, part = ref.strip().strip("`").partition("#")
    name = _plain(file).replace("\\", "/").rstrip("/").rpartition("/")[2]
    part = _plain(part).strip()
    if name in (DIGEST, f"{DIGEST}.md"):
        return DIGEST, part.removeprefix(SECTION)
    return name, part[len(SESSION) :] if part.lower().startswith(SESSION) else part


def daily_day(name: str) -> date | None:
    """Return the day of a daily file's name (`YYYY-MM-DD-<slug>-memory.md`), None for any other name."""
    match = _DAILY.fullmatch(name)
    return parse_day(match[1]) if match else None


def day_of(ref: str) -> date | None:
    """Return the day of the daily file that a reference names, None if it names none."""
    return daily_day(key_of(ref)[0])


def numbered(base: str, taken: Callable[[str], bool]) -> str:
    """Return a name that is not taken: the base itself, else with `-2`, `-3` … behind it."""
    name, number = base, 2
    while taken(name):
        name, number = f"{base}-{number}", number + 1
    return name


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", _CODE.sub(lambda code: _DECODED[code[0].upper()], text))
