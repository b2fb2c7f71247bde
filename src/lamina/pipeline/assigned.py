"""Finds secrets by the name they are given to: `password = …`, `the token is …`, `密码是 …`.

A name says what kind of secret may follow, the way it is written says how sure that is, and
the value decides: configuration is believed, prose only if the value is no word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lamina.pipeline.names import FOREIGN_STEMS, STEMS, kind_of, words
from lamina.pipeline.secrets import looks_random

_STOP = words(
    "string str text char varchar bytes int integer number bool boolean any object optional required "
    "true false null none nil undefined empty hidden masked input field label unknown missing invalid "
    "wrong incorrect correct valid set unset stored default changeme change-me change_me example sample "
    "dummy placeholder todo tbd n/a na here there this that the a an your my our and or not no yes must "
    "should can may will is are was be to for in on of with from by if when then as it secret password "
    "passwd pass token key apikey api-key secretstr public private plain plaintext plain-text basic "
    "bearer encrypted hashed redacted removed omitted deleted secure safe strong weak short long old "
    "new same different ok okay fine good bad gone lost useless enough also only still never always too "
    "so very just now back out up off stale fresh changed unchanged rotated expired revoked leaked "
    "exposed protected generated managed shared blank visible sensitive case-sensitive mandatory needed "
    "available unavailable present absent kept sent passed read loaded cached global local include omit "
    "same-origin optionally currently already being what which where how why who something nothing "
    "everything anything"
)
_TECH = re.compile(
    r"(?:sha-?\d+|md[45]|base-?(?:32|58|64)|utf-?\d+|argon2\w*|pbkdf2|oauth-?\d*|[rhep]s\d{3}|ed25519|"
    r"x?509|x25519|http/?\d|ipv[46]|"
    r"k8s|s3|ec2|auth0|1password|i18n|p-?\d{3}|aes-?\d+|rsa-?\d+|v\d+(?:\.\d+)*|"
    r"\d+(?:-?(?:char\w*|bit\w*|byte\w*|day\w*|hour\w*|min\w*|"
    r"sec\w*|time\w*|year\w*|month\w*|week\w*|digit\w*|letter\w*|x|st|nd|rd|th|s|m|h|d|k|ms|%))?|"
    r"totp|2fa|mfa|h2|log4j)\b",
    re.IGNORECASE,
)  # fmt: skip
_REFERENCE = re.compile(
    r"\$\{|\$\(|\{\{|\{[A-Za-z_][\w.]*\}|\$[A-Z_][A-Z0-9_]*$|\$[a-z_]+$|\$env:|%[A-Z_]{2,}%|%[sdv]\b|"
    r"<[^<>]*>?$|\*{3,}|•|[xX]{4,}|\.{3}|…|"
    r"process\.|os\.|self\.|this\.|args\.|req\.|request\.|ctx\.|options\.|opts\.|params\.|"
    r"environ|os\.getenv|getenv|environ|ENV\[|env\.|env:|vars\.|"
    r"var\.|secrets\.|config\.|settings\.|vault:|op://|arn:|"
    r"file:|/run/secrets/|!vault|!secret|ref\+|\[redacted|redacted|\(redacted|"
    r"your[-_ ]|my[-_](?:secret|password|token|api)|insert[-_ ]|"
    r"replace[-_ ]|enter[-_ ]|example|placeholder|sops|ENC\[|@@|None$|null$",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+[,;]?|(?:new |await |\w+\.)*[A-Za-z_]\w*[(\[].*", re.DOTALL
)
_QUALIFIED = re.compile(r"(?<![A-Za-z])([A-Za-z]{2,14})[ \t]$")
_SEPARATOR = re.compile(
    r"(?P<close>\\*[\"'`*\])]{0,3})(?:"
    r"(?:\s{0,4}(?P<sep>:=|=>|={1,2}|:|->|：|＝|\\u003[aAdD]|%3[aAdD])(?:\*{2})?"
    r"(?:[ \t]{0,4}(?:[|>][+-]?|\\)[ \t]{0,4}\r?\n\s{0,24}|\s{0,4}))"  # the value may begin on the next line
    r"|(?P<pair>[ \t]?(?:,\s{0,40}|\s{1,40})\\*[\"']?value\\*[\"']?[ \t]?[:=][ \t]?"
    r"|[ \t]?\{\s{0,40}(?:(?:type|description|sensitive)[^\n]{0,200}\n\s{0,40}){0,3}default[ \t]{0,12}=[ \t]?"
    r"|[ \t]+(?:--type[ =]\w{1,20}[ \t]+)?--(?:value|body|secret-string)[ =])"
    r"|(?P<cell>[ \t]{0,12}\|[ \t]{0,4}|>|(?<=[\"'])[ \t]?,[ \t]?(?=\\*[\"']))"
    r"|(?P<prose>"
    r"[ \t]+(?P<of>for|of|on)[ \t]+[\w@.'’/-]{1,40}(?:[ \t]+[\w@.'’/-]{1,40}){0,4}?[ \t]?[:=][ \t]+"
    r"|(?:\s+(?:for|of|to|on|in|für|para|pour|de)\s+[\w@.'’/-]{1,40}(?:\s+[\w@.'’/-]{1,40}){0,4}?)?\s+"
    r"(?:(?:(?:is|was|were|has been|got|is being) )?(?:set|changed|reset|updated|rotated) (?:back )?to|"
    r"(?P<is>is|was)(?: now)?|ist|lautet|es|est|é|è|jest|это|equals|будет|olarak|"
    r"(?:should|must|will|needs to|has to) be|:|=)\s*:?\s+|\s?(?:是|为|為|は|=|：|는|은|가|이)\s?)"
    r"|(?P<space>[ \t]{1,2}))"
)
_QUOTE = re.compile(r"(?:[bfru]{0,2})(\\*[\"'`]|[“‘「『«]|&(?:quot|apos|#34|#39);)")
_CLOSERS = {"“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_JOINED = re.compile(r"\s{0,40}(?:\+|\.|&|\|\|)\s{0,40}\\*[\"'][^\"'\n\\]{0,400}")  # … " + "…
_BARE = re.compile(r"(?:[^\s\"'`,;&<>|\\]|[,;](?=[^\s\"'`])(?![A-Za-z][\w ]{0,30}=)|\\(?![nrt\"']))++")
_QUERY = re.compile(r"[^\s\"'`&<>#]++")
_LINE = re.compile(r"\S++")
_TRAIL = ".,;:!?)]}>*。，；：！？）」、"


class Found(NamedTuple):
    """A secret's place in the text and its kind."""

    start: int
    end: int
    kind: str


