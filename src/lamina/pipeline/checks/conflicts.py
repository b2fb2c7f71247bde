"""Says how a new statement stands to an old one: the same, changed, negated, refined, or another matter.

Precision first: what is wrongly taken for a change costs the old knowledge, what is missed only stands
beside it. So only a value in a value's place changes a statement, everything before it being equal:
`port of web is 8080` and `port of api is 9090` are two rows of a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from enum import StrEnum

from lamina.formats.near import nearly_same
from lamina.formats.slug import topic_slug
from lamina.formats.structure import one_line
from lamina.pipeline.checks.clauses import (
    MARK,
    NAME,
    NOT,
    OF,
    TAIL,
    VALUE,
    WORD,
    Clause,
    Token,
    clause,
    words,
)
from lamina.pipeline.statements import sentences

_Run = tuple[list[Token], int, int]
_CHARS = 20_000  # of a statement; what is longer is equal or another matter
_SENTENCES = 12  # of a statement that are compared, and
_TOKENS = 80  # of a sentence; what is longer is nearly the same or another matter
_COVERED = 0.6  # of an old statement's words: what a change must leave nothing of
_DICE = 0.75  # of the words of both: what a denial must share with what it denies, if it adds to it,
_LEAST = 0.6  # if it leaves out some of it,
_SURELY = 0.85  # if it does both


class Relation(StrEnum):
    """How a new statement stands to an old one."""

    SAME = "same"
    CHANGED = "changed"
    NEGATED = "negated"
    REFINED = "refined"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Statement:
    """What an entry says, with where it stands."""

    heading: str
    body: str = ""
    topic: str = ""
    layer: str = ""
    day: date | None = None

    @property
    def text(self) -> str:
        """Heading and body, the heading once."""
        heading, body = one_line(self.heading).rstrip(".。…"), one_line(self.body)
        return self.body if not heading or body.startswith(heading) else f"{heading}\n{self.body}"


def relation(new: Statement, old: Statement) -> Relation:
    """Tell how a new statement stands to an old one; `changed` and `negated` only within one topic."""
    if max(len(new.text), len(old.text)) > _CHARS:
        return Relation.SAME if one_line(new.text) == one_line(old.text) else Relation.OTHER
    if nearly_same(new.text, old.text):
        return Relation.SAME
    if topic_slug(new.topic) != topic_slug(old.topic):
        return Relation.OTHER
    theirs, mine = _clauses(old.text), _clauses(new.text)
    if not theirs or not mine or len(theirs) > _SENTENCES or len(mine) > _SENTENCES:
        return Relation.OTHER
    return _joined(mine, theirs, eventful=bool({new.layer, old.layer} & _EVENTFUL))


def _joined(new: Sequence[Clause], old: Sequence[Clause], *, eventful: bool) -> Relation:
    """Make one relation of those that the old clauses have to the new ones."""
    found = [_best(each, new) for each in old]
    relations = {one for one, _ in found}
    if relations <= {Relation.SAME, Relation.REFINED}:
        used = {id(by) for _, by in found}
        whole = Relation.REFINED not in relations and all(id(each) in used for each in new)
        return Relation.SAME if whole else Relation.REFINED
    turned = next((one for one in (Relation.NEGATED, Relation.CHANGED) if one in relations), None)
    if turned and not eventful and _covers(old, new, [one for one, _ in found]):
        return turned
    return Relation.OTHER


_EVENTFUL = frozenset({"episodic", "history"})  # what happened is not undone by what happened later


def _clauses(text: str) -> list[Clause]:
    """Read a text's sentences, each once."""
    lines = text.replace("\r", "\n").split("\n")
    said = (part for line in lines[: 4 * _SENTENCES] for part in sentences(one_line(line)))
    read = (clause(part) for part in dict.fromkeys(said))
    return [each for each in read if each.content]


def _best(old: Clause, new: Sequence[Clause]) -> tuple[Relation, Clause | None]:
    """Find the new clause that is nearest to an old one; one that says the same settles it."""
    found = [(_compare(each, old), each) for each in new]
    for wanted in (Relation.SAME, Relation.REFINED, Relation.NEGATED, Relation.CHANGED):
        for one, each in found:
            if one is wanted:
                return one, each
    return Relation.OTHER, None


def _covers(old: Sequence[Clause], new: Sequence[Clause], found: Sequence[Relation]) -> bool:
    """Say whether what changed, and what the new text says again, is most of what the old one says."""
    all_words = frozenset[str]().union(*(each.content for each in old))
    told = frozenset[str]().union(*(each.content for each in new))
    told = told.union(
        *(each.content for each, one in zip(old, found, strict=True) if one is not Relation.OTHER)
    )
    return len(all_words & told) >= _COVERED * len(all_words)


