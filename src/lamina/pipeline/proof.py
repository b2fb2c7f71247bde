"""Proof: what a project's repository says today about what an entry claims.

Lines of tracked files and commits that hold what can be checked of the entry: paths, identifiers, quoted
values, versions, numbers, names. Little is shown, all of it redacted. A repository that is not on this
machine, and the global scope, give nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lamina.pipeline.redact import redact
from lamina.store import tracked
from lamina.store.registry import Registry
from lamina.store.repository import repository_at

if TYPE_CHECKING:
    from datetime import date

    from lamina.formats.entry import Entry
    from lamina.formats.scope import Scope
    from lamina.store.store import Located, Store
    from lamina.store.tracked import Commit, Match

LINES, BYTES = 12, 1_500
"""How much is shown for one entry at most."""
WITHIN_S = 20.0
"""How long all of it may take."""

_FILE_LINES, _COMMITS = 8, 4
_TERMS, _TERM_CHARS = 10, 80
_LINE_CHARS, _LONGEST = 160, 4_000
_FILES_READ, _CANDIDATES = 200, 60
_MATCHES = 1_000
"""Places of one term that are looked at; what stands everywhere says little anyway."""
_STRONG, _WEAK = 2, 1

_QUOTED = re.compile(
    r"`([^`\n]{2,80})`|[\"“„«「]([^\"“”„«»「」\n]{2,80})[\"”“»」]|(?<!\w)'([^'\n]{2,80})'(?!\w)"
)
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`，。、）」]+")
_PATH = re.compile(r"(?<![\w/\\.~-])(?:[A-Za-z]:|[~.]{0,2})[/\\]?[\w.@+-]+(?:[/\\][\w.@+-]+)+/?")
_FILE = re.compile(
    r"(?<![\w./-])[\w-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/-])|(?<![\w./-])\.[a-z][\w.-]{2,30}"
)
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+)+(?:[-+][0-9A-Za-z.]+)?(?!\w)")
_FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]+")
_IDENTIFIER = re.compile(r"(?a:\b[A-Za-z]\w*_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*)")
_NUMBER = re.compile(r"(?<![\w.,:-])\d[\d_,]*(?![\w:-])(?!\.\d)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_NAME = re.compile(r"(?a:(?<![\w.])[A-Za-z][A-Za-z0-9]+(?:[-+#][A-Za-z0-9]+)*)")
_WORD = re.compile(r"[^\W\d_]{4,}")
_OWN = re.compile(r"(?:^|/)(?:\d{4}-\d{2}-\d{2}-[^/]*-memory\.md|digest\.md)$|(?:^|/)state/digests/")
"""Lamina's own records in a project: an entry is no proof of itself."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")

_COMMIT = re.compile(r"commit [0-9a-f]{4,40} \d{4}-\d{2}-\d{2}: ")
_TOUCHED = re.compile(r" \([^()]*\)$")
_PLACE = re.compile(r"^.{1,210}?:\d+: ")

Proof = Callable[[Sequence["Located"]], Mapping[str, Sequence[str]]]
"""Gives the lines to show for each entry, by id; entries without proof are left out."""


class Term(NamedTuple):
    """Something that can be looked up. A weak one counts only beside another word of the entry."""

    text: str
    weight: int


@dataclass(slots=True)
class _Claim:
    """One entry while its proof is gathered."""

    id: str
    since: date | None
    terms: tuple[Term, ...]
    words: frozenset[str]
    lines: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def gather(
    store: Store, entries: Sequence[Located], *, within_s: float = WITHIN_S
) -> dict[str, tuple[str, ...]]:
    """Look up what entries claim in their workspaces' repositories; entries without proof are left out."""
    until = time.monotonic() + within_s
    places: dict[Scope, list[Located]] = {}
    for each in entries:
        places.setdefault(each.scope, []).append(each)
    found: dict[str, tuple[str, ...]] = {}
    for scope, some in places.items():
        top = repository_of(store, scope)
        if top is not None and time.monotonic() < until:
            claims = [_claim(each.entry) for each in some if each.entry.id]
            _look(top, [claim for claim in claims if claim.terms], until)
            found |= {claim.id: bounded(claim.lines) for claim in claims if claim.lines}
    return found


def repository_of(store: Store, scope: Scope) -> Path | None:
    """Return the top of a workspace's worktree on this machine, the main one first; None without one.

    Only a folder that is itself the top of a repository counts: one above it may be somebody else's.
    """
    if scope.key is None:
        return None
    spots = Registry.load(store.root).spots("worktree", "folder")
    tops = [
        repository
        for path, spot in spots
        if spot.key == scope.key and (repository := repository_at(Path(path))) and repository.top
    ]
    tops.sort(key=lambda each: (each.linked, str(each.top)))
    return tops[0].top if tops else None