class _Way(NamedTuple):
    """How a value is bound to its name."""

    sure: bool = False  # NAME=value as in an environment
    config: bool = False  # name=value without blanks, a flag, a query
    quoted: bool = False
    alone: bool = False  # nothing else follows on the line
    prose: bool = False
    english: bool = False
    loose: bool = False  # only a blank, a comma or a table's bar between name and value
    named: bool = False  # the name is a variable's, no word of a sentence


def find(text: str, lowered: str) -> Iterator[Found]:
    """Yield the secrets that names give away, in order, never overlapping.

    `lowered` is `text.lower()` of the same length. Takes linear time.
    """
    done = 0
    for at, size in _places(lowered):
        if at < done:
            continue
        start, end = _name(text, at) if text[at].isascii() else (at, at + size)
        done = end
        kind = kind_of(_qualified(text, start), text[start:end])
        found = _value(text, start, end, kind) if kind else None
        if found is not None:
            done = max(done, found.end)
            yield found


# "key" is in many words; only these ends can be followed by a value.
_KEY_ENDS = re.compile(r"s?(?:[^a-z0-9\s,;]|$|\s+(?:[:=|\"']|i|w|e|lautet|for|of|to|value))")


def _places(lowered: str) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    for stem in STEMS if lowered.isascii() else STEMS + FOREIGN_STEMS:
        at = lowered.find(stem)
        while at >= 0:
            if stem != "key" or _KEY_ENDS.match(lowered, at + 3):
                places.append((at, len(stem)))
            at = lowered.find(stem, at + len(stem))
    places.sort()
    return places


def _name(text: str, at: int) -> tuple[int, int]:
    """Reach from a stem to the ends of its word; a name in an unspaced script is the stem itself."""
    start = at
    while start > 0 and at - start < 48 and (text[start - 1].isalnum() or text[start - 1] in "_-."):
        start -= 1
    end = at
    while end < len(text) and end - at < 48 and (_of_word(text[end]) or text[end] in "_-."):
        end += 1
    while end > at and text[end - 1] in ".-":
        end -= 1
    return start, max(end, at + 1)


def _of_word(char: str) -> bool:
    return char.isalnum() and char < "\u2e80"


def _qualified(text: str, start: int) -> str:
    word = _QUALIFIED.search(text, max(0, start - 16), start)
    return word[1].lower() if word else ""


def _value(text: str, start: int, end: int, kind: str) -> Found | None:
    link = _SEPARATOR.match(text, end)
    if link is None or link.end() >= len(text):
        return None
    if link["space"] and link["close"]:
        return None
    if (link["space"] or link["of"]) and text[start:end].lower() in _AMBIGUOUS:
        return None
    if link["sep"] and "\n" in link[0]:
        return _below(text, link.end(), kind)
    way = _bound(text, start, end, link)
    quote = _QUOTE.match(text, link.end())
    return _in_quotes(text, quote, kind, way) if quote else _unquoted(text, start, link.end(), kind, way)


