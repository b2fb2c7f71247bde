"""A project's digest as this machine may trust it: its current items, each with its trust.

A digest travels with a repository, so whoever wrote the repository wrote it. What it says of its own trust
counts where the person accepted the repository, or where the file is the one that was written here.
"""

from __future__ import annotations

import os
from pathlib import Path

from lamina import errors
from lamina.formats.digestreader import parse_digest
from lamina.formats.frozen import NamedTuple
from lamina.formats.hashing import entry_hash
from lamina.formats.origin import DIGEST, day_of, key_of
from lamina.formats.scope import Scope, is_key
from lamina.formats.slug import heading_of
from lamina.formats.tombstone import parse_tombstones
from lamina.store import files
from lamina.store.project import Trust
from lamina.store.registry import Registry
from lamina.store.site import site_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from lamina.formats.digest import Digest, Item
    from lamina.formats.tombstone import Tombstones
    from lamina.store.projects import Known

APPROVED, CANDIDATE, FORGOTTEN = "approved", "candidate", "forgotten"
UNAVAILABLE = "unavailable"


class Kept(NamedTuple):
    """The current wording of an item. `date` is the newest day that its sources name."""

    item: Item
    trust: str
    date: date | None = None

    @property
    def heading(self) -> str:
        """The first sentence of what it says."""
        return heading_of(self.item.text)


class ProjectDigest(NamedTuple):
    """A digest that was read. A damaged one has no items; `damage` says where and what."""

    known: Known
    digest: Digest
    items: tuple[Kept, ...]
    data: bytes
    accepted: bool
    """Whether what it says of its trust counts."""
    damage: str = ""

    @property
    def scope(self) -> Scope:
        """The scope that its items belong to."""
        return scope_of(self.known)

    @property
    def name(self) -> str:
        """How references name it: relative to the project with `/`."""
        return name_of(self.known)

    def find(self, id: str) -> Kept | None:
        """Return the item of an id."""
        return next((kept for kept in self.items if kept.item.id == id), None)

    def source(self, item: Item) -> str:
        """Return where an item comes from, as a Source field says it."""
        return ", ".join([f"digest:{self.name}#{item.id}", *(self._ref(ref) for ref in item.sources)])

    def _ref(self, ref: str) -> str:
        file, part = key_of(ref)
        return f"digest:{self.name}#section-{part}" if file == DIGEST else f"record:{ref}"


def load(root: Path, known: Known) -> ProjectDigest:
    """Read a digest, with the trust that its items have for the store at `root`.

    Raises NoSuchFile, UnsafePath (a link, also on the way to it, or a special file) and UnreadableFile.
    """
    path = Path(known.path)
    if os.path.realpath(path) != known.path:
        raise errors.UnsafePath(f"{path}: leads elsewhere", "a digest is a plain file in its project")
    data = files.read_bytes(path)
    accepted = is_accepted(root, known, data)
    try:
        digest = parse_digest(files.decode(path, data))
    except errors.UnreadableFile as problem:
        return ProjectDigest(known, parse_digest(""), (), data, accepted, problem.message)
    if digest.fatal is not None:
        damage = f"{path}:{digest.fatal.line}: {digest.fatal.message}"
        return ProjectDigest(known, digest, (), data, accepted, damage)
    buried = _buried(root, scope_of(known))
    items = tuple(
        Kept(item, FORGOTTEN if buried(item) else _trust(digest, item, accepted=accepted), newest(item))
        for item in digest.current.values()
    )
    return ProjectDigest(known, digest, items, data, accepted)


def is_accepted(root: Path, known: Known, data: bytes) -> bool:
    """Tell whether the person accepted the repository, or these bytes were written on this machine."""
    if known.sha256 and known.sha256 == files.fingerprint(data):
        return True
    trust = Trust.load(root)
    if not trust.repositories:
        return False
    # The home folder only tells what is no workspace; nobody can trust that.
    site = site_of(known.root, registry=Registry.load(root), home=Path(os.sep))
    return site is not None and trust.accepts(site.repository)


def scope_of(known: Known) -> Scope:
    """Return the scope of a digest's items; a folder that is no workspace has the global one."""
    return Scope(known.key if is_key(known.key) else None)


def name_of(known: Known) -> str:
    """Return how references name a digest: relative to the project, `memory/<name>` outside it."""
    root, path = Path(known.root), Path(known.path)
    return path.relative_to(root).as_posix() if root in path.parents else f"memory/{path.name}"


def newest(item: Item) -> date | None:
    """Return the newest day that an item's sources name, else the day of its section."""
    from lamina.formats.dates import parse_day

    days = [day_of(ref) or parse_day(key_of(ref)[1][:10]) for ref in item.sources]
    return max((day for day in days if day), default=parse_day(item.section[:10]))


def _trust(digest: Digest, item: Item, *, accepted: bool) -> str:
    """Return an item's trust: the core's word, or the person's, who approved the refined part.

    The latter counts alone only where no core's answer is awaited.
    """
    if not accepted:
        return CANDIDATE
    by_person = not item.section and digest.refine is not None and digest.status == UNAVAILABLE
    return APPROVED if item.sync == APPROVED or by_person else CANDIDATE


def _buried(root: Path, scope: Scope) -> Callable[[Item], bool]:
    """Return what tells whether an item's content was forgotten, in its workspace or everywhere."""
    folders = dict.fromkeys((f"{scope.folder}/", ""))
    graves = [grave for folder in folders if (grave := _graves(root / f"{folder}suppressed.jsonl")).standing]
    if not graves:
        return lambda _: False
    plain = {record.hash for grave in graves for record in grave.standing if not record.slow}
    slow = [grave for grave in graves if any(record.slow for record in grave.standing)]

    def check(item: Item) -> bool:
        contents = {item.content, entry_hash(heading_of(item.text), item.text)}
        return bool(contents & plain) or any(grave.find(each) for grave in slow for each in contents)

    return check


def _graves(path: Path) -> Tombstones:
    try:
        return parse_tombstones(files.read_optional(path) or "")
    except errors.LaminaError:
        return parse_tombstones("")  # `lamina doctor` tells of it
