"""Projects a session's events to the little that may be worth remembering.

Tool calls become a count and a set of paths; what people and models wrote is freed of
injected context, redacted and clipped; a failed tool call survives only with what fixed it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from lamina.formats.event import Author, Event, Kind, Session
from lamina.formats.lines import size_of
from lamina.pipeline import noise
from lamina.pipeline.redact import redact, without_private
from lamina.pipeline.statements import condensed, shares

_CUT = 65_536  # characters of one event that are looked at: a hundred times what is kept
_OPEN_CALLS = 256  # calls that wait for their result; a result that comes later is not joined
_OPEN_FAILURES = 16
_FAILURES = 8  # of one turn
_ERROR_CHARS = 240
_COMMAND_CHARS = 160
_TRIVIAL_SIGNAL = 120
_SHARES = 3  # gists of one answer: a long one tells more than its beginning


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a session is looked at (SPEC section 12). Characters unless it says bytes."""

    user_turns: int = 40
    gists: int = 40
    chars: int = 600
    bytes: int = 24_000
    bullets: int = 12
    signal: int = 400
    attempts: int = 2
    paths: int = 60


@dataclass(frozen=True, slots=True)
class Failure:
    """A tool call that failed and what came of it.

    `command` is the call's text, `error` the telling end of its output, `fix` the words or the
    command that ended it; `first` is the failed result's sequence number, `last` the fix's.
    """

    tool: str
    command: str
    error: str
    fix: str
    first: int
    last: int
    explained: bool = False  # `fix` is the model's explanation; no later success was seen


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange: a person's words and what the model wrote until their next ones.

    `user` is empty where the words were only an acknowledgement, or where a long turn goes on
    in the next window. `gist_seqs` runs parallel to `gists`. `agreed` says that the person
    answered this turn with a bare yes.
    """

    first: int
    last: int
    time: datetime | None
    user: str
    gists: tuple[str, ...] = ()
    tools: int = 0
    failures: tuple[Failure, ...] = ()
    gist_seqs: tuple[int, ...] = ()
    agreed: bool = False
    times: tuple[datetime | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Material:
    """What one pass shows to the summary; `first` and `last` cover dropped events too."""

    turns: tuple[Turn, ...]
    tool_calls: int = 0
    paths: tuple[str, ...] = ()
    first: int = 0
    last: int = -1
    signal_chars: int = 0
    trivial: bool = True
    started: datetime | None = None
    ended: datetime | None = None


def collect(
    session: Session, events: Iterable[Event], limits: Limits, *, hidden: tuple[str, ...] = ()
) -> Iterator[Material]:
    """Yield the session's material in windows, oldest first, reading `events` once.

    A window is closed when the next turn would pass the limits of turns, gists or bytes, so
    a long session gives several Materials and none of it is lost to the deterministic
    summary; `recent` joins windows to the one trimmed form that a model is shown. At least
    one Material is yielded, also for a session without any event. Memory is bounded by one
    window. `hidden` are folders whose paths are never named, such as the store.
    """
    window = _Window(limits, hidden)
    for event in events:
        if event.sidechain:
            window.see(event)
            continue
        yield from window.take(event)
    if not session.subagent:
        window.end_turn()
    yield window.material()


def recent(windows: Iterable[Material], limits: Limits) -> Material:
    """Join windows to one Material within the limits; the oldest turns go first."""
    turns: list[Turn] = []
    paths: OrderedDict[str, None] = OrderedDict()
    calls, first, last, started, ended = 0, -1, -1, None, None
    for window in windows:
        turns = _newest([*turns, *window.turns], limits)
        paths.update(dict.fromkeys(window.paths))
        calls += window.tool_calls
        first = window.first if first < 0 else first
        last, started, ended = window.last, started or window.started, window.ended or ended
    return _material(turns, calls, tuple(paths)[: limits.paths], (max(first, 0), last), (started, ended))


def fit(windows: Iterable[Material], limits: Limits) -> bool:
    """Say whether windows may be shown to a model together, none of their turns left out."""
    turns = [turn for window in windows for turn in window.turns]
    return len(_newest(turns, limits)) == len(turns)


def shown(material: Material) -> str:
    """Give all that a summary of the material may draw on, as one text, its dates included."""
    parts: list[str] = []
    for turn in material.turns:
        parts += (str(turn.time or ""), turn.user, *turn.gists)
        for one in turn.failures:
            parts += (one.tool, one.command, one.error, one.fix)
    return "\n".join((*parts, *material.paths))


def signal(text: str) -> int:
    """Count the characters that carry meaning: one of an unspaced script counts three."""
    return len(text) if text.isascii() else len(text) + 2 * sum(map(_dense, text))


def _dense(char: str) -> bool:
    code = ord(char)
    return code >= 0x0E01 and (
        0x4E00 <= code <= 0x9FFF  # Han
        or 0x3041 <= code <= 0x30FF  # Kana
        or 0xAC00 <= code <= 0xD7A3  # Hangul
        or code <= 0x0E5B  # Thai
        or 0x3400 <= code <= 0x4DBF
        or 0x1100 <= code <= 0x11FF
        or 0x31F0 <= code <= 0x31FF
        or 0xF900 <= code <= 0xFAFF
        or 0xFF66 <= code <= 0xFF9D
        or 0x20000 <= code <= 0x323AF
    )


def clip(text: str, chars: int) -> str:
    """Shorten to at most `chars` characters: at a sentence's end, else between words, else anywhere."""
    if len(text) <= chars:
        return text
    room = text[: chars - 1]
    half = chars // 2
    cut = max(room.rfind(end) for end in noise.SENTENCE_ENDS) + 1
    if cut <= half:
        cut = max(room.rfind(" "), room.rfind("\n"))
    if cut <= half:
        cut = len(room)
        while cut > half and noise.joins(text[cut]):
            cut -= 1
    head = room[:cut]
    opened = head.rfind("[redacted")
    if opened >= 0 and "]" not in head[opened:]:
        head = head[:opened]
    return head.rstrip() + "…"


