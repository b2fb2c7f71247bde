"""The store as the index reads it: which files there are, and the documents in each.

Listing is on the path of every cold search, so it knows folders and stat results only; whatever
parses is imported when a file has to be read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping

from lamina.formats.layers import LAYERS
from lamina.formats.scope import GLOBAL, Scope, is_key
from lamina.index.base import Document, Reading, Stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.formats.entry import Entry
    from lamina.index.digests import Digests
    from lamina.store.layout import Place
    from lamina.store.projects import Known

_NETWORK = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "davfs",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
    }
)
_SHOWN_ELSEWHERE = frozenset(
    {
        "id",
        "date",
        "importance",
        "source",
        "volatility",
        "verified",
        "valid-until",
        "trust",
        "status",
        "branch",
    }
)


class StoreSource:
    """The searchable files of the store at `root`, and the digests of the projects that this machine knows.

    `projects` are digests beside those that are noted in the store's `state/`. A digest's name is its
    absolute path.
    """

    def __init__(self, root: os.PathLike[str] | str, projects: Collection[Known] = ()) -> None:
        self._root = os.path.abspath(os.path.expanduser(root))  # noqa: PTH111 - no pathlib here
        self._projects = projects

    def stamps(self, only: Collection[str] | None = None) -> dict[str, Stamp]:
        """List the plain Markdown files of all searchable layers; links and special files are left out."""
        digests = self._digests()
        found: dict[str, Stamp] = {} if digests is None else digests.stamps(only)
        if only is not None:
            wanted = [rel.rpartition("/") for rel in only if _is_searchable(rel)]
            for folder in {folder for folder, _, _ in wanted if self._is_real(folder)}:
                names = frozenset(name for where, _, name in wanted if where == folder)
                _list(_entries_of(f"{self._root}/{folder}"), folder, names, found)
            return found
        for scope in self._scopes():
            inside = _entries_of(f"{self._root}/{scope}")
            _list(inside, scope, _SINGLE, found)
            for entry in inside:
                if entry.name in _MANY and entry.is_dir(follow_symlinks=False):
                    _list(_entries_of(entry.path), f"{scope}/{entry.name}", None, found)
        return found

    def read(self, rel: str) -> Reading:
        """Parse one file; raises LaminaError for what can't be read or is no plain file."""
        if os.path.isabs(rel) and (digests := self._digests()) is not None:  # noqa: PTH117
            return digests.read(rel)
        from lamina.store.layout import place_of

        data = self._bytes(rel)
        place = place_of(rel)
        if place is None:
            return Reading((), _checksum(data))
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        documents = _sections(text, place, rel) if place.layer == "state" else _entries(text, place, rel)
        return Reading(tuple(documents), _checksum(data))

    def checksum(self, rel: str) -> int:
        """Return the checksum of a file's bytes."""
        return _checksum(self._bytes(rel))

    def _bytes(self, rel: str) -> bytes:
        from pathlib import Path

        from lamina.store.files import read_bytes, refuse_links

        if not os.path.isabs(rel):  # noqa: PTH117
            refuse_links(Path(self._root), rel)
        return read_bytes(Path(self._root, rel))

    def _digests(self) -> Digests | None:
        """Return the projects' digests; None where this machine knows of none."""
        if not self._projects and not os.path.lexists(f"{self._root}/{NOTED}"):
            return None
        from lamina.index.digests import Digests

        return Digests(self._root, self._projects)

    def _scopes(self) -> Iterator[str]:
        if self._is_real(GLOBAL):
            yield GLOBAL
        for entry in _entries_of(f"{self._root}/workspaces") if self._is_real("workspaces") else ():
            if is_key(entry.name) and entry.is_dir(follow_symlinks=False):
                yield f"workspaces/{entry.name}"

    def _is_real(self, folder: str) -> bool:
        """Tell whether no folder on the way is a link; the store's root may be one."""
        path = self._root
        for part in folder.split("/"):
            path = f"{path}/{part}"
            try:
                if not stat.S_ISDIR(os.lstat(path).st_mode):
                    return False
            except OSError:
                return False
        return True


NOTED = "state/projects.json"
_DAYS = ("date", "verified", "valid-until")
_MANY = frozenset(layer.name for layer in LAYERS.values() if layer.many)
_SINGLE = frozenset(f"{layer.name}.md" for layer in LAYERS.values() if layer.searchable)


