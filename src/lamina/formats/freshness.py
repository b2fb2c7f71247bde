"""How far an entry, a section of the state or the working head can still be relied on.

Everything follows from the file and the day of asking.
"""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  # `date` is a field's own name here
from datetime import datetime, timedelta

from lamina.formats.frozen import NamedTuple

FRESH, AGING, STALE, EXPIRED, UNVERIFIED = "fresh", "aging", "stale", "expired", "unverified"
NOT_STARTED = "not started"

WINDOWS = {"stable": 365, "normal": 90, "volatile": 3}  # days

_STATE = timedelta(days=1), timedelta(days=3)
_WORKING = timedelta(hours=4), timedelta(hours=24)

# Wording that says "for now". A port or a version alone does not. Looked for one by one: a pattern of all of
# them takes longer to compile than a whole search.
_BOUND = (
    "today", "tonight", "tomorrow", "currently", "temporarily", "for now", "right now", "as of now",
    "at the moment", "at present", "this morning", "this afternoon", "this evening", "this week",
    "this weekend", "this month", "this sprint", "in progress", "wip", "work in progress", "ongoing",
    "heute", "derzeit", "momentan", "zurzeit", "diese woche", "vorübergehend",
    "aujourd'hui", "actuellement", "en ce moment", "cette semaine", "temporairement", "en cours",
    "hoy", "actualmente", "ahora mismo", "esta semana", "temporalmente", "en curso",
)  # fmt: skip
_BOUND_ANYWHERE = (
    "今天", "今日", "今晚", "目前", "当前", "當前", "现在", "現在", "本周", "這週", "这周", "今週",
    "暂时", "暫時", "一時的", "正在", "进行中", "進行中", "작업 중", "오늘", "현재",
)  # fmt: skip


class Freshness(NamedTuple):
    """A grade and the age in whole days; None when nothing says how old it is."""

    grade: str
    age_days: int | None = None

    @property
    def tag(self) -> str:
        """The mark shown beside an item: `[STALE 5d]`, `[UNVERIFIED]`; "" while fresh."""
        if self.grade == FRESH:
            return ""
        if self.age_days is None or self.grade == EXPIRED:
            return f"[{self.grade.upper()}]"
        return f"[{self.grade.upper()} {self.age_days}d]"


def freshness(
    date: Date | None,
    verified: Date | None,
    valid_until: Date | None,
    volatility: str | None,
    text: str,
    today: Date,
) -> Freshness:
    """Grade an entry by its fields.

    Age counts from `verified`, else `date`; a day to come counts as today. `valid_until` is the last day on
    which the entry holds. It is aging from two thirds of its window and stale behind the window. `text`
    (heading and body) is looked at only when no known volatility is given.
    """
    since = verified or date
    age = None if since is None else max(0, (today - since).days)
    if valid_until is not None and today > valid_until:
        return Freshness(EXPIRED, age)
    if age is None:
        return Freshness(UNVERIFIED)
    window = WINDOWS[effective_volatility(volatility, text)]
    if age > window:
        return Freshness(STALE, age)
    return Freshness(AGING if age * 3 >= window * 2 else FRESH, age)


def effective_volatility(volatility: str | None, text: str) -> str:
    """Give the volatility that counts: the one said, else what the wording hints, else `normal`."""
    if volatility in WINDOWS:
        return volatility
    return "volatile" if is_time_bound(text) else "normal"


def is_time_bound(text: str) -> bool:
    """Tell whether the wording binds a text to its day."""
    plain = text.casefold()
    if any(phrase in plain and _stands(phrase, plain) for phrase in _BOUND):
        return True
    return not plain.isascii() and any(phrase in plain for phrase in _BOUND_ANYWHERE)


def state_freshness(verified: datetime | None, now: datetime) -> Freshness:
    """Grade a section of `state.md`: fresh up to 1 day, aging up to 3; without a time unverified."""
    return _graded(verified, now, _STATE) if verified else Freshness(UNVERIFIED)


def working_freshness(updated: datetime | None, now: datetime) -> Freshness:
    """Grade `working.md`: fresh up to 4 hours, aging up to 24; without a time not started."""
    return _graded(updated, now, _WORKING) if updated else Freshness(NOT_STARTED)


def _graded(since: datetime, now: datetime, limits: tuple[timedelta, timedelta]) -> Freshness:
    age = max(timedelta(0), now - since)
    grade = FRESH if age <= limits[0] else AGING if age <= limits[1] else STALE
    return Freshness(grade, age.days)


def _stands(phrase: str, text: str) -> bool:
    """Tell whether a phrase stands in a text as words of its own."""
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if not (_in_word(text[at - 1 : at]) or _in_word(text[end : end + 1])):
            return True
        at = text.find(phrase, at + 1)
    return False


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"
