"""Which workspace a folder is: the one resolver that reads and writes share.

Resolving never writes, starts no process and never looks at this process's own working directory.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from lamina import errors
from lamina.formats.frozen import NamedTuple
from lamina.formats.scope import GLOBAL, Scope, is_key
from lamina.store.project import Project, Trust
from lamina.store.registry import Registry, Spot
from lamina.store.site import Site, site_of

RootCommits = Callable[[Path], Collection[str]]
"""Gives the root commits of the repository at a folder; empty before the first commit."""

VARIABLE = "LAMINA_WORKSPACE"
_KEY_BYTES = 64
_RULE = "a key is made of a-z, 0-9, '.', '_' and '-', starts with a letter or digit and has at most 64"


class Workspace(NamedTuple):
    """What a folder (or an explicit name) resolves to; `key` None is the global scope."""

    key: str | None
    title: str = ""
    identity: str = ""
    """`remote:<url>`, `path:<real path>` or, for a name that no folder stands for, `key:<key>`."""
    how: str = "global"
    """What decided: `argument`, `environment`, `project`, `remote`, `path`, `name` or `global`."""
    known: bool = False
    """Whether the store has it already; if not, `workspaces.register` makes it at the first write."""
    site: Site | None = None
    """The folder's own facts, also where an explicit name overrules them."""
    bound: bool = False
    """Whether the folder is this workspace's: then its remote and path are recorded with it."""
    project: Project | None = None
    warnings: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """The scope that its entries go to."""
        return Scope(self.key)

    @property
    def root(self) -> Path | None:
        """The top level of the worktree, or the folder."""
        return self.site.root if self.site and self.bound else None

    @property
    def common_dir(self) -> Path | None:
        """The git folder that all worktrees share."""
        return self.site.common_dir if self.site and self.bound else None

    @property
    def remotes(self) -> tuple[str, ...]:
        """The normalised `origin` of the folder, if there is one."""
        return self.site.remotes if self.site and self.bound else ()


class Assigned(NamedTuple):
    """The key of a site. `known` False: it is new and free."""

    key: str
    known: bool
    how: str


def resolve(  # noqa: PLR0913 - the whole of what decides, so that nothing else can
    cwd: str | Path | None,
    *,
    registry: Registry,
    env: Mapping[str, str],
    home: Path,
    root_commits: RootCommits = lambda _: (),
    explicit: str | None = None,
    transcript_remote: str | None = None,
) -> Workspace:
    """Return the workspace of a session that works in `cwd` (absolute; None is global).

    `explicit` wins over `LAMINA_WORKSPACE`, that over the folder. `transcript_remote` is the origin URL that
    a transcript names; it counts only if the folder is gone. Raises BadKey for a name that can't be a key.
    """
    site = site_of(cwd, registry=registry, home=home, transcript_remote=transcript_remote)
    project = site.project if site else None
    if site and project:
        project = project.judged(Trust.load(registry.root), site.repository)
        site = site._replace(project=project)
    named, how = (explicit, "argument") if explicit else (env.get(VARIABLE, "").strip(), "environment")
    if named:
        found = _named(named, how, site, registry, root_commits)
    elif site is None:
        return Workspace(None)
    else:
        found = _asked(site, registry, root_commits) or _bound(
            site, assign(site, registry, root_commits), registry
        )
    return found._replace(project=project, warnings=_warnings(found, project))


def assign(site: Site, registry: Registry, root_commits: RootCommits) -> Assigned:
    """Return the key that a site has in the store, or the one that it would get.

    A known remote decides first, then this machine's record of the folder; a name decides only what is new.
    """
    keys = [key for remote in site.remotes for key in registry.with_remote(remote)]
    spot = site.spot(registry)
    if keys:
        return Assigned(spot.key if spot and spot.key in keys else keys[0], known=True, how="remote")
    if spot and _same(site, spot, registry, root_commits):
        return Assigned(spot.key, known=True, how="path")
    key = derive_key(site.name, site.identity, lambda key: key in registry and not registry.is_unclaimed(key))
    return Assigned(key, known=key in registry, how="remote" if site.remotes else "path")


def derive_key(name: str, identity: str, taken: Callable[[str], bool]) -> str:
    """Make a key from a repository's or folder's own name; never from a path.

    A name that can't be a key, or one that another identity holds, is told apart by the identity's SHA-256.
    """
    slug = slug_of(name)
    if is_key(slug) and not taken(slug):
        return slug
    from hashlib import sha256

    digest = sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
    for length in (6, 12, 40):
        key = _tagged(slug, digest[:length])
        if not taken(key):
            return key
    raise errors.BadKey(f"no free workspace key for {name!r}", "name one with --workspace")


