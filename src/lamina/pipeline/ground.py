"""Finds what a summary invented: hashes, paths, URLs, versions, numbers and code not in its material.

Words may be chosen freely, such values may not: each must stand in the text that was shown.
They are compared as values, so `1,000` is `1000`, `v2.1` is `2.1`, and a short hash is the
long one that begins with it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property

from lamina.pipeline.checks.values import (
    HAN,
    NUMBER,
    NUMBER_WORDS,
    dates_of,
    measures_of,
    scaled_of,
    spelled,
    values_of,
    without_dates,
)

_REDACTED = re.compile(r"\[redacted [a-z-]+\]")
_MARKER = re.compile(r"(?m)^[ \t]*(?:[-*+>][ \t]+)*(?:\(?\d{1,2}[.)]|[①-⑳])(?=[ \t])")
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s<>\"'`«»“”‘’（）「」，。、]+|\bwww\.[^\s<>\"'`]+")
CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(
    r"(?<![\w/\\:.~@+-])(?:~|\.{1,2}|[A-Za-z]:)?[\\/]?[\w.@+-]++(?:[\\/][\w.@+%~-]++)+[\\/]?|"
    r"(?<!\S)[~.]{0,2}/[\w.-]+/?"
)
_FILE = re.compile(
    r"(?<![\w./@-])(?=[\d_-]{0,64}[^\W\d_])[\w-]++(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/.-]*[\w/])"
)
_HASH = re.compile(  # from 8 characters on also one without a digit: no word of that length is made of a to f
    r"(?<![\w-])(?:(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,64}|[a-f]{8,64})(?![\w-])"
)
_UUID = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])")
_VERSION = re.compile(
    r"(?<![\w.])v?\d+(?:\.\d+){2,}(?:[-+][0-9A-Za-z.-]*[0-9A-Za-z])?(?!\w)|(?<![\w.])v\d+(?:\.\d+)*(?!\w)"
)
_TIME = re.compile(r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])")
_NAME = re.compile(r"[^\W_](?:[\w]|-(?=\w))*")
_SEAM = re.compile(r"(?<=[A-Za-z])(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
_LONG = 400  # a longer value is only looked for, its neighbours are not
_TRAIL = ".,;:!?)]}>…'\"*。，；：！？）」"


def inventions(text: str, material: str | Shown) -> list[str]:
    """List the checkable values of `text` that stand nowhere in the material, in order, each once.

    The material is all that was shown, header and date included; give it as `Shown` to check many texts
    against it. Numerals that only count a list and what redaction put in are no values.
    """
    shown = Shown(material) if isinstance(material, str) else material
    found = dict.fromkeys(value for value in _missing(normal(text), shown) if value)
    return list(found)


def normal(text: str) -> str:
    """Return a text as values are looked up in it: one form of each character, no redaction marks."""
    text = unicodedata.normalize("NFKC", _REDACTED.sub(" ", text).replace("…", " "))
    if text.isascii():
        return text
    text = _SEAM.sub(" ", text)
    return "".join(
        str(unicodedata.digit(char)) if not char.isascii() and char.isdecimal() else char for char in text
    )


class Shown:
    """The material, with what is looked up in it; each table is made when first needed."""

    def __init__(self, text: str) -> None:
        self.text = normal(text)

    @cached_property
    def flat(self) -> str:
        """The text with single blanks and plain slashes."""
        return " ".join(self.text.replace("\\", "/").split())

    @cached_property
    def lower(self) -> str:
        """The same in lower case."""
        return self.flat.lower()

    @cached_property
    def squashed(self) -> str:
        """The same without anything between its words."""
        return re.sub(r"[^\w]|_", "", self.lower)

    @cached_property
    def measures(self) -> set[tuple[str, float]]:
        """Its times and sizes in one unit each."""
        return {measure for match in NUMBER.finditer(self.text) for measure in measures_of(match)}

    @cached_property
    def alone(self) -> list[re.Match[str]]:
        """Its numbers that are no part of a day, a time, a hash or a word."""
        text = without_dates(_UUID.sub(" ", _HASH.sub(" ", _TIME.sub(" ", self.text))))
        found = NUMBER.finditer(text)
        return [match for match in found if not _glued(text[match.start() - 1 : match.start()], "0")]

    @cached_property
    def bare(self) -> set[float]:
        """Its numbers that have no unit of time or size."""
        values = {value for match in self.alone if not measures_of(match) for value in values_of(match)}
        return values | {value for _, value in spelled(self.text)}

    @cached_property
    def starts(self) -> set[str]:
        """The first letters of its words."""
        return {word[:4] for word in self.words if len(word) >= 4}

    @cached_property
    def numbers(self) -> set[float]:
        """What its numbers can mean, those in words too."""
        values = {value for match in self.alone for value in values_of(match)}
        values |= {float(year) for year, _, _ in self.dates}
        values |= {float(number) for word, number in NUMBER_WORDS.items() if word in self.words}
        values |= {value for _, value in spelled(self.text)}
        return values | {float(HAN[char]) for char in self.text if char in HAN}

    @cached_property
    def words(self) -> set[str]:
        """Its words in lower case."""
        return {match[0].lower() for match in _NAME.finditer(self.text)}

    @cached_property
    def names(self) -> set[str]:
        """Its words without strokes."""
        return {squeezed(match[0]) for match in _NAME.finditer(self.text)}

    @cached_property
    def dates(self) -> set[tuple[int, int, int]]:
        """Its days, whichever way they are written."""
        return {date for _, dates in dates_of(self.text) for date in dates}

    @cached_property
    def hashes(self) -> set[str]:
        """What can be a hash."""
        return set(re.findall(r"(?<![0-9A-Za-z])[0-9a-f]{7,128}(?![0-9A-Za-z])", self.text.lower()))

    def holds(self, value: str) -> bool:
        """Say whether a value stands there, not as a part of a longer word."""
        return _stands(value, self.flat)

    def holds_folded(self, value: str) -> bool:
        """Say so whatever the case."""
        return _stands(value.lower(), self.lower)


def _stands(value: str, text: str) -> bool:
    at = text.find(value)
    if len(value) > _LONG:
        return at >= 0
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(value) : at + len(value) + 1]
        if not (_glued(before, value[:1]) or _glued(value[-1:], after)):
            return True
        at = text.find(value, at + 1)
    return False


def _glued(left: str, right: str) -> bool:
    """Say whether two neighbouring characters belong to one word of a spaced script."""
    return bool(left and right) and _wordy(left) and _wordy(right)


def _wordy(char: str) -> bool:
    return (char.isalnum() or char == "_") and char < "\u2e80"


def _missing(text: str, shown: Shown) -> Iterator[str]:
    """Take each kind of value out of the text in turn, so that none is judged twice."""
    text = _MARKER.sub(" ", text)
    for pattern, known in _CHECKS:
        for match in pattern.finditer(text):
            value = match[1].strip() if pattern in {CODE, _QUOTED} else match[0].rstrip(_TRAIL)
            if value and not known(value, shown):
                yield value
        text = pattern.sub(_blank_path if pattern is _PATH else " ", text)
        if pattern is URL:
            yield from (value for value, dates in dates_of(text) if dates.isdisjoint(shown.dates))
            text = without_dates(text)
    yield from (match[0] for match in NUMBER.finditer(text) if not _has_number(match, shown))
    for phrase, value in spelled(text):
        if value not in shown.numbers and not shown.holds_folded(phrase):
            yield phrase


def _has_number(match: re.Match[str], shown: Shown) -> bool:
    """Check a number as what it means: with a unit or a scale behind it, these must be the material's too."""
    if measures := measures_of(match):
        return not (shown.measures.isdisjoint(measures) and shown.bare.isdisjoint(values_of(match)))
    return not shown.numbers.isdisjoint(scaled_of(match) or values_of(match))


