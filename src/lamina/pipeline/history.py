"""History: commits of the repositories of each workspace become entries, one file per UTC day.

The entries themselves are the authority: their `Source` and last `Commit:` line tell what is there, forgotten
ones included. `state/history.json` only saves looking: without it nothing comes twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.errors import LaminaError
from lamina.formats.dates import parse_time, render_time
from lamina.formats.entry import Draft
from lamina.formats.scope import Scope
from lamina.formats.slug import whole_words
from lamina.formats.source import GitRef, parse_sources
from lamina.formats.structure import one_line, unix
from lamina.pipeline.redact import redact
from lamina.store import commits, files, locks
from lamina.store.commits import Commit
from lamina.store.registry import Registry
from lamina.store.tombstones import Graves

if TYPE_CHECKING:
    from lamina.store.store import Store

MARKS = "state/history.json"
LIMIT = 200
NAMED_FILES = 40
"""Changed files that an entry names."""

_BATCH = 500
_READ_CHARS = 20_000
_BODY_CHARS = 4_000
_HEADING_CHARS = 120
_SHORT = 9
_LABEL = "Commit: "
_EPOCH = date(1970, 1, 1)

Off = Callable[[Path], str | None]
"""Says why nothing of a repository's folder may be taken, None if it may."""


@dataclass(slots=True)
class Repository:
    """What became of one repository; `reason` says why it was left out, or what to know of it."""

    folder: str
    commits: int = 0
    fell_back: bool = False
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape that programs rely on."""
        told = {"folder": self.folder, "commits": self.commits, "fellBack": self.fell_back}
        return told | ({"reason": self.reason} if self.reason else {})


@dataclass(slots=True)
class Ingested:
    """What one pass did: commits met for the first time, entries made of them, new commits left for later."""

    commits: int = 0
    entries: int = 0
    left: int = 0
    repositories: list[Repository] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape that programs rely on."""
        return {
            "commits": self.commits,
            "entries": self.entries,
            "left": self.left,
            "fellBack": any(each.fell_back for each in self.repositories),
            "repositories": [each.as_json() for each in self.repositories],
        }


@dataclass(slots=True)
class Known:
    """The commits that a workspace's history holds; a person may have written short hashes."""

    whole: set[str] = field(default_factory=set)
    short: set[str] = field(default_factory=set)

    @classmethod
    def load(cls, store: Store, scope: Scope) -> Known:
        """Read them from the entries, forgotten and superseded ones too."""
        known = cls()
        for located in store.entries(scope, "history"):
            for hash_ in hashes_of(located.entry.body, located.entry.source):
                (known.whole if len(hash_) >= 40 else known.short).add(hash_)
        return known

    def __contains__(self, hash_: str) -> bool:
        lengths = {len(each) for each in self.short}
        return hash_ in self.whole or any(hash_[:length] in self.short for length in lengths)


def hashes_of(body: str, source: str) -> Iterator[str]:
    """Yield the commits that an entry names as its own; a `Commit:` line before the last one is prose."""
    last = body.rstrip().rpartition("\n")[2].strip()
    told = [last.removeprefix(_LABEL).strip()] if last.startswith(_LABEL) else []
    told += [ref.hash for ref in parse_sources(source) if isinstance(ref, GitRef)]
    yield from (each.lower() for each in told if _is_hash(each.lower()))


def draft_of(commit: Commit, scope: Scope) -> Draft:
    """Make the entry of a commit; its message is a stranger's text, so secrets and controls go."""
    subject, body = _parts(redact(_plain(commit.message[:_READ_CHARS])).text)
    heading = whole_words(subject, _HEADING_CHARS) if len(subject) > _HEADING_CHARS else subject
    if heading != subject:
        body = f"{subject}\n\n{body}"
    if len(body) > _BODY_CHARS or len(commit.message) > _READ_CHARS:
        body = f"{body[:_BODY_CHARS].rstrip()}\n… (cut)"
    parts = (body.strip(), _listed(commit.files), f"{_LABEL}{commit.hash}")
    day = _day(commit.seconds)
    return Draft(
        heading=f"{heading or '(no message)'} ({commit.hash[:_SHORT]})",
        body="\n\n".join(part for part in parts if part),
        scope=scope,
        layer="history",
        topic=day.isoformat(),
        date=day,
        source=str(GitRef(commit.hash)),
    )


def ingest(
    store: Store, now: datetime, *, limit: int = LIMIT, wait_s: float = 30.0, off: Off = lambda _: None
) -> Ingested:
    """Take in at most `limit` new commits, the oldest first; what is left comes with the next pass.

    One process at a time: raises Busy if another is at it for longer than `wait_s`.
    """
    with locks.lock(store.layout.lock("history"), timeout_s=wait_s):
        return _Pass(store, now, limit, off, dry_run=False).run()


def foresee(store: Store, now: datetime, *, limit: int = LIMIT, off: Off = lambda _: None) -> Ingested:
    """Tell what `ingest` would do; nothing is written."""
    return _Pass(store, now, limit, off, dry_run=True).run()


def is_due(store: Store, now: datetime, every_s: int) -> bool:
    """Tell whether there are repositories to look at and the last look is `every_s` seconds old."""
    since = parse_time(_marks(store)["at"])
    if since is not None and timedelta(0) <= now - since < timedelta(seconds=every_s):
        return False
    return any(Registry.load(store.root).spots("common"))


