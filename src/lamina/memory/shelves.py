"""Memory as documents: the store's topics, one topic's file, the project's checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.layers import TOPIC_LAYERS, layer_named
from lamina.formats.scope import Scope, parse_scope
from lamina.store import files
from lamina.store.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lamina.memory.opened import Opened

CHECKPOINT = "state/digests/latest.md"
"""Where a project's checkpoint stands, below its top (SPEC section 14)."""


def topics(opened: Opened) -> Iterator[tuple[str, str, str]]:
    """Yield the topics of this workspace and of the global scope: `global` or the key, layer, slug."""
    if not opened.exists:
        return
    for scope in dict.fromkeys((opened.scope, Scope(None))):
        for layer in TOPIC_LAYERS:
            if not (layer.workspace_only and scope.key is None):
                for topic in opened.store.topics(scope, layer.name):
                    yield scope.key or "global", layer.name, topic.slug


def topic(opened: Opened, scope: str, layer: str, slug: str) -> str:
    """Return a topic's file; a workspace is named by its key, alone or as `workspace:KEY`."""
    where = parse_scope(scope if scope == "global" or ":" in scope else f"workspace:{scope}")
    known = layer_named(layer)
    text = None
    if opened.exists and known.many:
        layout = Layout(opened.root)
        text = opened.store.text(layout.rel(layout.topic(where, known.name, slug)))
    if text is None:
        raise errors.NoSuchFile(
            f"there is no topic {slug[:100]!r} in {where.name} {known.name}", "`lamina list` shows them"
        )
    return text


def checkpoint(opened: Opened) -> str | None:
    """Return the project's checkpoint, None without one; one that leads out of the project is refused."""
    site = opened.workspace.site
    folder = None if site is None else site.top or site.root
    if folder is None or not (folder / CHECKPOINT).is_file():
        return None
    path = folder / CHECKPOINT
    if path.resolve() != folder.resolve() / CHECKPOINT:
        raise errors.UnsafePath(f"{path} leads elsewhere", "a checkpoint is a plain file in the project")
    return files.read_text(path)
