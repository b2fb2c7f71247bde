"""Replaces secrets by `[redacted <kind>]` before anything is written, logged, embedded or sent.

Three cheap looks at a text decide what is searched at all: its long words (vendors' tokens),
the names in its lower-cased form (assigned values), and a few signs (`://`, `%`, `-----BEGIN`).
Ordinary prose passes them at some ten MB a second; hostile text takes linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from lamina.pipeline import assigned, secrets

_PRIVATE = re.compile(r"<(/?)private(?![\w-])[^<>]*>?", re.IGNORECASE)
_LONG = 16  # no vendor's token is shorter
_SLICE = 1 << 20
_PASSES = 4  # what a replacement uncovers is looked at again, at most so often

_BLOCK = re.compile(r"-{4,5}\s?BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?\s?-{4,5}")
_BLOCK_END = re.compile(r"-{4,5}\s?END [A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)?\s?-{4,5}")
_BLOCK_GAP = r"(?:\s|\\+[nrt\\]|[\"'`,|>])"
_BLOCK_BODY = re.compile(
    rf"(?>(?:{_BLOCK_GAP}*+(?:[A-Za-z0-9+/=]{{16,}}+|(?:Proc-Type|DEK-Info|Version|Comment|Hash)[^\n\\]{{0,120}}))*+)"
    rf"(?:{_BLOCK_GAP}*+[A-Za-z0-9+/=]*[0-9+/=][A-Za-z0-9+/=]*+)?"
)
_PUTTY = re.compile(
    r"Private-Lines:\s*\d{1,4}(?:\r?\n[A-Za-z0-9+/=]{1,80}){1,200}|Private-MAC:\s*[0-9a-f]{20,}"
)

_URL = re.compile(
    r"(?<![A-Za-z0-9+.])(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,30})://(?P<user>[^\s:/@\"'`<>\[\]?#]{0,200})"
    r"(?::(?=(?P<rest>[^\s\"'`<>]{0,600}))|@)"
)
_WEB = frozenset("http https git ssh ftp ftps sftp ws wss svn".split(" "))

_URL_PATH = re.compile(r"[/?#]")

_HEADER = re.compile(
    r"(?P<name>(?:proxy-)?authorization|x-[a-z-]{0,24}(?:auth|key|token|secret)[a-z-]{0,12}|private-token|api-key|apikey|deploy-token|job-token)"
    r"\\*[\"'`]{0,2}\s{0,3}(?:[:=]|=>|,)\s{0,3}\\*[bfr]{0,2}[\"'`]?"
    r"(?P<scheme>(?:basic|bearer|token|digest|negotiate|ntlm|ssws|apikey|api-key|key|hmac|splunk|genie\w*|aws4-hmac-sha256|oauth)\s{1,3})?"
    r"(?P<value>[^\s\"'`<>{}\\,;]{4,8192})",
    re.IGNORECASE,
)  # fmt: skip
_BEARER = re.compile(
    r"\b(?P<scheme>bearer|basic)\s{1,3}(?P<value>[A-Za-z0-9._~+/=-]{12,8192})", re.IGNORECASE
)
_SIGNED = re.compile(
    r"(?:Credential|Signature|response|nonce|oauth_\w+)\s?=\s?\"?(?P<value>[^\s\",]{8,600})", re.IGNORECASE
)
_COOKIE = re.compile(
    r"(?P<head>(?:set-)?cookie2?\\*[\"'`]{0,2}\s{0,3}(?:[:=]|,)\s{0,3}\\*[bfr]{0,2}[\"'`]?|--cookie[ =][\"']?|\scurl\s[^\n]{0,200}?\s-b\s?[\"']?)"
    r"(?P<value>[A-Za-z0-9_.%$!#&*+^|~-]{1,100}=[^\s\"'`;,\\]{1,4096}(?:;\s?[A-Za-z0-9_.%$!#&*+^|~-]{1,100}(?:=[^\s\"'`;\\]{0,4096}(?: [^\s\"'`;\\=]{1,40}){0,6})?){0,60})",
    re.IGNORECASE,
)  # fmt: skip
_SESSION = re.compile(
    r"(?:sess(?:ion)?[_-]?id|sid|phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|csrftoken|xsrf-token|__secure-[\w-]{1,30}|__host-[\w-]{1,30})"
    r"=(?P<value>[A-Za-z0-9%._~+/-]{16,1024})", re.IGNORECASE,
)  # fmt: skip
_FLAGS = (
    ("password", re.compile(r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,200}?\s-p(?P<value>[^\s\"';|]{3,200}|'[^'\n]{3,200}'|\"[^\"\n]{3,200}\")")),
    ("password", re.compile(r"\b(?:curl|wget|http|https|docker|helm|htpasswd)\b[^\n|;]{0,300}?\s(?:-u|--user)[ =]?[\"']?(?!\d+:\d)[^\s:\"']{1,100}:(?P<value>[^\s\"']{2,200})")),
    ("password", re.compile(r"\b(?:sshpass|docker login|podman login|ldapsearch|unzip|7z|zip|az login|redis-cli|mongo|mongosh|sqlcmd|bcp)\b[^\n|;]{0,200}?\s-(?:p|w|P|a)\s?(?P<value>[^\s\"'|;-][^\s\"'|;]{2,200}|'[^'\n]{3,200}'|\"[^\"\n]{3,200}\")")),
    ("password", re.compile(r"\bmachine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(?P<value>\S{2,400})")),
    ("password", re.compile(r"(?<![\w.:/-])[\w.*-]{1,200}:(?:543\d|6432|\*):[^:\s]{1,64}:[^:\s]{1,64}:(?P<value>[^\s\"'`\\]{2,200})")),
    ("password", re.compile(r"(?i)\b(?:creds?|credentials|login|user(?:name)?\s?/\s?pass(?:word)?)\s?(?:are|is|:|=|with)?\s?[\"'`]?[\w.@+-]{2,64}\s?[:/]\s?(?P<value>[^\s\"'`/:]{0,60}\d[^\s\"'`/:]{0,60})")),
    ("password", re.compile(r"(?i)\bidentified\s+(?:with\s+\w+\s+)?by\s+['\"](?P<value>[^'\"\n]{2,200})")),
    ("password", re.compile(r"(?i)(?<![\w/.-])(?P<value>[^\s\"'`,;:/=(]{2,60}\d[^\s\"'`,;:/=(]{0,60})[\"'`]? (?:is|as) (?:(?:the|my|our|your|a|their|his|her|db|admin|root|user|new|temp\w*) ){0,3}(?:password|passphrase|passwd)\b(?! ?(?:hash|field|polic|algo|manager|format|length|encod))")),
)  # fmt: skip
_FLAG_SIGNS = (
    "-p",
    "-u",
    "--user",
    "-w",
    "-a",
    "machine",
    "543",
    "6432",
    ":*:",
    "cred",
    "login",
    "identified",
    "/pass",
    "/ pass",
    " as ",
    " is ",
)
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=_-])")
_ORDINARY = re.compile(r"v?\d[\d.]*|[A-Z]?[a-z]{1,15}[-_]?\d{1,2}")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many of each kind were replaced."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)


def redact(text: str) -> Redacted:
    """Replace every secret that can be told from prose; what is private is dropped whole.

    Idempotent and linear in the text's length. Prose about keys, labels, hashes, UUIDs,
    integrity values and images stay as they are.
    """
    counts: Counter[str] = Counter()
    open_text = without_private(text)
    if open_text != text:
        counts["private"] += 1
    for _ in range(_PASSES):
        clean = _once(open_text, counts)
        if clean == open_text:
            break
        open_text = clean
    return Redacted(open_text, dict(counts))


def without_private(text: str) -> str:
    """Drop `<private>…</private>`, nested or not; an unclosed one takes the rest of the text."""
    if "<" not in text or "<private" not in text.lower() and "</private" not in text.lower():
        return text
    kept: list[str] = []
    depth, start = 0, 0
    for mark in _PRIVATE.finditer(text):
        if depth == 0:
            kept.append(text[start : mark.start()])
        depth = max(0, depth - 1) if mark[1] else depth + 1
        start = mark.end()
    if depth == 0:
        kept.append(text[start:])
    # A blank at each seam, so that the pieces never join to a new mark.
    return " ".join(kept)


def _once(text: str, counts: Counter[str]) -> str:
    lowered = _lower(text)
    if "private" in lowered:
        text = _swap(text, _blocks(text), counts)
    sample = "\n".join(_long_words(text))
    if "\n" in text:
        text = _swap(text, _split_tokens(text), counts)
    if sample:
        text = _tokens(text, sample, counts)
    if "://" in text:
        text = _swap(text, _addresses(text), counts)
    lowered = _lower(text)
    text = _headers(text, lowered, counts)
    if any(sign in lowered for sign in _FLAG_SIGNS):
        text = _flags(text, lowered, counts)
    lowered = _lower(text)
    text = _swap(text, assigned.find(text, lowered), counts)
    if "%" in text:
        text = _PERCENT.sub(
            lambda match: _decoded(match[0], unquote(match[0], errors="replace"), counts), text
        )
    if "\\u" in text:
        text = _ESCAPES.sub(lambda match: _decoded(match[0], _unescaped(match[0]), counts), text)
    return text


def _lower(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _swap(text: str, found: Iterator[assigned.Found], counts: Counter[str]) -> str:
    """Replace what was found, given in order; what is replaced already stays."""
    parts: list[str] = []
    done = 0
    for start, end, kind in found:
        if start < done or text.startswith("[redacted", start) or start >= end:
            continue
        parts += (text[done:start], f"[redacted {kind}]")
        counts[kind] += 1
        done = end
    return "".join((*parts, text[done:])) if parts else text


def _long_words(text: str) -> Iterator[str]:
    for start in range(0, len(text), _SLICE):
        for word in text[max(0, start - 512) : start + _SLICE].split():
            if len(word) >= _LONG:
                yield word


def _blocks(text: str) -> Iterator[assigned.Found]:
    at = 0
    head = _BLOCK.search(text)
    while head is not None:
        following = _BLOCK.search(text, head.end())
        limit = min(following.start() if following else len(text), head.end() + 32_768)
        end = _BLOCK_END.search(text, head.end(), limit) or _BLOCK_BODY.match(text, head.end(), limit)
        at = end.end() if end else head.end()
        yield assigned.Found(head.start(), at, "private-key")
        head = following
    if at == 0 and "Private-Lines" in text:
        for match in _PUTTY.finditer(text):
            yield assigned.Found(match.start(), match.end(), "private-key")


def _tokens(text: str, sample: str, counts: Counter[str]) -> str:
    for kind, shape, triggers in secrets.strong():
        if any(trigger in sample for trigger in triggers):
            spans = (
                assigned.Found(match.start(), match.end(), kind)
                for match in shape.finditer(text)
                if not secrets.is_sample(match[0])
            )
            text = _swap(text, spans, counts)
    pattern, _ = secrets.shapes()
    if pattern.search(sample):
        text = _swap(text, _shaped(text), counts)
    return text


def _shaped(text: str) -> Iterator[assigned.Found]:
    pattern, kinds = secrets.shapes()
    for match in pattern.finditer(text):
        kind, random = kinds[(match.lastindex or 1) - 1]
        if secrets.is_sample(match[0]) or (random and not secrets.looks_random(match[0])):
            continue
        yield assigned.Found(match.start(), match.end(), kind)
        if kind == "aws-key":
            secret = _AWS_SECRET.search(text, match.end(), match.end() + 300)
            if secret and secrets.looks_random(secret[0]) and not re.fullmatch("[0-9a-f]+", secret[0]):
                yield assigned.Found(secret.start(), secret.end(), "aws-secret")


def _split_tokens(text: str) -> Iterator[assigned.Found]:
    """Find vendors' tokens that a line break cuts in two, wherever it cuts."""
    for head, left, right, tail in _seams(text):
        first, second = text[head:left], text[right:tail]
        for span in _vendor_spans(first + second):
            if span.start < len(first) < span.end:
                more = second[: span.end - len(first)]
                if not _is_whole(first[span.start :]) or _goes_on(more, second):
                    yield assigned.Found(head + span.start, right + len(more), span.kind)