def plain(text: str) -> str:
    """Free a text of injected context, control sequences and secrets; spaces are collapsed."""
    kept = noise.without_injected(without_private(text))[:_CUT]
    return noise.tidy(redact(kept).text)


@dataclass(slots=True)
class _Open:
    """A failure that nothing has answered yet."""

    failure: Failure
    head: str
    words: str = ""
    seq: int = 0


@dataclass(slots=True)
class _Draft:
    """The turn that is being collected."""

    first: int
    last: int
    time: datetime | None
    user: str = ""
    gists: list[str] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    times: list[datetime | None] = field(default_factory=list)
    tools: int = 0
    failures: list[Failure] = field(default_factory=list)
    size: int = 0
    agreed: bool = False
    before: tuple[int, datetime | None] = (-1, None)  # the last event in front of it and its time

    def turn(self) -> Turn:
        return Turn(
            self.first, self.last, self.time, self.user, tuple(self.gists), self.tools,
            tuple(self.failures), tuple(self.seqs), self.agreed, tuple(self.times),
        )  # fmt: skip


class _Window:
    """Collects turns until the limits are reached; owns what is open between events."""

    def __init__(self, limits: Limits, hidden: tuple[str, ...]) -> None:
        self.limits, self.hidden = limits, hidden
        self.calls: OrderedDict[str, tuple[str, str, bool]] = OrderedDict()
        self.open: list[_Open] = []
        self.draft: _Draft | None = None
        self.last_call = ""
        self._clear()

    def _clear(self) -> None:
        self.turns: list[Turn] = []
        self.paths: OrderedDict[str, None] = OrderedDict()
        self.tool_calls, self.size, self.gists = 0, 0, 0
        self.first, self.last = -1, -1
        self.started: datetime | None = None
        self.ended: datetime | None = None

    def see(self, event: Event) -> None:
        """Count the event as read, whatever it holds."""
        self.first = event.seq if self.first < 0 else self.first
        self.last = max(self.last, event.seq)
        if event.time is not None:
            self.started = self.started or event.time
            self.ended = event.time

    def take(self, event: Event) -> Iterator[Material]:
        """Take one event of the main conversation; yield a Material where a window is full."""
        match event.kind, event.author:
            case Kind.USER, Author.PERSON:
                yield from self._person(event)
            case Kind.ASSISTANT, Author.MODEL:
                yield from self._model(event)
            case Kind.TOOL_CALL, _:
                self.see(event)
                self._call(event)
            case Kind.TOOL_RESULT, _:
                self.see(event)
                self._result(event)
            case _:
                self.see(event)

    def _person(self, event: Event) -> Iterator[Material]:
        text = clip(plain(event.text), self.limits.chars)
        bare = noise.is_acknowledgement(text)
        if self.draft is not None and bare:
            self.draft.agreed = noise.agrees(text)
        if text:
            self.end_turn()
        kept = "" if bare else text
        if self._full(kept, user=True):
            yield self.material()
            self._clear()
        before = (max(self.last, event.seq - 1), self.ended)
        self.see(event)
        if text:
            self.draft = _Draft(event.seq, event.seq, event.time, kept, size=size_of(kept), before=before)

    def _model(self, event: Event) -> Iterator[Material]:
        parts = shares(noise.without_openers(condensed(plain(event.text))), self.limits.chars, _SHARES)
        if not parts:
            self.see(event)
        for text in (clip(part, self.limits.chars) for part in parts):
            if self._full(text, user=False):
                yield self._part()
            self.see(event)
            draft = self._draft(event)
            draft.gists.append(text)
            draft.seqs.append(event.seq)
            draft.times.append(event.time)
            draft.size += size_of(text)
        for failure in self.open:
            if parts and not failure.words:
                failure.words, failure.seq = clip(parts[0], self.limits.chars), event.seq

    def _part(self) -> Material:
        """Close the window in front of the open turn, or in the middle of it if it fills the window alone."""
        draft, last, ended, started = self.draft, self.last, self.ended, self.started
        whole = draft is not None and bool(self.turns)
        if draft is not None and whole:
            self.last, self.ended = draft.before
        else:
            self.end_turn()
        done = self.material()
        self._clear()
        if draft is not None and whole:
            self.first, self.last, self.ended = draft.first, last, ended
            self.started = draft.time or started
        return done

    def _draft(self, event: Event) -> _Draft:
        if self.draft is None:
            self.draft = _Draft(event.seq, event.seq, event.time, before=(event.seq - 1, event.time))
        self.draft.last = max(self.draft.last, event.seq)
        return self.draft

    def _full(self, text: str, *, user: bool) -> bool:
        draft = self.draft
        size = self.size + (draft.size if draft else 0) + size_of(text)
        if user:
            said = sum(1 for turn in self.turns if turn.user)
            return bool(self.turns) and (said >= self.limits.user_turns or size > self.limits.bytes)
        gists = self.gists + (len(draft.gists) if draft else 0)
        return gists >= self.limits.gists or (gists > 0 and size > self.limits.bytes)

    def _call(self, event: Event) -> None:
        draft = self._draft(event)
        draft.tools += 1
        self.tool_calls += 1
        hidden = False
        for path in event.paths:
            if noise.is_memory_path(path, self.hidden):
                hidden = True
            elif len(self.paths) < self.limits.paths:
                self.paths.setdefault(redact(path).text[:300])
        command = " ".join(event.text[:2000].split())
        key = event.call or f"#{event.seq}"
        self.calls[key] = (event.tool, command, hidden)
        self.last_call = key
        if len(self.calls) > _OPEN_CALLS:
            self.calls.popitem(last=False)

    def _result(self, event: Event) -> None:
        tool, command, hidden = self.calls.pop(event.call or self.last_call, (event.tool, "", False))
        draft = self._draft(event)
        head = noise.command_head(tool, command)
        if event.failed and not hidden:
            error = noise.error_tail(noise.tidy(redact(event.text[-_CUT:]).text))
            if error:
                shown = clip(redact(command).text, _COMMAND_CHARS)
                failure = Failure(tool, shown, clip(error, _ERROR_CHARS), "", event.seq, event.seq)
                self.open = [*self.open[-_OPEN_FAILURES + 1 :], _Open(failure, head)]
        elif not event.failed:
            self._succeed(draft, head, redact(command).text, event.seq)

    def _succeed(self, draft: _Draft, head: str, command: str, seq: int) -> None:
        """Close the failures of the same command or tool; several of one command count once."""
        met = [one for one in self.open if one.head == head]
        self.open = [one for one in self.open if one.head != head]
        if not met or len(draft.failures) >= _FAILURES:
            return
        last = met[-1]
        shown = clip(command, _COMMAND_CHARS)
        changed = shown if shown != last.failure.command else ""
        words = next((one.words for one in reversed(met) if one.words), "")
        fix = " ".join(part for part in (words, f"`{changed}`" if changed else "") if part)
        if fix:
            draft.failures.append(replace(last.failure, fix=fix, first=met[0].failure.first, last=seq))

    def end_turn(self) -> None:
        """Close the open turn; a failure that was only explained keeps the explanation as its fix."""
        draft, self.draft = self.draft, None
        if draft is None:
            return
        for one in self.open:
            if one.words and len(draft.failures) < _FAILURES:
                draft.failures.append(replace(one.failure, fix=one.words, last=one.seq, explained=True))
        self.open = [one for one in self.open if not one.words]
        if draft.user or draft.gists or draft.failures:
            self.turns.append(draft.turn())
            self.size += draft.size
            self.gists += len(draft.gists)

    def material(self) -> Material:
        """Give what was collected since the last window."""
        ends = (max(self.first, 0), self.last)
        return _material(self.turns, self.tool_calls, tuple(self.paths), ends, (self.started, self.ended))


def _material(
    turns: list[Turn],
    calls: int,
    paths: tuple[str, ...],
    seqs: tuple[int, int],
    times: tuple[datetime | None, datetime | None],
) -> Material:
    count = sum(_signal(turn) for turn in turns)
    said = any(turn.user or turn.failures for turn in turns)
    trivial = not said and calls == 0 and count < _TRIVIAL_SIGNAL
    return Material(tuple(turns), calls, paths, *seqs, count, trivial or not turns, *times)


def _signal(turn: Turn) -> int:
    gists = sum(map(signal, turn.gists))
    return signal(turn.user) + gists + sum(signal(one.error) for one in turn.failures)


def _newest(turns: list[Turn], limits: Limits) -> list[Turn]:
    """Keep the newest turns that fit the limits, always the last one."""
    users, gists, size = 0, 0, 0
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        users += bool(turn.user)
        gists += len(turn.gists)
        size += size_of(turn.user) + sum(map(size_of, turn.gists))
        if users > limits.user_turns or gists > limits.gists or size > limits.bytes:
            return turns[min(index + 1, len(turns) - 1) :]
    return turns