def _blank_path(match: re.Match[str]) -> str:
    return " " if _is_path(match[0]) else match[0]


def _has_code(value: str, shown: Shown) -> bool:
    wanted = " ".join(value.replace("\\", "/").split())
    bare = wanted.removesuffix("()")
    return wanted in shown.flat or (bare != "" and bare in shown.flat)


def _has_url(value: str, shown: Shown) -> bool:
    bare = re.sub(r"^[a-z]+://(?:www\.)?", "", value.lower()).rstrip("/")
    if len(bare) > _LONG:
        return bare in shown.lower
    return shown.holds(value) or re.search(re.escape(bare) + r"/?(?![\w/-])", shown.lower) is not None


def _is_path(value: str) -> bool:
    """Tell a path from words with a stroke between them: and/or, read/write."""
    parts = [part for part in re.split(r"[\\/]", value) if part]
    return (
        value[0] in "/~."
        or len(parts) > 2
        or "." in value
        or "\\" in value
        or not all(part.isalpha() for part in parts)
    )


def _has_path(value: str, shown: Shown) -> bool:
    plain = value.replace("\\", "/").rstrip("/").removeprefix("./")
    if not plain or _has_folded(plain, shown) or f"{plain}/" in shown.flat:
        return True
    if _is_path(value):
        return False
    return all(part.lower() in shown.words for part in plain.split("/"))


def _has_file(value: str, shown: Shown) -> bool:
    return (
        shown.holds(value)
        or value.lower() in {"e.g", "i.e", "z.b", "u.a", "d.h", "p.ej"}
        or shown.holds_folded(value)
    )


def _has_hash(value: str, shown: Shown) -> bool:
    return any(
        known.startswith(value) or (len(known) >= 7 and value.startswith(known)) for known in shown.hashes
    )