class _Pass:
    def __init__(self, store: Store, now: datetime, limit: int, off: Off, *, dry_run: bool) -> None:
        self.store, self.now, self.room, self.off, self.dry_run = store, now, limit, off, dry_run
        self.marks = _marks(store)
        self.known: dict[str, Known] = {}
        self.done = Ingested()

    def run(self) -> Ingested:
        failed: LaminaError | None = None
        for folder, spot in Registry.load(self.store.root).spots("common", "folder", "gone"):
            told = Repository(folder)
            self.done.repositories.append(told)
            try:
                self._repository(told, spot.key, spot.kind)
            except LaminaError as problem:
                told.reason = problem.message
                failed = failed or problem
        if not self.dry_run:
            self.marks["at"] = render_time(self.now)
            self._save()
        if failed is not None and not self.dry_run:
            raise failed
        return self.done

    def _repository(self, told: Repository, key: str, kind: str) -> None:
        common = Path(told.folder)
        told.reason = self._closed(common, kind)
        if told.reason:
            return
        tip = commits.tip(common)
        told.reason = tip.reason
        lasts = self.marks["last"].setdefault(key, {})
        last = str(lasts.get(told.folder, ""))
        if not tip.hash or tip.hash == last:
            return
        told.fell_back = bool(last) and not commits.is_ancestor(common, last, tip.hash)
        listed = commits.hashes(common, tip.hash, after="" if told.fell_back else last)
        if listed is None:
            told.reason = "git broke off while it listed the commits; the next look tries again"
            return
        if key not in self.known:
            self.known[key] = Known.load(self.store, Scope(key))
        fresh = [each for each in listed if each not in self.known[key]]
        taken = fresh[: max(0, self.room)]
        self.room -= len(taken)
        self.done.left += len(fresh) - len(taken)
        missing = 0
        for start in range(0, len(taken), _BATCH):
            missing += self._take(told, common, key, taken[start : start + _BATCH])
            if not self.dry_run and not missing:
                lasts[told.folder] = taken[: start + _BATCH][-1]
                self._save()
        if missing:  # the mark stays before them, and what was taken is known by its entries
            self.done.left += missing
            told.reason = f"git could not read {missing} commits; the next look tries again"
        elif len(taken) == len(fresh):
            lasts[told.folder] = tip.hash

    def _closed(self, common: Path, kind: str) -> str:
        """Say why a repository is not looked at, "" if it is."""
        if not os.path.isdir(common):  # noqa: PTH112 - False where pathlib raises
            return "is gone, or can't be reached now"
        if kind != "common":
            return "is no git repository"
        why = self.off(common.parent if common.name == ".git" else common)
        return f"capture is off there: {why}" if why else ""

    def _take(self, told: Repository, common: Path, key: str, some: Sequence[str]) -> int:
        """Make entries of these commits; returns how many could not be read."""
        scope = Scope(key)
        graves = Graves.load(self.store, scope)
        read = list(commits.read(common, some))
        drafts = [
            draft
            for draft in (draft_of(each, scope) for each in read)
            if graves.exact(draft.heading, draft.body) is None
        ]
        with self.store.writing(label="history", at=self.now, dry_run=self.dry_run) as batch:
            for draft in drafts:
                batch.add(draft)
        self.known[key].whole.update(each.hash for each in read)
        told.commits += len(read)
        self.done.commits += len(read)
        self.done.entries += len(drafts)
        return len(some) - len(read)

    def _save(self) -> None:
        text = json.dumps(self.marks, ensure_ascii=True, indent=1, sort_keys=True)
        files.overwrite(self.store.root / MARKS, text + "\n")


def _marks(store: Store) -> dict[str, Any]:
    """Return when the last pass was and how far each repository is read; what is damaged counts as lost."""
    try:
        said = files.parse_json(files.read_optional(store.root / MARKS) or "{}")
    except (ValueError, LaminaError):
        said = {}
    said = said if isinstance(said, dict) else {}
    at, last = said.get("at"), said.get("last")
    kept = (
        {key: value for key, value in last.items() if isinstance(value, dict)}
        if isinstance(last, dict)
        else {}
    )
    return {"at": at if isinstance(at, str) else "", "last": kept}


def _parts(message: str) -> tuple[str, str]:
    """Cut a message into its first paragraph on one line, and the rest."""
    first, _, rest = message.strip().partition("\n\n")
    return one_line(first), rest.strip()


def _plain(text: str) -> str:
    """Drop what controls a terminal or turns the direction of writing; tabs and line breaks stay."""
    return "".join(char for char in unix(text) if char in "\n\t" or not _controls(char))


def _controls(char: str) -> bool:
    return (
        char < " " or "\x7f" <= char <= "\x9f" or "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"
    )


def _listed(names: Sequence[str]) -> str:
    if not names:
        return ""
    lines = [f"- {one_line(_plain(name))[:400]}" for name in names[:NAMED_FILES]]
    if len(names) > NAMED_FILES:
        lines.append(f"- … and {len(names) - NAMED_FILES} more")
    return redact("Changed files:\n\n" + "\n".join(lines)).text


def _day(seconds: int) -> date:
    try:
        return datetime.fromtimestamp(seconds, UTC).date()
    except (ValueError, OverflowError, OSError):
        return _EPOCH


def _is_hash(text: str) -> bool:
    return 7 <= len(text) <= 64 and all(char in "0123456789abcdef" for char in text)
