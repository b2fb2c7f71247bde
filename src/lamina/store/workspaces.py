"""Write down what a workspace is: key and title in `memory.json`, remotes in `meta.json`, folders here.

Names and remotes travel with the store; folders stay on this machine, in `state/paths.json`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.formats.dates import render_time
from lamina.formats.scope import is_key
from lamina.store.identity import RootCommits, Workspace, assign
from lamina.store.registry import CONFIG, PATHS, Registry, edit, part
from lamina.store.site import Site, inode_of, origin_dir

if TYPE_CHECKING:
    from lamina.store.batch import Batch


def register(
    batch: Batch,
    workspace: Workspace,
    *,
    root_commits: RootCommits,
    new_uid: Callable[[], str] | None = None,
) -> Workspace:
    """Make a workspace known at its first use and record its folder; return it with the key that it has.

    The key is decided again under the batch's lock, so two processes that meet the same name at once agree.
    Writes only what changed; the global scope needs nothing.
    """
    if workspace.key is None:
        return workspace
    registry = Registry(batch.store.root, batch.text)
    workspace = _settled(workspace, registry, root_commits)
    key = str(workspace.key)
    known = registry.get(key)
    stamp = render_time(batch.at)
    if known is None or not known.listed:
        created = (known.created if known else "") or stamp
        edit(batch, CONFIG, lambda said: _add_key(said, key, workspace.title, created))
    edit(
        batch,
        f"workspaces/{key}/meta.json",
        lambda said: _fill_meta(said, workspace, stamp, new_uid or _new_uid),
    )
    if workspace.site and workspace.bound:
        spots = _spots(key, workspace.site, registry, root_commits)
        edit(batch, PATHS, lambda said: _add_spots(said, key, spots))
    elif known is None:
        edit(batch, PATHS, lambda said: _add_unclaimed(said, key))
    return workspace._replace(known=True)


def associate(
    batch: Batch,
    key: str,
    site: Site | None = None,
    *,
    root_commits: RootCommits,
    title: str = "",
    new_uid: Callable[[], str] | None = None,
) -> Workspace:
    """Bind a folder to a workspace by hand, making the workspace or renaming its title if asked.

    The folder's remote moves here from any workspace that held it. Raises BadKey.
    """
    if not is_key(key):
        raise errors.BadKey(f"{key!r} can't be the key of a workspace", "use a-z, 0-9, '.', '_' and '-'")
    registry = Registry(batch.store.root, batch.text)
    known = registry.get(key)
    for remote in site.remotes if site else ():
        for other in registry.with_remote(remote):
            if other != key:
                edit(batch, f"workspaces/{other}/meta.json", partial(_drop_remote, remote))
    if site:
        edit(batch, PATHS, lambda said: _add_spots(said, key, _spots(key, site, registry, root_commits)))
    name = title or (known.title if known else "") or key
    wanted = Workspace(key, name, how="argument", known=known is not None, site=site, bound=site is not None)
    if known and title and title != known.title:
        for rel in (CONFIG, f"workspaces/{key}/meta.json"):
            edit(batch, rel, lambda said: _set_title(said, key, title))
    wanted = wanted._replace(identity=site.identity if site else f"key:{key}")
    return register(batch, wanted, root_commits=root_commits, new_uid=new_uid)


def _settled(workspace: Workspace, registry: Registry, root_commits: RootCommits) -> Workspace:
    """Decide the key once more, now that nobody else can write."""
    key = str(workspace.key)
    fixed = workspace.how in ("argument", "environment", "project")
    if fixed or not workspace.bound or workspace.site is None:
        return workspace
    assigned = assign(workspace.site, registry, root_commits)
    if assigned.key == key and assigned.known == workspace.known:
        return workspace
    known = registry.get(assigned.key)
    title = known.title if known else workspace.site.name
    return workspace._replace(key=assigned.key, title=title, known=assigned.known, how=assigned.how)


def _add_key(said: dict[str, Any], key: str, title: str, created: str) -> None:
    said.setdefault("schemaVersion", 2)
    part(said, "workspaces").setdefault(key, {"title": title or key, "created": created})


def _fill_meta(said: dict[str, Any], workspace: Workspace, stamp: str, new_uid: Callable[[], str]) -> None:
    """Complete meta.json; what a person or another program wrote into it stays."""
    said.setdefault("key", workspace.key)
    said.setdefault("title", workspace.title or workspace.key)
    said.setdefault("created", stamp)
    remotes = said.get("remotes")
    listed = [url for url in remotes if isinstance(url, str)] if isinstance(remotes, list) else []
    missing = set(workspace.remotes) - set(listed)
    if missing or not isinstance(remotes, list):
        said["remotes"] = sorted({*listed, *missing})
    if not said["remotes"] and not said.get("uid"):
        said["uid"] = new_uid()


def _drop_remote(remote: str, said: dict[str, Any]) -> None:
    listed = said.get("remotes")
    if isinstance(listed, list):
        said["remotes"] = [url for url in listed if url != remote]


def _set_title(said: dict[str, Any], key: str, title: str) -> None:
    listed = said.get("workspaces")
    own = listed.get(key) if isinstance(listed, dict) else said
    if isinstance(own, dict):
        own["title"] = title


def _spots(key: str, site: Site, registry: Registry, root_commits: RootCommits) -> dict[str, dict[str, Any]]:
    """Return the records of a site's folders, where they are new or say something else than before."""
    wanted: dict[str, dict[str, Any]] = {}
    if site.common_dir is None:
        kind = "folder" if os.path.isdir(site.root) else "gone"  # noqa: PTH112 - False where pathlib raises
        wanted[str(site.root)] = {"key": key, "kind": kind, "inode": inode_of(site.root)}
    else:
        for path in filter(
            None, (site.common_dir, origin_dir(site.remotes[0] if site.remotes else "", site.common_dir))
        ):
            before = registry.spot(path)
            if path != site.common_dir and before is not None:
                continue
            if before is None or before.key != key or before.kind != "common" or not before.roots:
                roots = sorted(root_commits(site.root))
                wanted[str(path)] = {"key": key, "kind": "common", "inode": inode_of(path), "roots": roots}
        if site.top is not None and site.top != site.common_dir:
            wanted[str(site.top)] = {"key": key, "kind": "worktree", "inode": inode_of(site.top)}
    return wanted


def _add_spots(said: dict[str, Any], key: str, spots: dict[str, dict[str, Any]]) -> None:
    part(said, "paths").update(spots)
    unclaimed = said.get("unclaimed")
    if isinstance(unclaimed, list) and key in unclaimed:
        said["unclaimed"] = [name for name in unclaimed if name != key]


def _add_unclaimed(said: dict[str, Any], key: str) -> None:
    listed = said.get("unclaimed")
    said["unclaimed"] = sorted({*(listed if isinstance(listed, list) else ()), key})


def _new_uid() -> str:
    return os.urandom(16).hex()
