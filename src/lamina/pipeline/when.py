"""Which days a question speaks of: "last week", "in March", 上周, 先月, 3월 초.

English, Chinese, Japanese and Korean. A month without a year is the latest one that has begun. What cannot be
told for sure ("may", "recently", "before the release") is no time.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache

from lamina.formats.frozen import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MONTHS = "january february march april may june july august september october november december".split()
_SHORT = "jan feb mar apr jun jul aug sep sept oct nov dec".split()
_NUMERALS = "一 二 三 四 五 六 七 八 九 十 十一 十二".split()
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple of": 2}
_DAYS = {
    "day": 1, "week": 7, "month": 30, "year": 365,
    "天": 1, "日": 1, "周": 7, "星期": 7, "週間": 7, "个月": 30, "個月": 30, "か月": 30,
    "ヶ月": 30, "年": 365,
    "일": 1, "주": 7, "달": 30, "개월": 30, "년": 365,
}  # fmt: skip
_LONGEST = 4_000  # characters of a question that are read; some thirty patterns go over them
_SLACK = 2  # days around something said to be so long ago, for each seven of its length one more


class Span(NamedTuple):
    """Days from `first` to `last`, both included.

    `said` is what named them, where it says nothing else: "last week" does, "March" may stand in a text.
    """

    first: date
    last: date
    said: str = ""


def days_meant(text: str, today: date) -> Span | None:
    """Return the days that a question speaks of, None if it names none."""
    lower = text[:_LONGEST].lower()
    for pattern, meant in _readers():
        for match in re.finditer(pattern, lower):
            try:
                span = meant(match, today)
            except (OverflowError, ValueError):
                continue  # before or after the years that a calendar has
            if span is not None:
                return span._replace(said="" if meant in (_dated, _week_of, _in_year) else match[0])
    return None


@cache
def _readers() -> list[tuple[str, Callable[[re.Match[str], date], Span | None]]]:
    """Return patterns with what they mean; the closer one first."""
    month = "|".join(sorted([*_MONTHS, *_SHORT], key=len, reverse=True))
    sure = "|".join(sorted([each for each in [*_MONTHS, *_SHORT] if each != "may"], key=len, reverse=True))
    numeral = "|".join(sorted(_NUMERALS, key=len, reverse=True))
    count = "|".join([r"\d{1,3}", *_COUNTS])
    cjk = rf"(?:(?P<year>\d{{4}})\s*[年년]\s*)?(?P<month>1[0-2]|0?[1-9]|{numeral})\s*[月월]"
    part = r"(?P<part>初|上旬|中旬|下旬|底|末|\s*초|\s*중순|\s*하순|\s*말)?"
    return [
        (r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b", _dated),
        (r"\b(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])\b", _dated),
        (
            rf"(?P<nth>first|second|third|fourth|last) week of (?P<name>{month})\b(?: (?P<year>\d{{4}}))?",
            _week_of,
        ),
        (
            rf"\b(?P<part>early|mid|late|beginning of|end of)[ -](?P<name>{month})\b(?: (?P<year>\d{{4}}))?",
            _dated,
        ),
        (
            rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<name>{month})\b(?:,? (?P<year>\d{{4}}))?",
            _dated,
        ),
        (rf"\b(?P<name>{month}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,? (?P<year>\d{{4}}))?", _dated),
        (rf"\b(?P<name>{month}),? (?P<year>\d{{4}})\b", _dated),
        (rf"\b(?:in|of|during|since|this|last) (?P<name>{month})\b", _dated),
        (rf"\b(?P<name>{sure})\b", _dated),
        (rf"{cjk}\s*(?P<day>\d{{1,2}})\s*[日号號일]", _dated),
        (rf"{cjk}份?{part}", _dated),
        (rf"\b(?P<count>{count}) (?P<unit>day|week|month|year)s? ago\b", _ago),
        (
            r"(?P<count>\d{1,3})\s*(?P<unit>天|日|周|星期|週間|个月|個月|か月|ヶ月|年)\s*(?:之前|以前|前)",
            _ago,
        ),
        (r"(?P<count>\d{1,3})\s*(?P<unit>일|주|달|개월|년)\s*전", _ago),
        (r"\bday before yesterday\b|前天|一昨日|おととい|그저께|그제", _back(2, 2)),
        (r"\byesterday\b|昨天|昨日|きのう|어제", _back(1, 1)),
        (r"\blast week\b|上个?星期|上個星期|上个?礼拜|上周|上週|先週|지난\s*주", _last_week),
        (r"\bthis week\b|这周|本周|這週|本週|今週|이번\s*주", _this_week),
        (r"\blast month\b|上个?月|上個月|先月|지난\s*달", _last_month),
        (r"\bthis month\b|这个?月|這個月|本月|今月|이번\s*달", _this_month),
        (r"\blast year\b|去年|昨年|작년", lambda _match, today: _year(today.year - 1)),
        (r"\bin (?P<year>20\d\d)\b|(?P<cjk>20\d\d)\s*[年년]", _in_year),
    ]


def _dated(match: re.Match[str], today: date) -> Span | None:
    """Return a day, a month or a part of one."""
    said = match.groupdict()
    month = _month(said.get("name") or said.get("month") or "")
    year = int(said["year"]) if said.get("year") else None
    day = int(said["day"]) if said.get("day") else None
    if year is None:
        year = today.year if (month, day or 1) <= (today.month, today.day) else today.year - 1
    try:
        first = date(year, month, day or 1)
    except ValueError:
        return None
    if day:
        return Span(first, first)
    last = _month_end(first)
    part = (said.get("part") or "").strip()
    if part in ("early", "beginning of", "初", "上旬", "초"):
        return Span(first, first + timedelta(days=9))
    if part in ("mid", "中旬", "중순"):
        return Span(first + timedelta(days=9), first + timedelta(days=20))
    if part in ("late", "end of", "底", "末", "下旬", "하순", "말"):
        return Span(last - timedelta(days=10), last)
    return Span(first, last)


def _month(said: str) -> int:
    if said.isdecimal():
        return int(said)
    if said in _NUMERALS:
        return _NUMERALS.index(said) + 1
    return next(at for at, name in enumerate(_MONTHS, 1) if name.startswith(said[:3]))


def _week_of(match: re.Match[str], today: date) -> Span | None:
    month = _dated(match, today)
    if month is None:
        return None
    nth = ("first", "second", "third", "fourth").index(match["nth"]) if match["nth"] != "last" else -1
    first = month.last - timedelta(days=6) if nth < 0 else month.first + timedelta(days=7 * nth)
    return Span(first, first + timedelta(days=6))


def _ago(match: re.Match[str], today: date) -> Span:
    count = int(match["count"]) if match["count"].isdecimal() else _COUNTS[match["count"]]
    length = count * _DAYS[match["unit"]]
    slack = timedelta(days=min(_SLACK + length // 7, 60) if length > 1 else 0)
    middle = today - timedelta(days=length)
    return Span(middle - slack, min(today, middle + slack))


def _back(most: int, least: int) -> Callable[[re.Match[str], date], Span]:
    return lambda _match, today: Span(today - timedelta(days=most), today - timedelta(days=least))


def _last_week(_match: re.Match[str], today: date) -> Span:
    monday = today - timedelta(days=today.weekday() + 7)
    return Span(monday, monday + timedelta(days=6))


def _this_week(_match: re.Match[str], today: date) -> Span:
    return Span(today - timedelta(days=today.weekday()), today)


def _last_month(_match: re.Match[str], today: date) -> Span:
    last = today.replace(day=1) - timedelta(days=1)
    return Span(last.replace(day=1), last)


def _this_month(_match: re.Match[str], today: date) -> Span:
    return Span(today.replace(day=1), today)


def _in_year(match: re.Match[str], _today: date) -> Span:
    return _year(int(match["year"] or match["cjk"]))


def _year(year: int) -> Span:
    return Span(date(year, 1, 1), date(year, 12, 31))


def _month_end(first: date) -> date:
    if first.month == 12:
        return first.replace(day=31)
    return first.replace(month=first.month + 1, day=1) - timedelta(days=1)