def _unquoted(text: str, start: int, at: int, kind: str, way: _Way) -> Found | None:
    query = start > 0 and text[start - 1] in "?&"
    pattern = _QUERY if query else _LINE if way.sure and _begins_line(text, start) else _BARE
    value = pattern.match(text, at)
    bare = value[0].rstrip(_TRAIL) if value else ""
    way = way._replace(alone=_ends_line(text, at + len(bare)))
    if value is None or not bare or not is_secret(bare, kind, way):
        return None
    whole = value[0] if way.config and _ends_line(text, value.end()) else bare
    return Found(at, _continued(text, at + len(whole), whole), kind)


def _bound(text: str, start: int, end: int, link: re.Match[str]) -> _Way:
    sep = link["sep"] or ""
    flag = text.startswith("--", start) or text[max(0, start - 2) : start] == "--"
    query = start > 0 and text[start - 1] in "?&"
    tight = sep != "" and link[0].strip("\\\"'`*])") == sep and not sep.startswith(":")
    shouted = (text[start:end].isupper() and "_" in text[start:end]) or (text[start:end].isupper() and tight)
    return _Way(
        sure=tight and shouted,
        config=flag or query or tight or (shouted and sep != ""),
        prose=link["prose"] is not None,
        english=link["is"] is not None,
        loose=(link["space"] is not None and not flag) or link["cell"] is not None,
        named=text[start:end] != text[start:end].lower() and "_" in text[start:end].strip("-."),
    )


_AMBIGUOUS = frozenset(["pass", "creds", "credentials"])  # before a blank they are mostly other words


def _below(text: str, at: int, kind: str) -> Found | None:
    """Take a value that stands alone on the line below its name, if it can be nothing else."""
    fence = _FENCE.match(text, at)
    value = _LINE.match(text, fence.end() if fence else at)
    if value is None or not _ends_line(text, value.end()) or value[0].endswith(":"):
        return None
    bare = value[0].strip("\"'`")
    if not mixed(bare) or not is_secret(bare, kind, _Way(alone=True, prose=True)):
        return None
    begin = value.start() + value[0].find(bare)
    return Found(begin, begin + len(bare), kind)


_FENCE = re.compile(r"`{3,5}[\w-]{0,20}[ \t]*\r?\n[ \t]*")


def _in_quotes(text: str, quote: re.Match[str], kind: str, way: _Way) -> Found | None:
    mark = quote[1]
    close = _CLOSERS.get(mark, mark)
    at = quote.end()
    line = text.find("\n", at)
    line = len(text) if line < 0 else line
    end = text.find(close, at, at + 8192)
    if end < 0 or (end > line and not _wrapped(text[at:end])):
        end = min(line, at + 8192)
    value = text[at:end]
    if not value or not is_secret(value, kind, way._replace(quoted=True)):
        return None
    more = _JOINED.match(text, end + len(close))
    while more is not None:
        end = more.end()
        more = _JOINED.match(text, end + len(close))
    return Found(at, end, kind)


def _wrapped(value: str) -> bool:
    """Say whether a quoted value goes over few lines without a blank inside a line."""
    lines = [line.strip().rstrip("\\") for line in value.split("\n")]
    return len(lines) <= 4 and all(line and " " not in line for line in lines)


def _begins_line(text: str, start: int) -> bool:
    head = text[max(0, text.rfind("\n", 0, start) + 1, start - 40) : start].strip(" \t#>+-$")
    return head in {"", "export", "set", "ENV", "ARG", "declare -x", "setx"}


def _ends_line(text: str, at: int) -> bool:
    return (
        at >= len(text)
        or text[at] in "\r\n"
        or text[at : at + 2] in {"\\n", "\\r"}
        or not text[at : at + 3].strip(" .!。")
    )


def _continued(text: str, end: int, value: str) -> int:
    """Reach over a line break if the value was wrapped there."""
    if len(value) < 10:
        return end
    more = _WRAP.match(text, end)
    if more is None or not (mixed(more[1]) and _random_part(more[1])) or not _ends_line(text, more.end()):
        return end
    return more.end()


_WRAP = re.compile(r"[ \t]*\\?\r?\n[ \t>|]*([A-Za-z0-9+/=_.~-]{4,400})(?=[ \t]*(?:\r?\n|$))")


def _random_part(value: str) -> bool:
    return (
        sum(char.isdigit() for char in value) >= 1
        and re.fullmatch(r"[A-Za-z]+[-_]?\d{1,2}|v?\d[\d.]*", value) is None
    )


