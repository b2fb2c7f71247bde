"""How the models did lately, on this machine: `state/models.json`.

A cache: it never raises, and what is damaged starts anew. Several processes change it under one lock, each
from what the last one wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lamina import errors
from lamina.formats.standing import Standing, parse, render
from lamina.store import files, locks
from lamina.store.layout import Layout

_WAIT_S = 2.0


def path_of(layout: Layout) -> Path:
    """Return where it stands."""
    return layout.state / "models.json"


def load(layout: Layout) -> Standing:
    """Return the standing as it is now."""
    try:
        return parse(files.read_text(path_of(layout)))
    except errors.LaminaError:
        return Standing()


def change(layout: Layout, how: Callable[[Standing], Standing]) -> None:
    """Change the standing, from what stands there now; a disk that takes nothing leaves it as it is."""
    try:
        with locks.lock(layout.lock("models"), timeout_s=_WAIT_S):
            before = load(layout)
            now = how(before)
            if now != before:
                files.write_text(path_of(layout), render(now), durable=False)
    except (OSError, errors.LaminaError):
        return