def _compare(new: Clause, old: Clause) -> Relation:
    if max(len(new.tokens), len(old.tokens)) > _TOKENS or new.event or old.event:
        return Relation.SAME if new == old else Relation.OTHER
    if new.denies != old.denies:
        return Relation.NEGATED if _denies(new, old) else Relation.OTHER
    mine, theirs = _bare(new.tokens), _bare(old.tokens)
    if [*map(_key, mine)] == [*map(_key, theirs)] or _turned(new, old):
        return Relation.SAME
    if new.lost & _values(old):
        return _replaced(new, old)
    return _aligned(mine, theirs, role=new.role and old.role)


def _bare(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.kind != NOT]


def _turned(new: Clause, old: Clause) -> bool:
    """Say whether two clauses say one thing from two sides: X uses R, R is used for X."""
    exact = _exact(new)
    return (
        new.content == old.content
        and exact == _exact(old)
        and len(exact) == 1
        and exact <= _marked_by(new)
        and exact <= _marked_by(old)
    )


def _marked_by(one: Clause) -> frozenset[str]:
    pairs = zip(one.tokens, one.tokens[1:], strict=False)
    return frozenset(second.text for first, second in pairs if first.kind == MARK)


def _values(one: Clause) -> frozenset[str]:
    """Give what stands where a value stands, and what is exact."""
    return _exact(one) | _marked_by(one)


def _denies(new: Clause, old: Clause) -> bool:
    """Say whether one clause denies what the other says, and nothing beside it."""
    mine, theirs = new.content, old.content
    shared = len(mine & theirs)
    if not shared or not _exact(new) <= theirs:
        return False
    if any(token.text in {"only", "nur", "just"} for token in (*new.tokens, *old.tokens)):
        return False
    dice = 2 * shared / (len(mine) + len(theirs))
    return dice >= _DICE if theirs <= mine else (mine <= theirs and dice > _LEAST) or dice >= _SURELY


def _exact(one: Clause) -> frozenset[str]:
    return frozenset(token.text for token in one.tokens if token.kind in {VALUE, NAME})


def _replaced(new: Clause, old: Clause) -> Relation:
    """Judge a clause that itself says which value it gives up."""
    ends = [at for at, token in enumerate(old.tokens) if token.text in new.lost]
    mine = new.content - new.lost
    rest = old.content - new.lost
    stands = any(_is_value_at(old.tokens, at, at + 1) for at in ends)
    enough = len(mine & rest) >= 1 or not rest
    return Relation.CHANGED if stands and enough and mine - old.content else Relation.OTHER


def _aligned(new: list[Token], old: list[Token], *, role: bool) -> Relation:
    """Lay two clauses side by side: equal but for values, or one longer at its end."""
    matcher = SequenceMatcher(None, [_key(one) for one in new], [_key(one) for one in old], autojunk=False)
    codes = matcher.get_opcodes()
    runs = [((new, a, b), (old, c, d)) for what, a, b, c, d in codes if what != "equal"]
    runs = [(mine, theirs) for mine, theirs in runs if _told(mine) or _told(theirs)]
    shared = sum(len(_content(new[a:b])) for what, a, b, _, _ in codes if what == "equal")
    slots = [(mine, theirs) for mine, theirs in runs if _told(mine) and _told(theirs)]
    more = [mine for mine, theirs in runs if not _told(theirs)]
    less = [theirs for mine, theirs in runs if not _told(mine)]
    if slots:
        holds = not (more or less) and _are_changes(slots, role=role)
        return Relation.CHANGED if shared and holds else Relation.OTHER
    if (more and less) or not all(_is_addition(*run) for run in (*more, *less)):
        return Relation.OTHER
    if less:
        return Relation.SAME if shared >= 4 * (len(_content(old)) - shared) else Relation.OTHER
    return Relation.REFINED if more else Relation.SAME


def _told(run: _Run) -> list[Token]:
    tokens, start, end = run
    return _content(tokens[start:end])


def _are_changes(slots: Sequence[tuple[_Run, _Run]], *, role: bool) -> bool:
    """Say whether values stand in values' places; of several, all must be numbers."""
    if len(slots) > 1 and not all(_is_number(_told(mine)) for mine, _ in slots):
        return False
    return all(_is_slot(mine, theirs, role=role) for mine, theirs in slots)


def _key(token: Token) -> str:
    return token.text if token.kind in {VALUE, NAME, WORD} else token.kind


def _content(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.kind in {VALUE, NAME, WORD}]


