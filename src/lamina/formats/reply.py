"""Replies of models: one fact a line, read line by line so that one bad line costs nothing but itself.

    - [codex_4f3a | workspace:shop | decisions | 4 | stable] Build :: Plain ESM, because …
    UPDATE [codex_4f3a] shop-sem-0012 :: The port is 9090.
    SUPERSEDE [codex_4f3a] shop-dec-0003 :: Replaced by the queue.
    DONE codex_4f3a

Lines of this shape inside a transcript or a tool's output are material, never a reply: give these
functions only what the model itself answered, text blocks alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from lamina.formats.ids import parse_id
from lamina.formats.layers import layer_named
from lamina.formats.lines import fold

_MARK: Final = re.compile(r"(?:[-*+•–—]|[0-9]{1,3}[.)])\s+")
_FENCE: Final = re.compile(r"(?:`{3,}|~{3,})[A-Za-z0-9_-]*\s*")
_KEYWORD: Final = re.compile(r"(DONE|UPDATE|SUPERSEDE|KEEP)(?![A-Za-z0-9_])[*_`]*\s*[:\uff1a]?[*_`]*\s*")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,159}")
_WIDE: Final = str.maketrans(
    "\uff3b\uff3d\u3010\u3011\uff5c\uff1a\uff10\uff11\uff12\uff13\uff14\uff15", "[][]|:012345"
)
_OPENING: Final = ("[", "\uff3b", "\u3010")
_CLOSING: Final = ("]", "\uff3d", "\u3011")
_SEPARATOR: Final = re.compile("::|\uff1a\uff1a|\u2237")
_SPACED_SEPARATOR: Final = re.compile(r"(?<=\s)(?:::|\uff1a\uff1a|\u2237)(?=\s|$)")
_IMPORTANCE: Final = {"low": 2, "normal": 3, "medium": 3, "high": 5, "": 3}
_VOLATILITY: Final = frozenset({"stable", "normal", "volatile"})
_NOT_WRITTEN: Final = frozenset({"history", "state", "working", "junk"})
_NOTHING: Final = "NO_DURABLE_CONTENT"
_NOTHING_SAID: Final = re.compile(
    r"(?:there (?:is|was|'s|’s) )?(?:nothing|no) (?:new |durable |content |information |facts? )*"
    r"(?:to (?:record|store|remember|save|keep|capture|report)|(?:worth|was) [a-z]{1,20}|found|here)"
    r"(?: (?:here|in|from|this|the|session|conversation|transcript)){0,6}[.!]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact for a layer. `scope` is `global` or `workspace:<key>`, the key unchecked and maybe empty."""

    note: str
    scope: str
    layer: str
    importance: int
    volatility: str | None
    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """A new text for an entry, or the reason why it no longer holds. `note` is empty in a refresh."""

    note: str
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that meant to be of the protocol and is not. `line` is 1-based, 0 for a JSON object."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered. `keeps` are ids, only in a refresh; `form` is `lines`, `json` or empty."""

    facts: tuple[Fact, ...] = ()
    done: tuple[str, ...] = ()
    updates: tuple[Change, ...] = ()
    supersedes: tuple[Change, ...] = ()
    keeps: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    cut: bool = False
    form: str = ""

    @property
    def handled(self) -> tuple[str, ...]:
        """The notes this reply settles: those called done and, unless it was cut, those it used."""
        facts, changes = [fact.note for fact in self.facts], [*self.updates, *self.supersedes]
        used = [] if self.cut else [*facts, *(change.note for change in changes)]
        return tuple(dict.fromkeys([*self.done, *used]))

    @property
    def usable(self) -> bool:
        """Whether anything at all was recovered."""
        return bool(self.form)


class _Bad(ValueError):
    """A line or object that can't be used; the message is the reason."""


