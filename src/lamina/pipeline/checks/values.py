"""Reads values in texts as what they mean: numbers in any notation, times and sizes in one unit, days."""

from __future__ import annotations

import re
from collections.abc import Iterator

_DATE = re.compile(r"(?<!\d)(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?!\d)")
_DAY_FIRST = re.compile(r"(?<![\d.])(\d{1,2})[./-](\d{1,2})[./-](\d{4})(?![\d.])")
_NAMED = re.compile(
    r"(?<!\d)(?:(\d{1,2})(?:st|nd|rd|th|\.|º)?[ ](?:de[ ])?([^\W\d_]{3,10})\.?,?[ ](?:de[ ])?(\d{4})"
    r"|([^\W\d_]{3,10})\.?[ ](\d{1,2})(?:st|nd|rd|th)?,?[ ](\d{4}))(?!\d)"
)
NUMBER = re.compile(r"\d+(?:[.,'’_\u00a0\u202f\u2009 ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?")
_GROUPED = re.compile(r"\d+(?:[.,]\d{3})+(?:[.,]\d+)?")
_UNIT = re.compile(
    r"[ \u00a0]?(k|thousand|mio|million|m|mrd|billion|bn|万|億|亿|千|百万|만)?(?![A-Za-z0-9_])", re.IGNORECASE
)
_SCALES = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mio": 1e6, "million": 1e6, "mrd": 1e9, "billion": 1e9, "bn": 1e9,
    "千": 1e3, "万": 1e4, "만": 1e4, "百万": 1e6, "億": 1e8, "亿": 1e8,
}  # fmt: skip
_MONTH_NAMES = (
    "jan; feb fév fev; mar mär mars; apr avr abr; may mai mag; jun juin giu; jul juil lug; aug aoû ago; "
    "sep set; oct okt ott out; nov; dec dez déc dic"
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.split(";"), 1) for name in names.split()}
_SPELLED = (
    "zero null zéro cero; one once eins eine einen un une uno una; two twice zwei deux dos due dois; "
    "three drei trois tres tre três; four vier quatre cuatro quattro quatro; five fünf cinq cinco cinque; "
    "six sechs seis sei; seven sieben sept siete sette sete; eight acht huit ocho otto oito; "
    "nine neun neuf nueve nove; ten zehn dix diez dieci dez; eleven elf onze undici; "
    "twelve dozen zwölf douze doce dodici doze"
)
NUMBER_WORDS = {word: number for number, words in enumerate(_SPELLED.split(";")) for word in words.split()}
HAN = {
    "零": 0,
    "一": 1,
    "两": 2,
    "兩": 2,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
}


def values_of(match: re.Match[str]) -> set[float]:
    """Give what a number can mean: separators are read both ways, a scale behind it counts or not."""
    text = re.sub(r"['’_\s]", "", match[0])
    forms = {text.replace(",", ".")}
    if _GROUPED.fullmatch(text):
        forms |= {text.replace(",", ""), text.replace(".", "").replace(",", ".")}
    values = set()
    for form in forms:
        try:
            values.add(float(form))
        except ValueError:
            continue
    unit = _UNIT.match(match.string, match.end())
    scale = _SCALES.get((unit[1] or "").lower()) if unit else None
    return values | {value * scale for value in values} if scale else values


_MEASURE = re.compile(
    r"[ \u00a0]?(?:(ms|milliseconds?|sec(?:onds?)?|s|min(?:utes?)?|minuten|hours?|h|days?|d|秒|"
    r"分钟|分|小时|時間|초|분|시간)|"
    r"([kmgt]i?b))(?![A-Za-z])",
    re.IGNORECASE,
)
_SECONDS = {
    "ms": 1e-3,
    "mi": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "s": 1.0,
    "秒": 1.0,
    "초": 1.0,
    "分": 60.0,
    "분": 60.0,
}
_SECONDS |= dict.fromkeys(("小", "時", "시"), 3600.0)


