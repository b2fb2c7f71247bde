"""What a host adapter makes of a transcript: one session, its events, and damage as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

CHILD_MARK = "LAMINA_CHILD=1"
"""A line of its own in the first prompt of every model run that Lamina starts in a host."""


class Kind(StrEnum):
    """What a record of a transcript is."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    COMPACTION = "compaction"
    META = "meta"


class Author(StrEnum):
    """Whose words an event's text is."""

    PERSON = "person"
    MODEL = "model"
    TOOL = "tool"
    HOST = "host"  # injected by the host or by a hook: never a person's wish


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a session.

    `seq` is the 0-based physical line of the record in its file; several events may share
    one record. `paths` come from a tool call's arguments only. `text` never holds reasoning.
    `key` is the record's own identity (uuid, message id) where the host gives one, for
    telling repeats; `call` joins a tool result to its call.
    """

    seq: int
    kind: Kind
    author: Author
    text: str = ""
    time: datetime | None = None
    tool: str = ""
    paths: tuple[str, ...] = ()
    failed: bool = False
    sidechain: bool = False
    key: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation with a host, as far as the head of its transcript tells.

    `parent` is set for a subagent's transcript and for a fork (then `fork` is true).
    """

    host: str
    id: str
    path: str = ""
    cwd: str = ""
    started: datetime | None = None
    branch: str = ""
    remote: str = ""
    title: str = ""
    parent: str = ""
    subagent: bool = False
    fork: bool = False


@dataclass(frozen=True, slots=True)
class Damage:
    """A place in a file that could not be read; reading went on behind it. `line` is 1-based."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Position:
    """How far a transcript was read: resume there if the file still begins the same way.

    `offset` is in bytes behind the last whole record, `line` the number of physical lines
    before it, `check` a digest of the file's head and of the last bytes before `offset` (empty at 0),
    `state` whatever else the adapter needs to go on, as JSON text.
    """

    offset: int = 0
    line: int = 0
    check: str = ""
    state: str = ""