def _seams(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield where the words around a line break begin and end, if they are worth joining."""
    lines = text.split("\n")
    at = 0
    for index in range(len(lines) - 1):
        line, below = lines[index], lines[index + 1]
        first, second = _last(line.rstrip(" \t\r\\")), below.lstrip(" \t>|")
        room = len(first) + len(second)
        if first and room >= _LONG and len(first) + len(word := _first(second)) >= _LONG and word:
            end = at + len(line.rstrip(" \t\r\\"))
            begin = at + len(line) + 1 + len(below) - len(second)
            yield end - len(first), end, begin, begin + len(word)
        at += len(line) + 1


def _last(line: str) -> str:
    return line[max(line.rfind(" "), line.rfind("\t"), len(line) - 513) + 1 :]


def _first(line: str) -> str:
    return line[:512].split(None, 1)[0] if line else ""


def _is_whole(word: str) -> bool:
    """Say whether a cut token could be complete already."""
    full = next((size for prefix, size in _FULL.items() if word.startswith(prefix)), 0)
    return len(word) >= full and any(
        span.start == 0 and span.end == len(word) for span in _vendor_spans(word)
    )


# Tokens of one length.
_FULL = {"gh" + "p_": 40, "gho_": 40, "ghu_": 40, "ghs_": 40, "ghr_": 40, "github_pat_": 93, "AIza": 39, "npm_": 40, "hf_": 37,
         "glpat-": 26, "GOCSPX-": 35, "dop_v1_": 71, "SK": 34, "AC": 34}  # fmt: skip


def _goes_on(more: str, word: str) -> bool:
    """Say whether what stands below a whole token is rather its rest than a word."""
    if more != word.rstrip("\"'`.,;:)]}"):
        return False
    return assigned.mixed(more) and not more.isdigit() and _ORDINARY.fullmatch(more) is None


def _vendor_spans(word: str) -> Iterator[assigned.Found]:
    for kind, shape, triggers in secrets.strong():
        if any(trigger in word for trigger in triggers):
            for match in shape.finditer(word):
                if not secrets.is_sample(match[0]):
                    yield assigned.Found(match.start(), match.end(), kind)
    yield from _shaped(word)


def _addresses(text: str) -> Iterator[assigned.Found]:
    """Find the passwords of `scheme://user:password@host`, and tokens that stand as the user."""
    for url in _URL.finditer(text):
        rest = url["rest"]
        if rest is None:
            if len(url["user"]) >= _LONG and secrets.looks_random(url["user"]):
                yield assigned.Found(url.start("user"), url.end("user"), "token")
            continue
        stop = _URL_PATH.search(rest) if url["scheme"].lower() in _WEB else None
        end = rest.rfind("@", 0, stop.start() if stop else len(rest))
        if end > 0 and not assigned.is_placeholder(rest[:end]):
            yield assigned.Found(url.start("rest"), url.start("rest") + end, "password")


def _headers(text: str, lowered: str, counts: Counter[str]) -> str:
    if "auth" in lowered or "-key" in lowered or "-token" in lowered or "apikey" in lowered:
        text = _swap(text, _header_values(text), counts)
    if "bearer" in lowered or "basic" in lowered:
        text = _swap(text, _bearers(text), counts)
    if "cookie" in lowered or " -b" in lowered:
        found = (
            assigned.Found(match.start("value"), match.end("value"), "cookie")
            for match in _COOKIE.finditer(text)
        )
        text = _swap(
            text,
            (one for one in found if not assigned.is_placeholder(text[one.start : one.end].split("=", 1)[1])),
            counts,
        )
    if "sid" in lowered or "session" in lowered or "__" in lowered or "csrf" in lowered:
        found = (
            assigned.Found(match.start("value"), match.end("value"), "session-id")
            for match in _SESSION.finditer(text)
            if assigned.mixed(match["value"]) and not _is_uuid(match["value"])
        )
        text = _swap(text, found, counts)
    return text


def _is_uuid(value: str) -> bool:
    return re.fullmatch(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value) is not None


def _header_values(text: str) -> Iterator[assigned.Found]:
    for match in _HEADER.finditer(text):
        value, scheme = match["value"], (match["scheme"] or "").strip().lower()
        if scheme in {"digest", "aws4-hmac-sha256", "oauth", "hmac"}:
            line = text.find("\n", match.start())
            for part in _SIGNED.finditer(
                text, match.start(), min(match.start() + 2000, line if line > 0 else len(text))
            ):
                yield assigned.Found(part.start("value"), part.end("value"), "authorization")
        elif _is_credential(value, scheme) and not assigned.is_placeholder(value):
            yield assigned.Found(match.start("value"), match.end("value"), "authorization")


def _is_credential(value: str, scheme: str) -> bool:
    value = value.rstrip(".,;:)")
    if scheme == "basic":
        return len(value) >= 6 and (re.search(r"[A-Z0-9+/=]", value[1:]) is not None)
    if scheme:
        return len(value) >= 5 and (assigned.mixed(value) or len(value) >= 20)
    return len(value) >= 10 and assigned.mixed(value) and any(char.isdigit() for char in value)


def _bearers(text: str) -> Iterator[assigned.Found]:
    for match in _BEARER.finditer(text):
        value = match["value"]
        basic = match["scheme"].lower() == "basic"
        if secrets.looks_random(value) or (not basic and assigned.mixed(value) and len(value) >= 16):
            if not assigned.is_placeholder(value):
                yield assigned.Found(match.start("value"), match.end("value"), "authorization")


def _flags(text: str, lowered: str, counts: Counter[str]) -> str:
    for kind, pattern in _FLAGS:
        found = (
            assigned.Found(match.start("value"), match.end("value"), kind)
            for match in pattern.finditer(text)
            if not assigned.is_placeholder(match["value"])
        )
        text = _swap(text, found, counts)
    return text


def _decoded(word: str, plain: str, counts: Counter[str]) -> str:
    """Give the clean decoded form of what hides a secret, else the word as it is."""
    if plain == word:
        return word
    inner: Counter[str] = Counter()
    clean = _once(plain, inner)
    counts.update(inner)
    return clean if inner else word


def _unescaped(text: str) -> str:
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# URL-encoded words, and lines with JSON's escapes.
_PERCENT = re.compile(
    r"(?<![^\s\"'<>])(?=[^\s\"'<>]*?%(?:2[0-9A-Fa-f]|3[A-Fa-f]|4[0-9A-Fa-f]|5[0-9A-Fa-f]))[^\s\"'<>]+"
)
_ESCAPES = re.compile(r"(?m)^[^\n\\]*(?:\\(?!u)[^\n\\]*)*\\u[^\n]*")
_ESCAPE = re.compile(r"\\+u(00[2-9a-fA-F][0-9a-fA-F]|0[1-9a-fA-F][0-9a-fA-F]{2}|[1-9a-fA-F][0-9a-fA-F]{3})")