def slug_of(name: str) -> str:
    """Return a name as far as a key can hold it: ASCII, lower case; may be empty."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    return re.sub(r"[^a-z0-9._-]+", "-", plain).strip("-._")[:_KEY_BYTES].strip("-._")


def key_named(text: str, registry: Registry) -> str:
    """Return the key that a person means: a key, a title, or either in other case.

    Raises BadKey with a hint for what can't be one.
    """
    name = text.strip().removeprefix("workspace:")
    lower = name.lower()
    if lower == GLOBAL:
        raise errors.BadKey(f"{text!r} is the scope outside workspaces", "use --scope global")
    if name in registry:
        return name
    titled = registry.titled(name)
    if len(titled) == 1:
        return titled[0]
    if is_key(lower):
        return lower
    better = slug_of(re.split(r"[\\/]", name.rstrip("\\/"))[-1])
    hint = f"{_RULE}; try {better!r}" if is_key(better) else _RULE
    raise errors.BadKey(f"{text!r} can't be the key of a workspace", hint)


def _named(
    name: str, how: str, site: Site | None, registry: Registry, root_commits: RootCommits
) -> Workspace:
    try:
        key = key_named(name, registry)
    except errors.BadKey as problem:
        if how == "environment":
            raise errors.BadKey(f"{VARIABLE}: {problem.message}", problem.hint) from None
        raise
    own = assign(site, registry, root_commits) if site else None
    if site and own and own.key == key:
        return _bound(site, own, registry)._replace(how=how)
    return _unbound(key, name, how, site, registry)


def _asked(site: Site, registry: Registry, root_commits: RootCommits) -> Workspace | None:
    """Return the workspace that the project file asks for, if it may have it."""
    project = site.project
    if project is None or project.workspace is None:
        return None
    try:
        key = key_named(project.workspace, registry)
    except errors.BadKey as problem:
        return _with_warning(
            site, registry, root_commits, f"{project.path}: {problem.message}: {problem.hint}"
        )
    own = assign(site, registry, root_commits)
    if own.key == key or key not in registry or _owns(site, key, registry, root_commits):
        return _bound(site, Assigned(key, key in registry, "project"), registry)._replace(how="project")
    if project.trusted:
        return _unbound(key, key, "project", site, registry)
    told = f"{project.path}: workspace {key!r} belongs to another project and is ignored until `lamina trust`"
    return _with_warning(site, registry, root_commits, told)


def _with_warning(site: Site, registry: Registry, root_commits: RootCommits, text: str) -> Workspace:
    return _bound(site, assign(site, registry, root_commits), registry)._replace(warnings=(text,))


def _owns(site: Site, key: str, registry: Registry, root_commits: RootCommits) -> bool:
    """Tell whether a key, perhaps one of several, already stands for this site."""
    known = registry.get(key)
    if known and set(known.remotes) & set(site.remotes):
        return True
    spot = site.spot(registry)
    if spot and spot.key == key and _same(site, spot, registry, root_commits):
        return True
    return registry.is_unclaimed(key)


def _same(site: Site, spot: Spot, registry: Registry, root_commits: RootCommits) -> bool:
    """Tell whether a folder is still what it was when this machine recorded it.

    Without a remote then and now, the path itself is the identity. Where the origin changed, came or went,
    only the history can tell: the same root commit, or the very same folder if there was no commit yet.
    """
    known = registry.get(spot.key)
    if site.common_dir is None or spot.kind != "common":
        return True
    if known and not known.remotes and not site.remotes:
        return True
    if spot.roots:
        return bool(set(spot.roots) & set(root_commits(site.root)))
    return spot.roots is not None and spot.inode == site.inode


def _bound(site: Site, assigned: Assigned, registry: Registry) -> Workspace:
    known = registry.get(assigned.key)
    return Workspace(
        assigned.key,
        title=known.title if known else site.name,
        identity=site.identity,
        how=assigned.how,
        known=assigned.known,
        site=site,
        bound=True,
    )


def _unbound(key: str, title: str, how: str, site: Site | None, registry: Registry) -> Workspace:
    known = registry.get(key)
    return Workspace(
        key,
        title=known.title if known else title.strip().removeprefix("workspace:"),
        identity=f"key:{key}",
        how=how,
        known=known is not None,
        site=site,
    )


def _warnings(found: Workspace, project: Project | None) -> tuple[str, ...]:
    """Gather what is wrong with the project file; all that waits for trust makes one warning."""
    if project is None:
        return found.warnings
    waiting = project.waiting
    told = (f"{project.path}: {', '.join(waiting)}: ignored until `lamina trust`",) if waiting else ()
    return (*project.warnings, *found.warnings, *told)


def _tagged(slug: str, tag: str) -> str:
    key = f"{slug[: _KEY_BYTES - len(tag) - 1].rstrip('-._') or 'ws'}-{tag}"
    return key if is_key(key) else key.replace(".", "-")
