"""How often a model's reply about the same material was of no use: one small file a session that waits."""

from __future__ import annotations

import json

from lamina import errors
from lamina.store import files
from lamina.store.layout import safe_name
from lamina.store.store import Store
from lamina.store.write import Writing


def load(store: Store, name: str, after: int) -> int:
    """Return how many replies about what follows record `after` of a session were useless."""
    try:
        text = store.text(_rel(name))
        said = {} if text is None else files.parse_json(text)
        return int(said["replies"]) if said and int(said["after"]) == after else 0
    except (errors.LaminaError, ValueError, KeyError, TypeError):
        return 0


def save(batch: Writing, name: str, after: int, replies: int) -> None:
    """Write the number with the batch; 0 takes the file away."""
    said = {"after": after, "replies": replies}
    if replies or batch.text(_rel(name)) is not None:
        batch.put(_rel(name), json.dumps(said, sort_keys=True) + "\n" if replies else None)


def _rel(name: str) -> str:
    return f"state/attempts/{safe_name(f'{name}.json')}"