def measures_of(match: re.Match[str]) -> set[tuple[str, float]]:
    """Give a number's time in seconds or size in bytes; a kilobyte has 1000 or 1024."""
    unit = _MEASURE.match(match.string, match.end())
    if unit is None:
        return set()
    values = values_of(match)
    if unit[2]:
        power = "kmgt".index(unit[2][0].lower()) + 1
        return {("size", round(value * base**power, 3)) for value in values for base in (1000, 1024)}
    name = unit[1].lower()
    key = "ms" if name.startswith(("ms", "milli")) else "mi" if name.startswith("mi") else name[0]
    return {("time", round(value * _SECONDS[key], 6)) for value in values}


def scaled_of(match: re.Match[str]) -> set[float]:
    """Give what a number means with the scale behind it, "12 million" no longer 12; {} if it has none.

    A lone m may be metres as well, so it is no scale.
    """
    unit = _UNIT.match(match.string, match.end())
    name = (unit[1] or "").lower() if unit else ""
    scale = _SCALES.get(name, 0.0) if name != "m" else 0.0
    plain = values_of(match)
    return {value for value in plain if value / scale in plain} if scale else set()


_TENS = {
    word: 10 * number for number, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), 2
    )
}  # fmt: skip
_TEENS = {
    word: number
    for number, word in enumerate("thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(), 13)
}
_ENGLISH = "one two three four five six seven eight nine ten eleven twelve".split()
_SMALL = {word: number for number, word in enumerate(_ENGLISH, 1)} | _TEENS | _TENS
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_WORD = "|".join((*_SMALL, *_LARGE))
_SPOKEN = re.compile(rf"\b(?:{_WORD})(?:[ -](?:and )?(?:{_WORD}))*\b", re.IGNORECASE)
_NUMERAL = re.compile("[零〇一二两兩三四五六七八九十百千万萬]{2,}")
_CHINESE = {"〇": 0, "十": 10, "百": 100, "千": 1_000, "万": 10_000, "萬": 10_000} | HAN
_NO_NUMBER = re.compile("十分|万一|千万|一一|百万|十十|一万")
_FREE = 12  # up to here a number in words may count what is told


def spelled(text: str) -> Iterator[tuple[str, float]]:
    """Yield numbers that are written in English words or Chinese numerals, from thirteen on."""
    for match in _SPOKEN.finditer(text):
        words = [word for word in re.findall("[a-z]+", match[0].lower()) if word != "and"]
        value = _summed([_SMALL.get(word) or _LARGE[word] for word in words])
        if value > _FREE and match[0].lower() not in _LARGE:
            yield match[0], value
    for match in _NUMERAL.finditer(text):
        value = _summed([_CHINESE[char] for char in match[0]])
        if value > _FREE and not _NO_NUMBER.search(match[0]):
            yield match[0], value


def _summed(parts: list[int]) -> float:
    """Read a number from its parts: what is small multiplies the hundred, thousand or ten behind it."""
    total = group = 0
    for part in parts:
        if part >= 1_000:
            total += max(group, 1) * part
            group = 0
        elif part == 100 or (part == 10 and group % 10 > 0):
            group = (group - group % 10) + max(group % 10, 1) * part if group % 10 else max(group, 1) * part
        else:
            group += part
    return float(total + group)


def dates_of(text: str) -> Iterator[tuple[str, set[tuple[int, int, int]]]]:
    """Yield each day as it is written, with what it can mean: year, month, day."""
    for match in _DATE.finditer(text):
        yield match[0], {(int(match[1]), int(match[2]), int(match[3]))}
    for match in _DAY_FIRST.finditer(text):
        one, two, year = int(match[1]), int(match[2]), int(match[3])
        yield match[0], {(year, one, two), (year, two, one)}
    for match in _NAMED.finditer(text):
        day, name, own = (match[1], match[2], match[3]) if match[1] else (match[5], match[4], match[6])
        if month := _month(name):
            yield match[0], {(int(own), month, int(day))}


def _month(name: str) -> int:
    return _MONTHS.get(name.lower()[:3], 0) or _MONTHS.get(name.lower()[:4], 0)


def without_dates(text: str) -> str:
    """Blank the days of a text."""
    for pattern in (_DATE, _DAY_FIRST):
        text = pattern.sub(" ", text)
    return _NAMED.sub(lambda match: " " if _month(match[2] or match[4]) else match[0], text)
