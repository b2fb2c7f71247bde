"""The `Source` field: a comma list of references to where an entry comes from."""

from __future__ import annotations

from typing import NamedTuple

_WORDS = ("user", "agent")


class SessionRef(NamedTuple):
    """Records `first` to `last` (0-based, in file order) of a host's session."""

    host: str
    session: str
    first: int | None = None
    last: int | None = None

    def __str__(self) -> str:
        place = f"{self.host}/{_quote(self.session)}" if self.host else _quote(self.session)
        if self.first is None:
            return f"session:{place}"
        return f"session:{place}#{self.first}-{self.first if self.last is None else self.last}"


class GitRef(NamedTuple):
    """A commit."""

    hash: str

    def __str__(self) -> str:
        return f"git:{self.hash}"


class RecordRef(NamedTuple):
    """A session's part of a project's daily record; `session` is the id behind `#session-`."""

    file: str
    session: str = ""

    def __str__(self) -> str:
        return f"record:{self.file}#session-{self.session}" if self.session else f"record:{self.file}"


class DigestRef(NamedTuple):
    """An item of a project's digest."""

    file: str
    item: str = ""

    def __str__(self) -> str:
        return f"digest:{self.file}#{self.item}" if self.item else f"digest:{self.file}"


class WordRef(NamedTuple):
    """`user` or `agent`: someone said so, here and now."""

    word: str

    def __str__(self) -> str:
        return self.word


class OtherRef(NamedTuple):
    """Anything else that stands in a Source field, kept as it is."""

    text: str

    def __str__(self) -> str:
        return self.text


Ref = SessionRef | GitRef | RecordRef | DigestRef | WordRef | OtherRef

USER = WordRef("user")
AGENT = WordRef("agent")


def parse_sources(text: str) -> tuple[Ref, ...]:
    """Read a Source field. What is no known reference is kept as OtherRef.

    A comma in the file name of a record or digest does not end the reference.
    """
    refs: list[Ref] = []
    for piece in text.split(","):
        ref = _parse(piece.strip())
        if ref is None:
            continue
        if isinstance(ref, OtherRef) and refs and isinstance(refs[-1], RecordRef | DigestRef):
            ref = _parse(f"{refs.pop()},{piece.rstrip()}") or ref
        refs.append(ref)
    return tuple(refs)


def render_sources(refs: tuple[Ref, ...]) -> str:
    """Write references as one line, in order, each once."""
    return ", ".join(dict.fromkeys(str(ref) for ref in refs))


def from_user(refs: tuple[Ref, ...]) -> bool:
    """Tell whether a person vouches for it: such an entry stays in force against a model."""
    return USER in refs


def _parse(text: str) -> Ref | None:
    if not text:
        return None
    if text in _WORDS:
        return WordRef(text)
    scheme, _, rest = text.partition(":")
    return (_scheme(scheme, rest) if rest else None) or OtherRef(text)


def _scheme(scheme: str, rest: str) -> Ref | None:
    file, _, item = rest.partition("#")
    match scheme:
        case "session":
            return _session(rest)
        case "git":
            return GitRef(rest)
        case "record":
            return RecordRef(file, item.removeprefix("session-"))
        case "digest":
            return DigestRef(file, item)
        case _:
            return None


def _session(rest: str) -> SessionRef:
    place, mark, span = rest.rpartition("#")
    first, dash, last = span.partition("-")
    if not mark or not _number(first) or (dash and not _number(last)):
        place, first, last = rest, "", ""
    host, slash, session = place.partition("/")
    if not slash:
        host, session = "", place
    start = int(first) if first else None
    return SessionRef(host, _unquote(session), start, int(last) if last else start)


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def _quote(text: str) -> str:
    """Percent-encode what would end the reference: white space, comma, `#`, and `%` itself."""
    if text.isalnum() and text.isascii():
        return text
    return "".join(_byte_codes(c) if c in ",#%" or c.isspace() else c for c in text)


def _byte_codes(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def _unquote(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text, errors="surrogatepass")