def terms_of(text: str) -> tuple[Term, ...]:
    """List what can be looked up of a text, the most telling first, at most ten."""
    found: dict[str, int] = {}
    rest = _DAY.sub(" ", text)
    for pattern, weight in _KINDS:
        for match in pattern.finditer(rest):
            value = next((group for group in match.groups() if group), match[0]).strip().rstrip(".,;:!?")
            if _is_term(value) and (pattern is not _NAME or _is_name(match)):
                found.setdefault(value, _WEAK if value.isdigit() and len(value) < 4 else weight)
        rest = pattern.sub(" ", rest) if pattern is not _QUOTED else rest.replace("`", " ")
    ordered = sorted(found.items(), key=lambda each: -each[1])
    return tuple(Term(value, weight) for value, weight in ordered[:_TERMS])


_KINDS = (
    (_QUOTED, _STRONG), (_URL, _STRONG), (_PATH, _STRONG), (_FILE, _STRONG), (_VERSION, _STRONG),
    (_FLAG, _STRONG), (_IDENTIFIER, _STRONG), (_NUMBER, _STRONG), (_NAME, _WEAK),
)  # fmt: skip


def _is_term(value: str) -> bool:
    return 1 < len(value) <= _TERM_CHARS and value.isprintable() and any(char.isalnum() for char in value)


def _is_name(match: re.Match[str]) -> bool:
    """Tell a name from a word: a capital inside a sentence, capitals only, a digit in it, or Latin in Han."""
    value, before = match[0], match.string[: match.start()].rstrip(" *_(\"'“`")
    if any(char.isdigit() for char in value) or value.isupper() or (before and before[-1] >= "\u2e80"):
        return True
    return value[0].isupper() and bool(before) and before[-1] not in ".!?:\n-*#"


def _claim(entry: Entry) -> _Claim:
    text = f"{entry.heading}\n{entry.body}"
    words = frozenset(match[0].casefold() for match in _WORD.finditer(text))
    return _Claim(entry.id, entry.verified or entry.date, terms_of(text), words)


def _look(top: Path, claims: Sequence[_Claim], until: float) -> None:
    """Look up all claims on one repository at once: listing, one search, one walk of the history."""
    if not claims:
        return
    names = tracked.tracked_files(top, within_s=_left(until))
    _paths(claims, names)
    wanted = list(dict.fromkeys(term.text for claim in claims for term in claim.terms))
    known = frozenset(names)
    matches: dict[str, list[Match]] = {}
    for match in tracked.grep_tracked(top, wanted, within_s=_left(until) / 2):
        some = matches.setdefault(match.text.casefold(), [])
        if len(some) < _MATCHES and match.path in known and not _OWN.search(match.path):
            some.append(match)
    reader = _Reader(top)
    for claim in claims:
        _lines(claim, matches, reader, until)
    days = [claim.since for claim in claims if claim.since]
    if days:
        commits = tracked.commits_about(top, min(days), within_s=_left(until))
        for claim in claims:
            claim.lines[:0] = _gone(claim, commits, known)
            claim.lines += _told(claim, commits)


def _left(until: float) -> float:
    return max(0.1, until - time.monotonic())


def _paths(claims: Sequence[_Claim], names: Sequence[str]) -> None:
    """Note the tracked files and folders that claims name."""
    by_name: dict[str, list[str]] = {}
    for name in names:
        by_name.setdefault(name.rpartition("/")[2], []).append(name)
    folders = {
        "/".join(parts[:at]) for name in names if (parts := name.split("/")) for at in range(1, len(parts))
    }
    known = frozenset(names)
    for claim in claims:
        for path in _named(claim):
            if path in known or path in folders:
                claim.lines.append(f"{_plain(path)}: is tracked")
            if path in known:
                claim.files.append(path)
            elif "/" not in path and len(by_name.get(path, ())) == 1:
                claim.files += by_name[path]
                claim.lines.append(f"{_plain(by_name[path][0])}: is tracked")


def _lines(claim: _Claim, matches: Mapping[str, Sequence[Match]], reader: _Reader, until: float) -> None:
    """Add the lines that hold most of what the claim says, rare terms before common ones."""
    weights = {term.text.casefold(): term.weight for term in claim.terms}
    spread = {text: len({match.path for match in matches.get(text, ())}) for text in weights}
    places: dict[tuple[str, int], set[str]] = {}
    for text in weights:
        for match in matches.get(text, ()):
            places.setdefault((match.path, match.line), set()).add(text)

    def worth(place: tuple[str, int]) -> float:
        return sum(weights[text] / spread[text] for text in places[place])

    scored = []
    for place in sorted(places, key=lambda each: (-worth(each), each))[:_CANDIDATES]:
        line = reader.line(*place) if time.monotonic() < until else None
        if line is None or not any(text in line.casefold() for text in places[place]):
            continue
        company = len({match[0].casefold() for match in _WORD.finditer(line)} & claim.words - places[place])
        if len(places[place]) > 1 or company or any(weights[text] == _STRONG for text in places[place]):
            scored.append((-(worth(place) + company / 4), place, line))
    for _, (path, number), line in sorted(scored)[:_FILE_LINES]:
        hit = min(places[path, number], key=lambda text: line.casefold().find(text))
        claim.lines.append(f"{_plain(path)}:{number}: {_around(line, hit)}")
        claim.files.append(path)