def _checksum(data: bytes) -> int:
    from zlib import crc32  # a library of its own, which looking for changes does not need

    return crc32(data)


def index_home(root: os.PathLike[str] | str, env: Mapping[str, str], mounts: str | None = None) -> str:
    """Return the folder for the index: the store's own, or one in the cache if that is on a network disk.

    SQLite's locks can't be trusted across machines. `mounts` is the text of /proc/mounts, read when not
    given; where there is none, the store's own folder is used.
    """
    root = os.path.realpath(root)
    if not _is_remote(root, _mounts() if mounts is None else mounts):
        return f"{root}/index"
    from hashlib import sha256

    cache = env.get("XDG_CACHE_HOME") or f"{env.get('HOME', '')}/.cache"
    name = sha256(os.fsencode(root)).hexdigest()[:16]
    return f"{cache}/lamina/index-{name}"


def _is_remote(root: str, mounts: str) -> bool:
    best, remote = "", False
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _unescape(fields[1])
        inside = root == point or root.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            kind = fields[2]
            best, remote = (
                point,
                kind in _NETWORK or kind.startswith(("fuse.sshfs", "fuse.rclone", "fuse.s3")),
            )
    return remote


def _mounts() -> str:
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""


def _unescape(point: str) -> str:
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, sign)
    return point


def _entries_of(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _list(
    entries: Iterable[os.DirEntry[str]], rel: str, names: frozenset[str] | None, found: dict[str, Stamp]
) -> None:
    """Put the stamps of a folder's plain Markdown files into `found`, of those named if there are names."""
    for entry in entries:
        name = entry.name
        if name[-3:] != ".md" or name[0] == "." or (names is not None and name not in names):
            continue
        if not name.isascii() and any("\udc80" <= char <= "\udcff" for char in name):
            continue  # bytes that are no text: the store leaves such a file out, too, and says so
        try:
            info = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # gone between listing and looking
        if stat.S_ISREG(info.st_mode):
            found[f"{rel}/{name}"] = (info.st_mtime_ns, info.st_size, info.st_ino, info.st_ctime_ns)


def _is_searchable(rel: str) -> bool:
    scope, _, rest = rel.removeprefix("workspaces/").partition("/")
    layer, _, name = rest.partition("/")
    if scope != GLOBAL and not (rel.startswith("workspaces/") and is_key(scope)):
        return False
    return layer in _MANY and "/" not in name if name else layer in _SINGLE


def _entries(text: str, place: Place, rel: str) -> Iterator[Document]:
    if place.slug is None and "## " not in text:
        return  # a generated list of topics
    from lamina.formats.entry import parse_topic

    topic = parse_topic(text)
    title = topic.title or place.slug or LAYERS[place.layer].title
    for entry in topic.entries:
        yield _document(entry, place.scope, place.layer, title, rel)


def _document(entry: Entry, scope: Scope, layer: str, topic: str, rel: str) -> Document:
    from lamina.formats.dates import parse_day
    from lamina.formats.entry import IMPORTANCE, parse_importance

    fields: dict[str, str] = {}
    more: list[str] = []
    for field in entry.fields:
        label = field.label.lower()
        fields.setdefault(label, field.value)
        if label not in _SHOWN_ELSEWHERE:
            more.append(field.value)
    day = {label: parse_day(fields[label]) for label in _DAYS if label in fields}
    return Document(
        fields.get("id", ""),
        scope.name,
        layer,
        topic,
        entry.heading,
        entry.body,
        rel,
        entry.line,
        day.get("date"),
        parse_importance(fields.get("importance", "")) or IMPORTANCE,
        entry.trust,
        entry.volatility or "",
        day.get("verified"),
        day.get("valid-until"),
        fields.get("source", ""),
        fields.get("branch", ""),
        " ".join(more),
    )


def _sections(text: str, place: Place, rel: str) -> Iterator[Document]:
    from lamina.formats.state import parse_state

    at = 0
    for section in parse_state(text).sections:
        day = section.verified.date() if section.verified else None
        at = max(text.find(section.raw, at), at)
        yield Document(
            "", place.scope.name, place.layer, LAYERS[place.layer].title, section.title, section.text, rel,
            1 + text.count("\n", 0, at), day, verified=day,
        )  # fmt: skip
