"""Search as people and agents meet it: what was found, weighed by what is known about each entry.

Engines score what stands in the text. Here the score is multiplied by weights near 1 for trust, freshness,
importance, scope and time, so that they decide between entries that fit about equally well and never lift
one that does not fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date as Date  # noqa: N812 - `date` is a field's own name here
from datetime import datetime, time
from math import prod

from lamina import errors
from lamina.formats.freshness import Freshness, freshness, state_freshness
from lamina.formats.frozen import NamedTuple
from lamina.formats.layers import BY_ABBREVIATION, layer_named
from lamina.formats.scope import GLOBAL, Scope, parse_scope
from lamina.index import words
from lamina.index.base import CURRENT, TRUSTS, Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.index.base import Document, Match
    from lamina.index.engine import Index
    from lamina.pipeline.when import Span

SNIPPET = 320
_DEPTH = 50
_TAIL = 0.05  # what scores less than this share of the best shares only its commonest words

_TRUST = {"approved": 1.0, "candidate": 0.85, "superseded": 0.5, "forgotten": 0.4}
_FRESHNESS = {"fresh": 1.0, "aging": 0.97, "stale": 0.88, "expired": 0.7, "unverified": 0.95}
_IMPORTANCE = {1: 0.92, 2: 0.96, 3: 1.0, 4: 1.04, 5: 1.08}
_HERE, _ELSEWHERE = 1.05, 0.95
_RECENT, _RECENT_DAYS = 0.05, 60
_THEN = 1.25  # it is of the days that the query speaks of
_NAMED = 4.0  # the query is this entry's id, or an earlier one
_SAME_TOPIC, _SAME_LAYER = 0.97, 0.99
_PLACES = 500  # of words in one text, to find where most stand together
_TIMES = frozenset(
    "day days week weeks month months year years ago yesterday january february march april may june july "
    "august september october november december jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_TIME_SIGNS = frozenset("月日号號天周週年前昨去禮礼期월주달년일제")
_TIME_PHRASES = ("in 20", "おととい", "きのう", "그저께")
_APART = str.maketrans(dict.fromkeys("?!.,;:()[]\"'“”‘’/-…", " "))
_FREE = 3  # so many of one topic or layer cost nothing


class Hit(NamedTuple):
    """One entry found. `parts` add up to a sum that `priors`, those that are not 1, make `score`."""

    id: str
    scope: str
    layer: str
    topic: str
    heading: str
    snippet: str
    file: str
    line: int
    score: float
    parts: Mapping[str, float]
    trust: str
    freshness: str
    age_days: int | None
    source: str
    priors: Mapping[str, float] = {}


class Found(NamedTuple):
    """What a search gave, best first, and which engines ran; `terms` were looked for, `dropped` were not.

    `worth` says how rare each term is, `weights` what each signal was multiplied with.
    """

    query: str
    engines: tuple[str, ...]
    hits: tuple[Hit, ...]
    terms: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    worth: Mapping[str, float] = {}
    weights: Mapping[str, float] = {}


def question(  # noqa: PLR0913 - one argument for each filter of the command
    text: str,
    *,
    here: Scope | None = None,
    scope: str = "",
    layers: Iterable[str] = (),
    topic: str = "",
    trust: Iterable[str] = (),
    since: Date | None = None,
    until: Date | None = None,
    branch: str = "",
    limit: int = 10,
) -> Query:
    """Make a query from what a caller said, checked.

    `scope` is "" (the workspace `here` and global), `all`, `global`, `workspace` (`here` alone) or a scope's
    name. `trust` is empty (approved and candidates), states, or `all`. Raises UsageError for a blank text and
    for a name that does not exist.
    """
    if not text.strip():
        raise errors.UsageError("the query is blank", "say what to look for: lamina search WORDS")
    if limit < 1:
        raise errors.UsageError(f"a limit of {limit} shows nothing", "use --limit 1 or more")
    return Query(
        text,
        limit,
        _scopes(scope, here),
        tuple(layer_named(name).name for name in layers),
        topic,
        _trust(trust),
        since,
        until,
        frozenset({branch} if branch else ()),
    )


def search(index: Index, query: Query, *, today: Date, here: Scope | None = None) -> Found:
    """Ask the index and weigh what it found; equal scores keep the index's order."""
    then = _days_meant(query.text, today)
    text = _without(query.text, then.said) if then else query.text
    answer = index.search(query._replace(text=text, limit=max(_DEPTH, 5 * query.limit)))
    best = max((match.score for match in answer.matches), default=0.0)
    fitting = [match for match in answer.matches if match.score >= _TAIL * best]
    rough = _sorted(_weigh(match, query.text, today, here, then, exact=False) for match in fitting)
    chosen = _mixed(rough, 2 * query.limit)
    weighed = _sorted(_weigh(each.match, query.text, today, here, then) for each in chosen)
    needles = _needles(text)
    hits = [_hit(each, needles) for each in _mixed(weighed, query.limit)]
    return Found(
        query.text, answer.engines, tuple(hits), answer.terms, answer.dropped, answer.notes, answer.worth,
        answer.weights,
    )  # fmt: skip