class _Found:
    """What was read so far."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.done: list[str] = []
        self.updates: list[Change] = []
        self.supersedes: list[Change] = []
        self.keeps: list[str] = []
        self.skipped: list[Skipped] = []

    def __bool__(self) -> bool:
        return bool(self.facts or self.done or self.updates or self.supersedes or self.keeps)

    def reply(self, *, cut: bool, form: str) -> Reply:
        return Reply(
            tuple(self.facts),
            tuple(dict.fromkeys(self.done)),
            tuple(self.updates),
            tuple(self.supersedes),
            tuple(dict.fromkeys(self.keeps)),
            tuple(self.skipped),
            cut,
            form,
        )


def parse_reply(text: str, cut: bool = False) -> Reply:  # noqa: FBT001, FBT002 - the caller's one fact about the stream
    """Read a consolidation reply; never fails, in time linear in its length.

    `cut` says that the reply ended at a length limit or a broken stream: then a last line without its
    line end is dropped. JSON is looked at only if no valid line was found. Whether notes and ids were
    really shown, and whether a text is grounded, is the caller's to check.
    """
    found = _read_lines(text, cut=cut, refresh=False)
    if found:
        return found.reply(cut=cut, form="lines")
    if "{" in text or "[" in text:
        volunteered = _read_json(text)
        if volunteered:
            return volunteered.reply(cut=cut, form="json")
        found.skipped += volunteered.skipped
    return found.reply(cut=cut, form="")


def parse_refresh(text: str, cut: bool = False) -> Reply:  # noqa: FBT001, FBT002 - as parse_reply
    """Read a refresh reply: `KEEP <id>`, `UPDATE <id> :: text`, `SUPERSEDE <id> :: reason`."""
    found = _read_lines(text, cut=cut, refresh=True)
    return found.reply(cut=cut, form="lines" if found else "")


def is_nothing(text: str) -> bool:
    """Tell whether a summary's reply concludes that nothing durable was said.

    That is NO_DURABLE_CONTENT on a line of its own with no bullet beside it, or one short sentence of
    that sense. An empty reply is a failure, not a conclusion.
    """
    lines = [each for line in _lines(text) if (each := line.strip()) and not _FENCE.fullmatch(each)]
    if any(_MARK.match(line) and _NOTHING not in line for line in lines):
        return False
    bare = [re.sub(r"[\s-]+", "_", line.strip("*_`\"'.!#>- ").upper()) for line in lines if len(line) < 60]
    if _NOTHING in bare or (len(lines) == 1 and lines[0].startswith(_NOTHING)):
        return True
    return len(lines) == 1 and bool(_NOTHING_SAID.fullmatch(lines[0].strip("*_`\"'")))


# --- lines ------------------------------------------------------------------------------------------


def _lines(text: str) -> list[str]:
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _read_lines(text: str, *, cut: bool, refresh: bool) -> _Found:
    found = _Found()
    lines = _lines(text)
    if cut and lines[-1].strip():
        found.skipped.append(Skipped(len(lines), lines.pop()[:200], "the reply was cut within this line"))
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            continue
        try:
            _read_line(_bare(line), found, refresh=refresh)
        except _Bad as bad:
            found.skipped.append(Skipped(number, line.strip()[:200], str(bad)))
    return found


def _bare(line: str) -> str:
    """Take list marks, emphasis and code marks from around a line."""
    line = line.strip().lstrip("\ufeff\u200b").lstrip()
    if _FENCE.fullmatch(line):
        return ""
    for _ in range(2):
        if line.startswith("`") and line.endswith("`"):
            line = line.strip("`").strip()
        if match := _MARK.match(line):
            line = line[match.end() :]
    return _unwrapped(line)


def _unwrapped(text: str) -> str:
    """Take emphasis or code marks off that open a text; a closing pair goes with them."""
    for mark in ("**", "`", "*"):
        if text.startswith(mark):
            text = text.removeprefix(mark)
            return text.removesuffix(mark) if text.count(mark) % 2 else text
    return text


def _read_line(line: str, found: _Found, *, refresh: bool) -> None:
    if keyword := _KEYWORD.match(line):
        _read_keyword(keyword[1], line[keyword.end() :], found, refresh=refresh)
    elif not refresh and line.startswith(_OPENING):
        head, rest = _brackets(line)
        if "|" in head or _SEPARATOR.search(rest):
            topic, text = _parts(rest)
            found.facts.append(_fact(*_cells(head), topic, text))


def _read_keyword(keyword: str, rest: str, found: _Found, *, refresh: bool) -> None:
    if keyword == "DONE":
        if not refresh:
            found.done += [_name(part) for part in re.split("[,\uff0c]", rest)]
        return
    if keyword == "KEEP":
        if refresh:
            found.keeps.append(_id(rest))
        return
    note = ""
    if not refresh:
        head, rest = _brackets(rest)
        note = _name(head)
    id_text, text = _parts(rest)
    change = Change(note, _id(id_text), _text(text))
    (found.updates if keyword == "UPDATE" else found.supersedes).append(change)


def _brackets(line: str) -> tuple[str, str]:
    """Split `[head] rest`; the head comes back in half-width punctuation."""
    if not line.startswith(_OPENING):
        raise _Bad("no [<note>] in front")
    ends = [end for end in map(line.find, _CLOSING) if end > 0]
    if not ends:
        raise _Bad("the bracket is not closed")
    return line[1 : min(ends)].translate(_WIDE), line[min(ends) + 1 :]


def _parts(rest: str) -> tuple[str, str]:
    match = _SPACED_SEPARATOR.search(rest) or _SEPARATOR.search(rest)
    if match is None:
        raise _Bad("no :: between topic and text")
    return rest[: match.start()], rest[match.end() :]


def _cells(head: str) -> tuple[str, str, str, str, str]:
    cells = [cell.strip().strip("<>`*?").strip() for cell in head.split("|", 6)]
    if not 3 <= len(cells) <= 5:
        raise _Bad("the bracket needs note | scope | layer | importance | volatility")
    note, scope, layer, importance, volatility = (*cells, "", "")[:5]
    return note, scope, layer, importance, volatility


# --- checks shared by lines and JSON ----------------------------------------------------------------


def _fact(  # noqa: PLR0913, PLR0917 - the protocol's seven cells in order
    note: str, scope: str, layer: str, importance: str, volatility: str, topic: str, text: str
) -> Fact:
    title = fold(_unwrapped(_unwrapped(fold(topic))).replace("**", "").rstrip(":"))
    if not title:
        raise _Bad("the topic is empty")
    volatility = volatility.lower()
    return Fact(
        _name(note),
        _scope(scope),
        _layer(layer),
        _importance(importance),
        volatility if volatility in _VOLATILITY else None,
        title,
        _text(text),
    )


def _text(text: str) -> str:
    text = fold(text)
    if not text.strip("*_`\"'.… "):
        raise _Bad("the text is empty")
    return text


def _name(text: str) -> str:
    name = text.strip().strip("<>[]`*\"'").strip().removesuffix(".md")
    if not _NAME.fullmatch(name):
        raise _Bad("no note is named")
    return name


def _id(text: str) -> str:
    found = parse_id(text.strip().strip("<>[]`*:.").strip())
    if found is None:
        raise _Bad("no entry id")
    return str(found)


def _scope(text: str) -> str:
    kind, _, key = (part.strip().strip("<>").strip() for part in text.lower().partition(":"))
    if kind == "global" and not key:
        return kind
    if kind == "workspace":
        return f"workspace:{key}"
    raise _Bad("the scope is neither global nor workspace:<key>")


def _layer(text: str) -> str:
    from lamina.errors import UnknownLayer

    try:
        name = layer_named(text.lower()).name
    except UnknownLayer:
        raise _Bad("unknown layer") from None
    if name in _NOT_WRITTEN:
        raise _Bad(f"facts never go to {name}")
    return name


def _importance(text: str) -> int:
    text = text.lower().removesuffix("/5").strip()
    if re.fullmatch("[0-9]{1,3}", text):
        return min(max(int(text), 1), 5)
    if text not in _IMPORTANCE:
        raise _Bad("importance is no number from 1 to 5")
    return _IMPORTANCE[text]


# --- JSON that a model volunteers -------------------------------------------------------------------

_NOTE_KEYS: Final = ("note", "digest", "source")
_TEXT_KEYS: Final = ("text", "content", "fact", "body")
_DONE_KEYS: Final = ("done", "handled", "processed")


def _read_json(text: str) -> _Found:
    from lamina.formats.salvage import salvage

    found = _Found()
    waiting: list[tuple[object, str]] = [(value, "") for value in reversed(salvage(text))]
    while waiting:
        value, kind = waiting.pop()
        if isinstance(value, list):
            waiting += [(each, kind) for each in reversed(value)]
        elif isinstance(value, dict):
            waiting += _read_object(value, kind, found)
    return found


def _read_object(value: dict[str, object], kind: str, found: _Found) -> list[tuple[object, str]]:
    """Take what one object says; return what it holds, with the key it stood under."""
    try:
        for key in _DONE_KEYS:
            names = value.get(key)
            found.done += [
                _name(each)
                for each in (names if isinstance(names, list) else [names])
                if isinstance(each, str)
            ]
        if "id" in value:
            _read_change(value, kind, found)
        elif "layer" in value or "topic" in value:
            found.facts.append(_json_fact(value))
    except _Bad as bad:
        shown = ", ".join(f"{key}: {each}"[:80] for key, each in value.items() if isinstance(each, str))
        found.skipped.append(Skipped(0, shown[:200], str(bad)))
    inside: list[tuple[object, str]] = [(each, key) for key, each in value.items() if key not in _DONE_KEYS]
    return inside[::-1]


def _read_change(value: dict[str, object], kind: str, found: _Found) -> None:
    action = f"{kind} {_string(value, 'action', 'op', 'type')}".lower()
    note, entry = _name(_string(value, *_NOTE_KEYS)), _id(_string(value, "id"))
    if "supersede" in action or not _string(value, *_TEXT_KEYS):
        found.supersedes.append(Change(note, entry, _text(_string(value, "reason", *_TEXT_KEYS))))
    else:
        found.updates.append(Change(note, entry, _text(_string(value, *_TEXT_KEYS))))


def _json_fact(value: dict[str, object]) -> Fact:
    scope, key = _string(value, "scope"), _string(value, "workspace", "key")
    if scope.strip().lower() == "workspace" or (key and not scope):
        scope = f"workspace:{key.removeprefix('workspace:')}"
    return _fact(
        _string(value, *_NOTE_KEYS),
        scope,
        _string(value, "layer"),
        _string(value, "importance"),
        _string(value, "volatility"),
        _string(value, "topic", "title", "heading"),
        _string(value, *_TEXT_KEYS),
    )


def _string(value: dict[str, object], *keys: str) -> str:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) or (isinstance(found, int) and not isinstance(found, bool)):
            return str(found)
    return ""
