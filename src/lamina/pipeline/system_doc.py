"""SYSTEM.md: the store explains itself to an agent that has only the files.

It says what every clone shares and nothing of one machine, one person's settings or the time, so two
clones with the same memory hold the same bytes.
"""

from __future__ import annotations

import re
from importlib.resources import files as resources
from typing import TYPE_CHECKING

from lamina.formats.layers import LAYERS
from lamina.store.files import read_optional

if TYPE_CHECKING:
    from datetime import datetime

    from lamina.store.store import Store

VERSION = 1
NAME = "SYSTEM.md"
STAMP = re.compile(r"<!-- system-doc version=(\d{1,9}) -->")


def render(store: Store) -> str:
    """Return the document for what the store holds now."""
    template = (resources("lamina.pipeline") / "SYSTEM.template.md").read_text(encoding="utf-8")
    layers = "\n".join(
        f"| `{layer.name}` | {layer.sentence} | "
        f"{'workspace' if layer.workspace_only else 'global and workspace'} |"
        for layer in LAYERS.values()
    )
    return (
        template.replace("{{version}}", str(VERSION))
        .replace("{{layers}}", layers)
        .replace("{{holdings}}", holdings(store))
    )


def holdings(store: Store) -> str:
    """Return a table of what the store holds, by scope and layer."""
    rows = []
    for scope in store.scopes():
        for name, layer in LAYERS.items():
            if not layer.many or (scope.key is None and layer.workspace_only):
                continue
            shown = [record.shown for record in store.ledger(scope, name).records.values() if record.shown]
            if shown:
                rows.append(f"| {scope.name} | {name} | {len(shown)} | {sum(shown)} |")
    return "\n".join(["| scope | layer | topics | entries |", "| --- | --- | --- | --- |", *rows])


def stamp(text: str | None) -> int | None:
    """Return the version that wrote a document, or None if it is none of ours."""
    match = STAMP.search(text or "", 0, 400)
    return int(match.group(1)) if match else None


def is_stale(store: Store) -> bool:
    """Tell whether SYSTEM.md is missing or says something else than it would now.

    A document of a newer version is left alone.
    """
    text = read_optional(store.root / NAME)
    version = stamp(text)
    if version is not None and version > VERSION:
        return False
    return text != render(store)


def refresh(store: Store, now: datetime) -> bool:
    """Write SYSTEM.md anew if it is stale; returns whether it was."""
    if not is_stale(store):
        return False
    with store.writing(label="system-doc", at=now) as batch:
        batch.put(NAME, render(store))
    return True