def _is_addition(tokens: list[Token], start: int, end: int) -> bool:
    """Say whether a run only adds at the end, and narrows nothing."""
    if end != len(tokens):
        return False
    first = (
        tokens[start] if tokens[start].kind in {TAIL, OF} else tokens[start - 1] if start else tokens[start]
    )
    return not (first.kind == OF or first.text in _NARROWS)


def _is_slot(mine: _Run, theirs: _Run, *, role: bool) -> bool:
    """Say whether one value stands where another one stood."""
    left, right = (_content(tokens[start:end]) for tokens, start, end in (mine, theirs))
    if max(len(left), len(right)) > _LONGEST or not (_is_value_at(*mine) and _is_value_at(*theirs)):
        return False
    if _is_number(left) and _is_number(right) and _may_change(left, right, role=role):
        return all(_is_measure(tokens[:start]) for tokens, start, _ in (mine, theirs))
    if any(_kind(one) and _kind(one) == _kind(other) for one in left for other in right):
        return True
    if role or all(_is_purposed(tokens, end) for tokens, _, end in (mine, theirs)):
        return all(_is_led(tokens[:start]) for tokens, start, _ in (mine, theirs))
    named = all(any(one.kind in {VALUE, NAME} for one in side) for side in (left, right))
    return named and all(_leads(tokens[:start]) == "≡" for tokens, start, _ in (mine, theirs))


def _is_value_at(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Say whether a run stands where a value stands: not as the subject, nor as what narrows it."""
    run, before, after = tokens[start:end], tokens[:start], tokens[end:]
    led = bool(before) and before[-1].kind == MARK
    if not (_content(before) or led or any(_is_exact_kind(token) for token in run)) and after:
        return False
    if any(token.behind == "topic" or token.text == "topic" for token in (*run, *after)):
        return False
    if before and before[-1].text == "of" and not any(token.text[0].isdigit() for token in run):
        return False
    ahead = any(token.kind == MARK or token.behind or token.text == "topic" for token in (*before, *run))
    return ahead or not any(token.kind == MARK and token.text != "object" for token in after)


def _is_number(run: Sequence[Token]) -> bool:
    return any(token.kind == VALUE and token.text[:1].isdigit() for token in run)


def _may_change(left: Sequence[Token], right: Sequence[Token], *, role: bool) -> bool:
    """Say whether numbers count the same, or versions of two things that can only play one role."""
    named = all(any(token.kind == NAME for token in run) for run in (left, right))
    return (role and named) or _unit(left) == _unit(right)


def _unit(run: Sequence[Token]) -> frozenset[str]:
    """Give what a number counts; sizes and times are compared whatever their unit."""
    return frozenset(token.text for token in run if token.kind != VALUE) - _UNITS


def _is_exact_kind(token: Token) -> bool:
    return token.kind == VALUE or _kind(token) != ""


def _is_measure(before: Sequence[Token]) -> bool:
    """Say whether a number behind these tokens measures something; many only say which one is meant."""
    return bool(_content(before)) and before[-1].text not in _COUNTED


def _is_led(before: Sequence[Token]) -> bool:
    return _leads(before) != ""


def _leads(before: Sequence[Token]) -> str:
    """Give the mark that leads to what stands behind these tokens: `≡` for being, `→` for use."""
    if not before:
        return ""
    last = before[-1]
    if last.kind == MARK:
        return "→" if last.text == "→" else "≡"
    if last.kind == TAIL and last.text in _INTO:
        return "≡"
    return "→" if last.text == "topic" or last.behind else ""


def _is_purposed(tokens: Sequence[Token], end: int) -> bool:
    """Say whether it is said what something is used for: of that there is one."""
    after = tokens[end:]
    return len(after) > 1 and after[0].text == "of" and bool(_content(after))


def _kind(token: Token) -> str:
    """Name the small set that a word is one of, "" for none."""
    if token.text.startswith("weekday "):
        return "weekday"
    return _SETS.get(token.text, "")


_LONGEST = 4  # words of one value
_INTO = words("to on in at with via by auf in nach bei am mit")
_UNITS = words("b kb mb gb tb kib mib gib ms s min h d % week month year k m")
_NARROWS = words("when if unless except only while during for in wenn falls außer nur während für of bei")
_COUNTED = words(
    "#  step issue pr ticket phase server shard worker migrat chapter section line row sprint part "
    "task bug releas version "
    "build run milesto round week day page figure test case rule item option room commit number "
    "schritt phas 第 步 号 제 단계 이슈"
)
_SETS = {
    stem: name
    for name, stems in (
        (
            "often",
            "hourly daily nightly weekly monthly yearly hour dai night week month year hourl nightl monthl",
        ),
        ("indent", "tab spac space tabs spaces"),
        ("theme", "dark light"),
        ("bool", "true false"),
        ("level", "debug info warn warning error"),
    )
    for stem in stems.split()
}