def mixed(value: str) -> bool:
    """Say whether a value is no word: letters with digits or with signs, or a change of case inside."""
    letters = any(char.isalpha() for char in value)
    digits = any(char.isdigit() for char in value)
    signs = any(char in "!@#$%^&*+=~?" for char in value)
    inner = re.search(r"[a-z][A-Z]", value) is not None and re.fullmatch(r"(?:[A-Z]?[a-z]+)+", value) is None
    return (letters and (digits or signs)) or inner or (digits and signs)


def is_secret(value: str, kind: str, way: _Way) -> bool:
    """Judge a value by what it is called and how it is bound to that name."""
    plain = value.strip("\"'`\\ ")
    if len(plain) < 3 or is_placeholder(plain) or (plain.isalpha() and not way.sure and kind_of("", plain)):
        return False
    if way.loose and way.named and _VALUE.fullmatch(plain) and not _CODE.fullmatch(plain):
        return looks_random(plain) and not _HASH.fullmatch(plain)
    if kind in {"token", "key"}:
        return _is_token(plain, kind, way)
    return _is_password(plain, kind, way)


def _is_password(plain: str, kind: str, way: _Way) -> bool:
    if way.loose:
        return kind == "password" and _is_beside(plain)
    if way.quoted:
        return " " not in plain or way.sure or _is_phrase(plain)
    if way.prose:
        return _is_said(plain, kind, way)
    return way.sure or (not _CODE.fullmatch(plain) and _is_set(plain, kind, way))


_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VALUE = re.compile(r"[A-Za-z0-9+/=_.~-]{12,}")
_ATTRIBUTE = re.compile(r"[a-z_-]{2,}=|[A-Za-z_-]+=$")


def _is_beside(value: str) -> bool:
    """Judge what stands next to the word password, with nothing to bind them."""
    if len(value) < 5 or not value.isascii() or _TECH.match(value) or _ATTRIBUTE.match(value):
        return False
    return mixed(value)


def _is_set(value: str, kind: str, way: _Way) -> bool:
    """Judge a bare value behind a colon or an equals sign."""
    if way.config:
        return not value.isidentifier() or mixed(value) or way.alone
    if value.isdigit():
        return kind == "password" and len(value) >= 4 and way.alone
    if mixed(value):
        return not _TECH.match(value)
    least = 5 if kind == "password" else 12
    return way.alone and len(value) >= least and value.isascii() and "/" not in value


def is_technical(value: str) -> bool:
    """Say whether a value names an algorithm, a size or a time."""
    return _TECH.match(value) is not None


def is_placeholder(value: str) -> bool:
    """Say whether a value only stands for a secret: a variable, a blank to fill in, an example."""
    plain = value.strip("\"'`\\ ")
    if len(plain) < 2 or plain.lower() in _STOP or "..." in plain or "…" in plain:
        return True
    return _REFERENCE.match(plain) is not None


def _is_token(value: str, kind: str, way: _Way) -> bool:
    if way.loose or " " in value or _CODE.fullmatch(value) or _NUMBERED.match(value):
        return False
    least = 16 if kind == "key" else 12 if way.prose else 6 if way.config else 8 if way.quoted else 10
    if kind == "key" and not way.config and re.fullmatch(r"[0-9a-f-]+", value):
        return False
    return len(value) >= least and mixed(value) and not _TECH.match(value) and _dense(value)


_NUMBERED = re.compile(r"[\^~v=]*\d+(?:\.\d|$)")


def _dense(value: str) -> bool:
    """Say whether a token has a piece that is no word with a number behind it."""
    pieces = [piece for piece in re.split(r"[-_./:]+", value) if piece]
    return any((mixed(piece) and len(piece) >= 5) or len(piece) >= 16 for piece in pieces)


def _is_said(value: str, kind: str, way: _Way) -> bool:
    """Judge a value in a sentence: "the password is …"."""
    if _TECH.match(value) and not (value.isdigit() and len(value) >= 6):
        return False
    if value.isdigit():
        return kind == "password" and len(value) >= 4 and way.alone
    if mixed(value) and "/" not in value[:1]:
        return len(value) >= 4
    if not (way.alone and way.english and kind == "password" and value.isascii() and value.isalpha()):
        return False
    return len(value) >= 5 and not re.search(r"(?:ed|ing|ly|able|ible|ful|less|ive|ent|ant|ory|ary)$", value)


def _is_phrase(value: str) -> bool:
    """Tell a passphrase from a label: small words, none of them about passwords."""
    words = value.split()
    if not 3 <= len(words) <= 30 or value != value.lower() or value.endswith((".", ":", "?", "!")):
        return False
    return not any(word in _ASKING or kind_of("", word) for word in words)


_ASKING = words(
    "enter your please must choose type confirm forgot reset change new invalid required wrong is are"
)
