"""Gemini CLI's sessions of 2025: one JSON file each, written anew with every message."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from lamina.errors import UnreadableFile
from lamina.formats.event import Damage, Event, Position, Session
from lamina.hosts.gemini_parts import made_of, session_from
from lamina.hosts.jsonlines import MAX_LINE, MIB, Json, parse_line
from lamina.hosts.reading import dict_of, text_of

_HEAD = 4096
_OLD = re.compile(rb'\A(?:\xef\xbb\xbf)*\s*\{\s*"sessionId":\s*"[^"\n]*",\s*"projectHash":\s*"')


def looks_old(path: Path) -> bool:
    """Tell by its first bytes whether a file is one JSON object over several lines, a session."""
    try:
        if not path.is_file():  # opening a pipe would wait for its other end
            return False
        with path.open("rb") as file:
            block = file.read(_HEAD)
    except OSError:
        return False
    first = block.split(b"\n", 1)[0].strip(b"\xef\xbb\xbf \t\r")
    return _OLD.match(block) is not None and (first == b"{" or b'"messages":' in first)


class OldTranscript:
    """One such session; its events are read message by message, `line` of a position counts messages."""

    def __init__(self, path: Path, position: Position | None = None) -> None:
        self._path = path
        self._data, self._problem, self._size = _load(path)
        told = self._data.get("messages")
        self._messages = [dict_of(message) for message in told] if isinstance(told, list) else []
        self._done, self._told = self._resumed(position)
        self.session: Session = session_from(path, [self._data] if self._data else [])

    def _resumed(self, position: Position | None) -> tuple[int, list[str]]:
        """Find the messages that were read, and the events of the last of them: calls are added to it."""
        if position is None or not position.line or position.check != self._check(position.line):
            return 0, []
        try:
            told = json.loads(position.state or "[]")
        except ValueError:
            return 0, []
        return position.line, [text_of(key) for key in told] if isinstance(told, list) else []

    def _check(self, count: int) -> str:
        if count > len(self._messages):
            return ""
        names = "\n".join(text_of(message.get("id")) for message in self._messages[:count])
        name = f"{self._data.get('sessionId')}\n{names}"
        return blake2b(name.encode("utf-8", "replace"), digest_size=12).hexdigest()

    @property
    def position(self) -> Position:
        """How far all events were taken."""
        if not self._done:
            return Position()
        state = json.dumps(self._told, separators=(",", ":"))
        return Position(self._size, self._done, self._check(self._done), state)

    def __iter__(self) -> Iterator[Event | Damage]:
        if self._problem:
            yield Damage(str(self._path), 1, self._problem)
        first, told = max(0, self._done - 1), frozenset(self._told)
        for number in range(first, len(self._messages)):
            made = list(made_of(self._messages[number], number, self.session, frozenset(), whole=True))
            yield from (event for event in made if number > first or event.key not in told)
            self._done, self._told = number + 1, [event.key for event in made]


def _load(path: Path) -> tuple[Json, str, int]:
    try:
        size = path.stat().st_size
        if size > MAX_LINE:
            return {}, f"file over {MAX_LINE // MIB} MiB", size
        found, reason = parse_line(path.read_bytes())
    except OSError as problem:
        raise UnreadableFile(f"{path} can't be read: {problem.strerror}") from problem
    return (found[0] if found else {}), reason, size