def snippet(text: str, query: str, width: int = SNIPPET) -> str:
    """Return the whole text up to `width` characters, else that many around the best match."""
    return text if len(text) <= width else _cut(text, _needles(query), width)


def _cut(text: str, needles: Sequence[str], width: int) -> str:
    """Return a part of a longer text in whole words, with dots where it was cut."""
    start = _best_start(text, needles, width)
    room = width - (start > 0)
    end = len(text) if start + room >= len(text) else start + room - 1
    if start:
        start = _word_start(text, start)
    if end < len(text):
        end = _word_end(text, end)
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")


class _Weighed(NamedTuple):
    match: Match
    score: float
    weights: Mapping[str, float]
    grade: Freshness


def _sorted(weighed: Iterable[_Weighed]) -> list[_Weighed]:
    return sorted(weighed, key=lambda each: -each.score)


def _days_meant(text: str, today: Date) -> Span | None:
    """Return the days that a query speaks of; what certainly names none costs next to nothing."""
    lower = text.lower()
    if not (
        _TIMES & set(lower.translate(_APART).split())
        or _TIME_SIGNS & set(lower)
        or ("20" in lower and "-" in lower)
        or any(phrase in lower for phrase in _TIME_PHRASES)
    ):
        return None
    from lamina.pipeline.when import days_meant

    return days_meant(lower, today)


def _without(text: str, said: str) -> str:
    """Return a query without what only names its time, unless nothing else is asked."""
    at = text.lower().find(said)
    if not said or len(text) != len(text.lower()) or at < 0:
        return text
    rest = f"{text[:at]} {text[at + len(said) :]}"
    return rest if any(not term.weak for term in words.parse(rest)) else text


def _weigh(
    match: Match, text: str, today: Date, here: Scope | None, then: Span | None, *, exact: bool = True
) -> _Weighed:
    document = match.document
    grade = grade_of(document, today, exact=exact)
    weights = {
        "trust": _TRUST.get(document.trust, 1.0),
        "freshness": _FRESHNESS.get(grade.grade, 1.0),
        "importance": _IMPORTANCE.get(document.importance, 1.0),
        "scope": _scope_weight(document.scope, here),
        "time": _time_weight(document.date, today) if then is None else _then_weight(document.date, then),
        "id": _NAMED if _is_named(document, text) else 1.0,
    }
    return _Weighed(match, match.score * prod(weights.values()), weights, grade)


def _is_named(document: Document, text: str) -> bool:
    """Tell whether a query is the entry's id, or an old id that it keeps as an alias."""
    wanted = text.strip().lower()
    if wanted == document.id.lower() != "":
        return True
    return _is_id(wanted) and wanted in document.more.lower().replace(",", " ").split()


def _is_id(text: str) -> bool:
    """Tell whether a text is made like an id; other words with dashes stand among an entry's fields, too."""
    parts = text.rsplit("-", 2)
    return len(parts) == 3 and parts[1] in BY_ABBREVIATION and parts[2].isdecimal()


def grade_of(document: Document, today: Date, *, exact: bool = True) -> Freshness:
    """Return how far a document can still be relied on today.

    Looking for wording that binds it to its day is dear; without `exact` that is left out.
    """
    if document.layer == "state":
        verified = datetime.combine(document.verified, time()) if document.verified else None
        return state_freshness(verified, datetime.combine(today, time()))
    volatility = document.volatility or (None if exact else "normal")
    text = f"{document.heading}\n{document.text}"
    return freshness(document.date, document.verified, document.valid_until, volatility, text, today)


def _scope_weight(scope: str, here: Scope | None) -> float:
    if here is not None and scope == here.name and scope != GLOBAL:
        return _HERE
    return 1.0 if scope == GLOBAL or here is None else _ELSEWHERE


def _time_weight(day: Date | None, today: Date) -> float:
    """Return a little more than 1 for what is recent; a day to come counts as today."""
    if day is None:
        return 1.0
    age = max(0, (today - day).days)
    return 1.0 + _RECENT * float(0.5 ** (age / _RECENT_DAYS))


