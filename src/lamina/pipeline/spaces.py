"""Workspaces as people handle them: list them, bind a folder to one, trust a project's file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.errors import NoSuchFile, Refused
from lamina.formats.scope import Scope
from lamina.pipeline.redact import redact
from lamina.pipeline.status import count_scope
from lamina.store import project, registry, workspaces

if TYPE_CHECKING:
    from datetime import datetime

    from lamina.store.identity import RootCommits, Workspace
    from lamina.store.site import Site
    from lamina.store.store import Store


def known(store: Store, *, current: Scope) -> list[dict[str, Any]]:
    """List the workspaces with their remotes.

    Their folders on this machine and how many entries they hold.
    """
    found = registry.Registry.load(store.root)
    paths: dict[str, set[str]] = {}
    for folder, spot in found.paths.items():
        if spot.kind != "common":  # the git folder beside a worktree tells nobody anything
            paths.setdefault(spot.key, set()).add(folder)
    return [
        {
            "key": each.key,
            "title": each.title,
            "remotes": list(each.remotes),
            "paths": sorted(paths.get(each.key, ())),
            "entries": sum(count_scope(store, Scope(each.key)).values()),
            "current": each.key == current.key,
        }
        for each in sorted(found, key=lambda each: each.key)
    ]


def folder_at(path: str | os.PathLike[str]) -> Path:
    """Return a folder's absolute path; raises NoSuchFile."""
    folder = Path(os.path.abspath(path))
    if not folder.is_dir():
        raise NoSuchFile(f"{folder} is not a folder", "name the project's folder")
    return folder


def associate(  # noqa: PLR0913 - one for each word of the command
    store: Store,
    key: str,
    site: Site | None,
    now: datetime,
    *,
    folder: Path,
    title: str,
    root_commits: RootCommits,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Bind a folder to a workspace; raises Refused for a folder that is never one, BadKey."""
    if site is None:
        raise Refused(
            f"{folder} can't be a workspace", "the home folder, / and the store are never workspaces"
        )
    with store.writing(label="associate", at=now, dry_run=dry_run) as batch:
        bound = workspaces.associate(batch, key, site, root_commits=root_commits, title=redact(title).text)
    return {"key": bound.key, "path": str(folder), "title": bound.title}


def trust(
    store: Store, site: Site, now: datetime, *, revoke: bool = False, dry_run: bool = False
) -> dict[str, Any]:
    """Accept a site's project file as it is now, or take that back."""
    assert site.project is not None, "the caller has looked"
    change = project.distrust if revoke else project.trust
    with store.writing(label="trust", at=now, dry_run=dry_run) as batch:
        change(batch, site.repository, site.project)
    state = "no longer trusted" if revoke else "trusted as it is now"
    return {"file": str(site.project.path), "state": state}


def project_file(workspace: Workspace) -> Path:
    """Return the project file of a workspace's folder, there or not; raises Refused outside a project."""
    site = workspace.site
    if site is None:
        raise Refused("there is no project here", "go to the project's folder")
    return site.project.path if site.project else site.root / project.NAME


def set_remote(store: Store, remote: str, now: datetime, *, dry_run: bool = False) -> None:
    """Write the git remote into memory.json, for every clone.

    Raises Refused for one with a password in it.
    """
    if redact(remote).text != remote:
        raise Refused(
            "the remote's URL holds a password or token, and memory.json is committed",
            "leave it out of the URL: git's credential helper or LAMINA_GIT_TOKEN gives it",
        )
    with store.writing(label="init", at=now, dry_run=dry_run) as batch:
        registry.edit(batch, registry.CONFIG, lambda said: registry.part(said, "git").update(remote=remote))
