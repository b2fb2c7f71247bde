"""Finds secrets by where they stand: headers, cookies, addresses, command lines, password files.

Each rule names the words at which it is tried, so a text without them costs only a search for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from lamina.pipeline import secrets
from lamina.pipeline.assigned import Found, is_placeholder, is_technical, mixed

_LONG = 16
_WEB = frozenset(["http", "https", "git", "ssh", "ftp", "ftps", "sftp", "ws", "wss", "svn"])
_URL = re.compile(
    r"(?P<user>[^\s:/@\"'`<>\[\]?#]{0,200}"
    r"(?:@[^\s:/@\"'`<>]{1,200}(?=:[^\s:/@\"'`<>]{1,200}@))?)"  # an address of mail as the user
    r"(?::(?P<rest>[^\s\"'`<>]{0,600})|@)"  # behind the ://
)
_URL_PATH = re.compile(r"[/?#]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}$")

_OPEN = r"\\*[\"'`]{0,2}\s{0,3}(?:[:=]|=>|,)\s{0,3}\\*[bfr]{0,2}[\"'`]?"  # from a header's name to its value
_HEADER = (
    r"(?:authorization|private-token|api-?key|deploy-token|job-token"
    r"|x-[a-z-]{0,24}(?:auth|key|token|secret)[a-z-]{0,12})"
    + _OPEN
    + r"(?P<scheme>(?:basic|bearer|token|digest|"
    r"negotiate|ntlm|ssws|apikey|api-key|key|hmac|splunk|genie\w{0,9}|aws4-hmac-sha256|oauth)\s{1,3})?"
    r"(?P<value>[^\s\"'`<>{}\\,;]{4,8192})"
)
_SIGNED = re.compile(
    r"(?:Credential|Signature|response|nonce|oauth_\w{1,20})\s?=\s?\"?(?P<value>[^\s\",]{8,600})",
    re.IGNORECASE,
)
_CRUMB = r"[A-Za-z0-9_.%$!#&*+^|~-]{1,100}"  # a cookie's name
_COOKIE = (
    r"cookie2?(?:" + _OPEN + r"|[ ][\"']?)"
    rf"(?P<value>{_CRUMB}=[^\s\"'`;,\\]{{1,4096}}"
    rf"(?:;\s?{_CRUMB}(?:=[^\s\"'`;\\]{{0,4096}}(?: [^\s\"'`;\\=]{{1,40}}){{0,6}})?){{0,60}})"
)
_WORD = r"(?P<value>[^\s\"';|-][^\s\"';|]{2,200}|'[^'\n]{3,200}'|\"[^\"\n]{3,200}\")"
_OWNERS = r"(?:the|my|our|your|a|their|his|her|db|admin|root|user|new|temp\w{0,7})"
_NAMED_LATER = re.compile(
    r"(?<![\w/.-])(?P<value>[^\s\"'`,;:/=(]{2,60}\d[^\s\"'`,;:/=(]{0,60})[\"'`]? (?:is|as) "
    rf"(?:{_OWNERS} ){{0,3}}$",
    re.IGNORECASE,
)
_OF_PASSWORDS = re.compile(
    r"(?:word|phrase|wd)\b ?(?:hash|field|polic|algo|manager|format|length|encod)", re.IGNORECASE
)


class Rule(NamedTuple):
    """A shape that begins with one of its `anchors` (lower-cased); its group `value` is the secret.

    `check` gets the match; without one, anything that is no placeholder counts. A text without `needs`
    is spared the search for the anchors.
    """

    kind: str
    anchors: tuple[str, ...]
    shape: str
    check: Callable[[re.Match[str]], bool] | None = None
    needs: str = ""


def _is_credential(match: re.Match[str]) -> bool:
    value, scheme = match["value"].rstrip(".,;:)"), (match["scheme"] or "").strip().lower()
    if scheme == "basic":
        return len(value) >= 6 and re.search(r"[A-Z0-9+/=]", value[1:]) is not None
    if scheme in {"digest", "aws4-hmac-sha256", "oauth", "hmac"}:
        return False  # their parts are looked at one by one
    if scheme:
        return len(value) >= 5 and (mixed(value) or len(value) >= 20)
    return len(value) >= 10 and mixed(value) and any(char.isdigit() for char in value)


def _is_bearer(match: re.Match[str]) -> bool:
    value = match["value"]
    return secrets.looks_random(value) or (
        match[0][:6].lower() == "bearer" and mixed(value) and len(value) >= _LONG
    )


def _is_session(match: re.Match[str]) -> bool:
    value = match["value"]
    return mixed(value) and _UUID.fullmatch(value) is None


def _is_cookie(match: re.Match[str]) -> bool:
    return not is_placeholder(match["value"].split("=", 1)[1])


_NOT_SAID = re.compile(r"/|^0x|^[-+.\d]+%?$")


def _is_chosen(match: re.Match[str]) -> bool:
    value = match["value"].rstrip(".,;:!?)")
    digits = sum(char.isdigit() for char in value)
    return (
        0 < digits < len(value)
        and mixed(value)
        and not is_technical(value)
        and _NOT_SAID.search(value) is None
    )


def _is_given(match: re.Match[str]) -> bool:
    return mixed(match["value"]) and match["value"].count(" ") < 3


# A line of a cookie file: domain, TRUE or FALSE, path, TRUE or FALSE, time, name, value.
_TABBED = tuple(f"{tab}{word}{tab}/" for tab in ("\t", "\\t") for word in ("true", "false"))
_SETTERS = tuple(
    verb + joint + noun + "("
    for verb in ("set", "with")
    for joint in ("", "_")
    for noun in ("password", "passwd", "secret", "token", "apikey", "api_key", "credential", "passphrase")
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RULES = (
    Rule(
        "authorization",
        ("authorization", "private-token", "api-key", "apikey", "deploy-token", "job-token", "x-"),
        _HEADER,
        _is_credential,
    ),
    Rule(
        "authorization",
        ("bearer", "basic"),
        r"(?:bearer|basic)\s{1,3}(?P<value>[A-Za-z0-9._~+/=-]{12,8192})",
        _is_bearer,
    ),
    Rule("cookie", ("cookie",), _COOKIE, _is_cookie),
    Rule(
        "cookie",
        ("curl",),
        rf"curl\b[^\n]{{0,300}}?\s-b\s?[\"']?(?P<value>{_CRUMB}=[^\n\"']{{1,4096}})",
        _is_cookie,
        needs=" -b",
    ),
    Rule(
        "session-id",
        (
            *("sid=", "sessionid=", "session_id=", "session-id=", "csrftoken=", "xsrf-token="),
            *("__secure-", "__host-"),
        ),
        r"(?:[a-z_-]{3,12}|__(?:secure|host)-[\w-]{1,30})=(?P<value>[A-Za-z0-9%._~+/-]{16,1024})",
        _is_session,
        needs="=",
    ),
    Rule(
        "password",
        ("mysql", "mariadb"),
        rf"(?:mysql\w{{0,8}}|mariadb)\b[^\n|;]{{0,200}}?\s-p{_WORD}",
        needs=" -p",
    ),
    Rule(
        "password",
        ("curl", "wget", "http", "docker", "helm", "htpasswd"),
        r"(?:curl|wget|https?|docker|helm|htpasswd)\b[^\n|;]{0,300}?\s(?:-u|--user)[ =]?[\"']?(?!\d+:\d)"
        r"[^\s:\"']{1,100}:(?P<value>[^\s\"']{2,200})",
        needs=" -",
    ),
    Rule(
        "password",
        (
            *("sshpass", "docker login", "podman login", "ldapsearch", "unzip", "7z ", "zip ", "az login"),
            *("redis-cli", "mongo", "sqlcmd", "bcp "),
        ),
        rf"[\w-]{{2,12}}\b[^\n|;]{{0,200}}?\s-[pwPa]\s?(?!\d+:\d){_WORD}",
        needs=" -",
    ),
    Rule(
        "password",
        ("machine",),
        r"machine\s{1,3}\S{1,200}\s{1,3}login\s{1,3}\S{1,200}\s{1,3}password\s{1,3}(?P<value>\S{2,400})",
    ),
    Rule(
        "password",
        (":543", ":6432:", ":*:"),
        r":(?:543\d|6432|\*):[^:\s]{1,64}:[^:\s]{1,64}:(?P<value>[^\s\"'`\\]{2,200})",
    ),
    Rule(
        "password",
        ("cred", "login", "user/pass", "username/pass", "user / pass"),
        r"(?:creds?|credentials|login|user(?:name)?\s?/\s?pass(?:word)?)\s?(?:are|is|:|=|with)?\s?[\"'`]?"
        r"[\w.@+-]{2,64}\s?[:/]\s?(?P<value>[^\s\"'`/:]{0,60}\d[^\s\"'`/:]{0,60})",
    ),
    Rule(
        "password",
        ("openssl",),
        rf"openssl\b[^\n|;]{{0,200}}?\s-k\s{_WORD}",
        needs=" -k ",
    ),
    Rule(
        "password",
        ("htpasswd",),
        rf"htpasswd\s(?:-\w+\s){{0,4}}-\w*b\w*\s(?:-\w+\s){{0,4}}\S{{1,200}}\s\S{{1,60}}\s{_WORD}",
    ),
    Rule(
        "password",
        ("echo", "printf"),
        r"(?:echo|printf)\s{1,3}(?:-\w\s)?[\"']?(?P<value>[^\s\"'|;]{3,200})[\"']?\s?\|\s?sudo\b[^\n|;]{0,40}?\s-\w?S",
        needs="sudo",
    ),
    Rule(
        "password",
        ("auth=(", "auth = (", "basicauth(", "httpbasicauth("),
        r"\w{4,13}[ =]{0,3}\(\s?[\"'][^\"'\n]{1,100}[\"']\s?,\s?[\"'](?P<value>[^\"'\n]{3,200})[\"']",
    ),
    Rule(
        "secret",
        _SETTERS,
        r"\w{6,16}\(\s?\\?[\"'](?P<value>[^\"'\n\\]{3,400})\\?[\"']\s?\)",
        _is_given,
    ),
    Rule(
        "password",
        ("password", "passwd", "secret", "apikey", "token"),
        r"(?<=[<:])\w{5,8}\s[^<>]{1,200}>(?P<value>[^<>\s]{3,400})</",
        _is_given,
        needs="</",
    ),
    Rule(
        "cookie",
        _TABBED,
        r"(?:\t|\\t)(?:true|false)(?:\t|\\t)/[^\s\\]{0,200}(?:\t|\\t)(?:true|false)(?:\t|\\t)\d{1,12}(?:\t|\\t)"
        r"[^\s\\]{1,100}(?:\t|\\t)(?P<value>[^\s\\]{3,4096})",
    ),
    Rule(
        "password",
        ("set ", "change", "changing", "reset", "update", "updating", "rotate", "rotating"),
        r"(?:set|chang\w{1,3}|reset|updat\w{1,3}|rotat\w{1,3})\s(?:[\w'’-]{1,20}\s){0,4}(?:password|passphrase|passcode|pwd|pw)"
        r"\s(?:(?:for|of|on)\s\S{1,40}\s){0,2}(?:back\s)?to\s[\"'`]?(?P<value>[^\s\"'`]{4,200})",
        _is_chosen,
        needs=" to ",
    ),
    Rule(
        "password",
        ("pw ", "pw:"),
        r"pw:?\s[\"'`]?(?P<value>[^\s\"'`,;()\[\]{}<>=]{5,60})(?=[\"'`.,;!?]?(?:\s|$))",
        _is_chosen,
    ),
    Rule(
        "seed-phrase",
        ("seed phrase", "recovery phrase", "mnemonic", "seed words"),
        r"\w{4,8}(?:\s(?:phrase|words))?[^\n:=]{0,40}[:=]\s{0,3}[\"'`]?(?P<value>[a-z]{3,8}(?:\s[a-z]{3,8}){11,23})",
    ),
    Rule(
        "password",
        ("identified",),
        r"identified\s{1,3}(?:with\s\w{1,40}\s)?by\s{1,3}['\"](?P<value>[^'\"\n]{2,200})",
    ),
)


@cache
def _compiled() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    return tuple((rule, re.compile(rule.shape, re.IGNORECASE)) for rule in _RULES)


def find(text: str, lowered: str) -> Iterator[Found]:
    """Yield the secrets that their places give away, in no order; `lowered` has the same length."""
    for rule, pattern in _compiled():
        if rule.needs not in lowered:
            continue
        for at in _anchors(lowered, rule.anchors):
            match = pattern.match(text, at)
            if match is None:
                continue
            if rule.check is _is_credential:
                yield from _signatures(text, match)
            if (rule.check is None or rule.check(match)) and not is_placeholder(match["value"]):
                yield Found(match.start("value"), match.end("value"), rule.kind)
    if "://" in text:
        yield from _addresses(text)
    yield from _named_later(text, lowered)


_ANYWHERE = (":543", ":6432:", ":*:", "cookie", *_TABBED)


def _anchors(lowered: str, anchors: tuple[str, ...]) -> Iterator[int]:
    for anchor in anchors:
        at = lowered.find(anchor)
        while at >= 0:
            before = lowered[at - 1 : at]
            free = not (before.isalnum() and before.isascii()) or anchor[-1] == "=" or anchor in _ANYWHERE
            if free or _escaped(lowered, at):
                yield at
            at = lowered.find(anchor, at + len(anchor))


def _escaped(text: str, at: int) -> bool:
    """Say whether the letter before belongs to an escape, as of a line break in JSON."""
    return text[at - 2 : at - 1] == "\\" and text[at - 1] in "nrt"


def _signatures(text: str, match: re.Match[str]) -> Iterator[Found]:
    """Find the secret parts of a header that signs: Digest, OAuth 1, AWS."""
    if (match["scheme"] or "").strip().lower() in {"digest", "aws4-hmac-sha256", "oauth", "hmac"}:
        line = text.find("\n", match.start())
        end = min(match.start() + 2000, line if line > 0 else len(text))
        for part in _SIGNED.finditer(text, match.start(), end):
            yield Found(part.start("value"), part.end("value"), "authorization")


def _addresses(text: str) -> Iterator[Found]:
    """Find the passwords of `scheme://user:password@host`, and tokens that stand as the user."""
    at = text.find("://")
    while at >= 0:
        scheme, url = _SCHEME.search(text, max(0, at - 31), at), _URL.match(text, at + 3)
        at = text.find("://", at + 3)
        if scheme is None or url is None:
            continue
        rest = url["rest"]
        if rest is None:
            if len(url["user"]) >= _LONG and secrets.looks_random(url["user"]):
                yield Found(url.start("user"), url.end("user"), "token")
            continue
        stop = _URL_PATH.search(rest) if scheme[0].lower() in _WEB else None
        end = rest.rfind("@", 0, stop.start() if stop else len(rest))
        if end > 0 and not is_placeholder(rest[:end]):
            yield Found(url.start("rest"), url.start("rest") + end, "password")


def _named_later(text: str, lowered: str) -> Iterator[Found]:
    """Find what is called a password only afterwards: "hunter2 is the password"."""
    for at in _anchors(lowered, ("password", "passphrase", "passwd")):
        if lowered[at - 1 : at] != " ":
            continue
        begin = max(0, at - 160)
        match = _NAMED_LATER.search(text, begin, at)
        if match and not _OF_PASSWORDS.match(text, at + 4) and not is_placeholder(match["value"]):
            yield Found(match.start("value"), match.end("value"), "password")