def _then_weight(day: Date | None, then: Span) -> float:
    return _THEN if day is not None and then.first <= day <= then.last else 1.0


def _mixed(weighed: Sequence[_Weighed], limit: int) -> Iterable[_Weighed]:
    """Choose the best ones so that no topic and no layer fills the list while others fit nearly as well."""
    left = list(weighed)
    topics: dict[tuple[str, str, str], int] = {}
    layers: dict[str, int] = {}
    for _ in range(min(limit, len(left))):
        at, best = 0, -1.0
        for n, each in enumerate(left):
            if each.score <= best:
                break  # sorted, and crowding only lowers
            d = each.match.document
            same_topic, same_layer = topics.get((d.scope, d.layer, d.topic), 0), layers.get(d.layer, 0)
            factor = _SAME_TOPIC ** max(0, same_topic - _FREE) * _SAME_LAYER ** max(0, same_layer - _FREE)
            if each.score * factor > best:
                at, best = n, each.score * factor
        d = left[at].match.document
        topics[d.scope, d.layer, d.topic] = topics.get((d.scope, d.layer, d.topic), 0) + 1
        layers[d.layer] = layers.get(d.layer, 0) + 1
        yield left.pop(at)


def _hit(each: _Weighed, needles: Sequence[str]) -> Hit:
    d = each.match.document
    priors = {name: _short(weight) for name, weight in each.weights.items() if weight != 1.0}
    shown = d.text if len(d.text) <= SNIPPET else _cut(d.text, needles, SNIPPET)
    parts = {name: _short(value) for name, value in each.match.parts.items()}
    return Hit(
        d.id, d.scope, d.layer, d.topic, d.heading, shown, d.file, d.line, _short(each.score),
        parts, d.trust, each.grade.grade, each.grade.age_days, d.source, priors,
    )  # fmt: skip


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def _scopes(scope: str, here: Scope | None) -> tuple[str, ...]:
    local = here.name if here is not None and here.name != GLOBAL else ""
    if not scope:
        return (local, GLOBAL) if local else (GLOBAL,)
    if scope == "all":
        return ()
    if scope == "workspace":
        if not local:
            raise errors.UnknownScope("there is no workspace here", "name one: --scope workspace:KEY")
        return (local,)
    return (parse_scope(scope).name,)


def _trust(names: Iterable[str]) -> frozenset[str]:
    chosen = frozenset(names)
    if not chosen:
        return CURRENT
    unknown = sorted(chosen - TRUSTS - {"all"})
    if unknown:
        raise errors.UsageError(
            f"no trust is called {unknown[0]!r}", f"use all or: {', '.join(sorted(TRUSTS))}"
        )
    return TRUSTS if "all" in chosen else chosen


def _needles(query: str) -> list[str]:
    terms = words.parse(query)
    strong = [term for term in terms if not term.weak] or list(terms)
    return list(dict.fromkeys(needle for term in strong for needle in term.needles))[:60]


def _best_start(text: str, needles: Sequence[str], width: int) -> int:
    """Return where a window holds most different words; 0 when there are none."""
    lower = text.lower() if len(text.lower()) == len(text) else text
    found: list[tuple[int, int, int]] = []
    for number, needle in enumerate(needles):
        at = lower.find(needle.lower())
        while at >= 0 and len(found) < _PLACES:
            if not (needle[0].isascii() and at and lower[at - 1].isalnum()):
                found.append((at, at + len(needle), number))
            at = lower.find(needle.lower(), at + 1)
    if not found:
        return 0
    found.sort()
    best, first, last = 0, found[0][0], found[0][1]
    tail = 0
    inside: dict[int, int] = {}
    for start, end, number in found:
        inside[number] = inside.get(number, 0) + 1
        while end - found[tail][0] > width * 3 // 4 and found[tail][0] < start:
            gone = found[tail][2]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            tail += 1
        if len(inside) > best:
            best, first, last = len(inside), found[tail][0], end
    start = first - max(0, (width - (last - first)) // 3)
    return max(0, min(start, len(text) - width + 1))


def _word_start(text: str, at: int) -> int:
    """Return the next beginning of a word, or nearly `at` itself where words have no spaces."""
    if text[at - 1].isspace():
        return at
    for n in range(at, min(at + 40, len(text))):
        if text[n].isspace():
            return n + 1
    return at


def _word_end(text: str, at: int) -> int:
    if text[at].isspace():
        return at
    for n in range(at, max(at - 40, 0), -1):
        if text[n - 1].isspace():
            return n - 1
    return at
