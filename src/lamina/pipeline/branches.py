"""Entries that were learnt on a branch: shown there, and everywhere once the branch is merged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lamina.errors import LaminaError
from lamina.formats.entry import Entry, with_field
from lamina.formats.layers import LAYERS
from lamina.store import branches
from lamina.store.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from lamina.formats.scope import Scope
    from lamina.store.identity import Workspace
    from lamina.store.store import Located, Store

_LABEL = "**Branch:**"


def staging(workspace: Workspace, branch: str | None) -> str:
    """Return the branch that an entry learnt in a workspace has to carry, "" for none."""
    project, folder = workspace.project, workspace.root
    if not branch or project is None or project.stage != "branch" or folder is None or not folder.is_dir():
        return ""
    return "" if branches.is_merged(folder, branch) else branch


def unstage(store: Store, now: datetime) -> int:
    """Take the branch away from entries whose branch was merged; returns how many."""
    merged: dict[tuple[Scope, str], bool] = {}
    ready = []
    for located in _staged(store):
        key = (located.scope, located.entry.branch)
        if key not in merged:
            merged[key] = any(
                branches.is_merged(place, key[1])
                for place in _folders(store, located.scope)
                if place.is_dir()
            )
        if merged[key] and located.entry.id:
            ready.append(located.entry.id)
    if ready:
        with store.writing(label="branches", at=now) as batch:
            for id_ in ready:
                batch.change(id_, _shown_everywhere)
    return len(ready)


def _shown_everywhere(entry: Entry) -> Entry:
    return with_field(entry, "Branch", None)


def _staged(store: Store) -> Iterator[Located]:
    """Yield the entries that carry a branch; a file without the word is not parsed."""
    for scope in store.scopes():
        layers = [name for name, layer in LAYERS.items() if layer.many and scope.key is not None]
        for ref in (each for layer in layers for each in store.topics(scope, layer)):
            try:
                holds = _LABEL in (store.text(ref.rel) or "")
            except LaminaError:
                continue  # `lamina doctor` tells of it
            if holds:
                yield from (each for each in store.entries_in(ref) if each.entry.branch)


def _folders(store: Store, scope: Scope) -> list[Path]:
    spots = Registry.load(store.root).paths.items()
    return [Path(path) for path, spot in spots if spot.key == scope.key and spot.kind == "worktree"]