def _gone(claim: _Claim, commits: Sequence[Commit], known: frozenset[str]) -> list[str]:
    """Tell of the files that a claim names, that a commit since its day touched, and that are no more."""
    touched = frozenset(name for commit in _since(claim, commits) for name in commit.files) - known
    return [
        f"{_plain(path)}: was deleted or moved, is no longer tracked"
        for path in _named(claim)
        if path in touched
    ]


def _since(claim: _Claim, commits: Sequence[Commit]) -> list[Commit]:
    return [commit for commit in commits if claim.since is not None and commit.day >= str(claim.since)]


def _named(claim: _Claim) -> dict[str, None]:
    """Return the terms of a claim as paths may be written, in their order."""
    return dict.fromkeys(term.text.replace("\\", "/").removeprefix("./").strip("/") for term in claim.terms)


def _told(claim: _Claim, commits: Sequence[Commit]) -> list[str]:
    """Tell of the commits since the claim's day that name its terms, then of those that touch its files."""
    files, paths = frozenset(claim.files), _named(claim)
    naming, touching = [], []
    for commit in _since(claim, commits):
        message = f"{commit.subject}\n{commit.body}"
        touched = [name for name in commit.files if name in files or name in paths]
        if any(_stands(term.text, message) for term in claim.terms if term.weight == _STRONG):
            naming.append((commit, touched))
        elif touched:
            touching.append((commit, touched))
    return [_commit_line(commit, touched) for commit, touched in [*naming, *touching][:_COMMITS]]


def _commit_line(commit: Commit, touched: Sequence[str]) -> str:
    subject = _around(redact(commit.subject).text, "")
    where = f" ({', '.join(_plain(name) for name in touched[:2])})" if touched else ""
    return f"commit {commit.hash[:10]} {commit.day}: {subject}{where}"


def _stands(term: str, text: str) -> bool:
    """Say whether a term stands in a text, not as a part of a longer word."""
    pattern = rf"(?<![A-Za-z0-9_]){re.escape(term)}(?![A-Za-z0-9_])"
    return re.search(pattern, text, re.IGNORECASE) is not None


class _Reader:
    """Reads lines of tracked files, few files and each once, without their secrets."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._files: dict[str, list[str]] = {}

    def line(self, path: str, number: int) -> str | None:
        """Return a line (1-based); None for what can't or may not be shown."""
        if path not in self._files:
            if len(self._files) >= _FILES_READ:
                return None
            self._files[path] = self._read(path)
        lines = self._files[path]
        if number > len(lines) or len(lines[number - 1]) > _LONGEST:
            return None
        # Some secrets begin on a line above; what a key's block hides is gone from the whole text already.
        block = redact("\n".join(lines[max(0, number - 4) : number])).text
        return block.rpartition("\n")[2].strip() or None

    def _read(self, path: str) -> list[str]:
        text = tracked.read_tracked(self._top, path) or ""
        lines = text.split("\n")
        if "-BEGIN " in text or "Private-Lines" in text or "<private" in text.lower():
            open_lines = frozenset(redact(text).text.split("\n"))
            lines = [line if line in open_lines else "" for line in lines]
        return lines


def _around(line: str, hit: str) -> str:
    """Return a line, or the part of a long one around what was found."""
    line = _CONTROL.sub(" ", line).strip()
    if len(line) <= _LINE_CHARS:
        return line
    start = max(0, line.casefold().find(hit) - _LINE_CHARS // 3)
    cut = line[start : start + _LINE_CHARS].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + _LINE_CHARS < len(line) else ''}"


def _plain(path: str) -> str:
    """Return a path on one line, its secrets and its control characters replaced."""
    return _CONTROL.sub("\ufffd", redact(path).text)[:200]


def said_in(line: str) -> str:
    """Return what a line of proof tells: without its place, its commit and the files that it touches."""
    if found := _COMMIT.match(line):
        return _TOUCHED.sub("", line[found.end() :])
    return _PLACE.sub("", line, count=1)


def speaks_of(said: str, text: str) -> bool:
    """Say whether a line holds something exact that a text names."""
    return any(_stands(term.text, said) for term in terms_of(text) if term.weight == _STRONG)


def bounded(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines that fit: each once, whole, at most twelve and 1,500 bytes."""
    kept: list[str] = []
    room = BYTES
    for line in dict.fromkeys(lines):
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0 or len(kept) == LINES:
            break
        kept.append(line)
    return tuple(kept)