def _has_word(value: str, shown: Shown) -> bool:
    return shown.holds(value) or value.lower() in shown.lower


def _has_version(value: str, shown: Shown) -> bool:
    bare = value.removeprefix("v")
    return any(shown.holds(form) for form in (bare, f"v{bare}", f"V{bare}")) or squeezed(value) in shown.names


def _has_time(value: str, shown: Shown) -> bool:
    return shown.holds(value) or shown.holds(value.lstrip("0")) or shown.holds(f"0{value}")


_MIXED = re.compile(
    r"(?<![\w.,-])(?=[\w-]*[A-Za-zÀ-ɏ])(?=[\w-]*\d)[0-9A-Za-zÀ-ɏ](?:[0-9A-Za-z_À-ɏ]|"
    r"-(?=[0-9A-Za-z]))*(?![\w])"
)


def _has_ticket(value: str, shown: Shown) -> bool:
    """Check ABC-123, which may be UTF-8 as well."""
    return (
        _has_folded(value, shown)
        or squeezed(value) in shown.names
        or shown.holds_folded(value.replace("-", " "))
    )


def _has_name(value: str, shown: Shown) -> bool:
    """Check a name that holds a digit: sha256, UTF-8, x86_64, HTTP2, 30s."""
    bare = squeezed(value)
    if bare in shown.names or shown.holds(value) or value.lower() in shown.lower:
        return True
    match = NUMBER.match(value)
    unit = value[match.end() :] if match else ""
    if match and unit.isalpha() and len(unit) <= 12:
        return _has_number(match, shown)
    return bare in shown.squashed


_QUOTED = re.compile(r"(?<![\w\"])[\"'“”‘„「]((?=[\w.:$@/-]{0,80}[-_.:$@])[\w.:$@/-]{2,80})[\"'”’“」](?!\w)")
_EMAIL = re.compile(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
_PACKAGE = re.compile(r"(?<![\w@/.])@[a-z0-9][\w.-]{0,80}/[\w.-]{1,80}")
_FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]{0,60}")
_TICKET = re.compile(r"(?<![\w-])[A-Z][A-Z0-9]{1,9}-\d{1,9}(?![\w-])")
_CALL = re.compile(r"(?<![\w.])[A-Za-z_]\w{0,80}(?:\.[A-Za-z_]\w{0,80}){0,6}\(\)")
_IDENTIFIER = re.compile(
    r"(?<![\w.-])[$]?(?:[A-Za-z][A-Za-z0-9]{0,80}(?:_[A-Za-z0-9]{1,80})+|"
    r"[a-z]{2,40}[A-Z][A-Za-z0-9]{0,80}|_[a-z]\w{2,80})(?!\w)",
    re.ASCII,
)
_PRODUCTS = re.compile(r"(?:mac|iPad|watch|tv)OS|[a-z]{2,10}(?:DB|JS|QL|CI|API|SQL|OS|MQ)")


def _has_folded(value: str, shown: Shown) -> bool:
    return shown.holds(value) or shown.holds_folded(value)


def _has_quoted(value: str, shown: Shown) -> bool:
    """Check what stands in quotation marks and looks like a name in code."""
    bare = value.strip(_TRAIL).removesuffix("()")
    plain = re.fullmatch(r"[A-Z]?[a-z]+(?:-[a-z]+)?", bare) is not None  # a word, set apart
    return plain or _has_identifier(bare, shown) or _has_path(bare, shown)


def _has_call(value: str, shown: Shown) -> bool:
    return all(_has_identifier(part, shown) for part in value.removesuffix("()").split("."))


def _has_identifier(value: str, shown: Shown) -> bool:
    """Check a name in code, perhaps in the plural, in another spelling, or as separate words."""
    bare = value.lstrip("$")
    if not bare or _PRODUCTS.fullmatch(bare) or _has_folded(bare, shown):
        return True
    name = squeezed(bare)
    if {name, name.removesuffix("s"), f"{name}s"} & shown.names:
        return True
    apart = " ".join(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+", bare)).lower()
    return " " in apart and shown.holds_folded(apart)


_CHECKS = (
    (CODE, _has_code),
    (_QUOTED, _has_quoted),
    (URL, _has_url),
    (_EMAIL, _has_folded),
    (_PACKAGE, _has_folded),
    (_CALL, _has_call),
    (_FLAG, _has_folded),
    (_UUID, _has_word),
    (_PATH, _has_path),
    (_HASH, _has_hash),
    (_VERSION, _has_version),
    (_FILE, _has_file),
    (_IDENTIFIER, _has_identifier),
    (_TICKET, _has_ticket),
    (_TIME, _has_time),
    (_MIXED, _has_name),
)


def squeezed(name: str) -> str:
    """Return a name in lower case and without strokes, as names are compared."""
    return name.replace("-", "").replace("_", "").lower()
