"""What the store holds, what waits, and what is due."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lamina.formats.dates import as_utc
from lamina.formats.layers import LAYERS
from lamina.formats.scope import Scope
from lamina.pipeline import commit, system_doc
from lamina.store import git, log, meter, notes

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from lamina.store.layout import Layout
    from lamina.store.store import Store


@dataclass(frozen=True, slots=True)
class Cadence:
    """When work is due: `consolidate_s` old or `minimum` many notes, `commit_s` after a write."""

    consolidate_s: int = 1800
    minimum: int = 3
    commit_s: int = 10


def status(store: Store, now: datetime, cadence: Cadence) -> dict[str, Any]:
    """Return the facts of `lamina status`; the caller adds what it alone knows (where we are, paused)."""
    layout = store.layout
    taken = list(notes.notes(store))
    names = notes.names(store)
    pending = [each for each in taken if each.note.consolidated is None]
    counters = log.metrics(layout)
    error = git.obstacle(store.root) or commit.failure(layout)
    return {
        "root": str(store.root),
        "schema_version": store.schema,
        "workspaces": [scope.key for scope in store.scopes() if scope.key is not None],
        "entries": count_entries(store),
        "notes": {
            "pending": sum(not each.note.needs_review for each in pending),
            "needs_review": sum(each.note.needs_review for each in pending),
            "failed": max(0, len(names) - len(taken)),
        },
        "review": {"candidates": count_candidates(store)},
        "sync": {
            "at": git.last_commit(store.root),
            "ok": not error,
            "conflict": False,
            "error": error or None,
        },
        "models": used(layout, now),
        "events": {
            name.removeprefix("event:"): n for name, n in counters.items() if name.startswith("event:")
        },
        "saved": {"thin": counters.get("thin", 0), "trivial": counters.get("trivial", 0)},
        "due": due(store, now, cadence),
        "system_doc_stale": system_doc.is_stale(store),
    }


def empty(root: Path) -> dict[str, Any]:
    """Return the facts where there is no store yet, in the same shape."""
    return {
        "root": str(root),
        "schema_version": None,
        "workspaces": [],
        "entries": {name: 0 for name, layer in LAYERS.items() if layer.many},
        "notes": {"pending": 0, "needs_review": 0, "failed": 0},
        "review": {"candidates": 0},
        "sync": {"at": None, "ok": True, "conflict": False, "error": None},
        "events": {},
        "saved": {"thin": 0, "trivial": 0},
        "due": [],
        "system_doc_stale": False,
    }


def used(layout: Layout, now: datetime) -> dict[str, Any]:
    """Return what the models were used for in the days that are kept, and today; by purpose and by route.

    The caller adds what the settings say of them.
    """
    all_: dict[tuple[str, str], meter.Use] = {}
    today = meter.Use()
    for day, use in meter.kept(layout):
        for pair, each in use.items():
            all_[pair] = all_.get(pair, meter.Use()) + each
        if day == as_utc(now).date():
            today = meter.total(use)
    purposes: dict[str, meter.Use] = {}
    routes: dict[str, meter.Use] = {}
    for (purpose, route), each in all_.items():
        purposes[purpose] = purposes.get(purpose, meter.Use()) + each
        routes[route] = routes.get(route, meter.Use()) + each
    return {
        **asdict(meter.total(all_)),
        "today": asdict(today),
        "by_purpose": {name: asdict(use) for name, use in sorted(purposes.items())},
        "routes": [{"route": route, **asdict(use)} for route, use in sorted(routes.items())],
    }


def count_entries(store: Store) -> dict[str, int]:
    """Count the entries of every layer, over all scopes; forgotten ones do not count."""
    counts = {name: 0 for name, layer in LAYERS.items() if layer.many}
    for scope in store.scopes():
        for name, count in count_scope(store, scope).items():
            counts[name] += count
    return counts


def count_scope(store: Store, scope: Scope) -> dict[str, int]:
    """Count one scope's entries, by layer; those that still stand in a layer's old single file, too."""
    counts = {}
    for name, layer in LAYERS.items():
        if layer.many and (scope.key is not None or not layer.workspace_only):
            old = store.legacy(scope, name)
            counts[name] = sum(record.shown for record in store.ledger(scope, name).records.values())
            counts[name] += sum(entry.trust != "forgotten" for entry in old.entries) if old else 0
    return counts


def count_candidates(store: Store) -> int:
    """Count the candidates of all scopes; only what the ledgers say of files that hold one is looked at."""
    count = 0
    for scope in store.scopes():
        for name, layer in LAYERS.items():
            if layer.many and (scope.key is not None or not layer.workspace_only):
                old = store.legacy(scope, name)
                trusts = [entry.trust for entry in old.entries] if old else []
                for record in store.ledger(scope, name).records.values():
                    if record.mentions("candidate"):
                        trusts += [each.trust for each in record.entries]
                count += trusts.count("candidate")
    return count


def due(store: Store, now: datetime, cadence: Cadence) -> list[str]:
    """Name what `lamina tick` would do now."""
    if store.read_only:
        return []
    waiting = notes.pending(store)
    old = any(
        each.note.captured is not None and (now - each.note.captured).total_seconds() >= cadence.consolidate_s
        for each in waiting
    )
    names = []
    if waiting and (old or len(waiting) >= cadence.minimum):
        names.append("consolidate")
    if system_doc.is_stale(store):
        names.append("system-doc")
    if git.is_dirty(store.layout):
        names.append("commit")
    return names
