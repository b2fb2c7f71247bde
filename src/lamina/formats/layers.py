"""The layers: the kinds of memory inside a scope."""

from __future__ import annotations

from lamina.errors import UnknownLayer
from lamina.formats.frozen import NamedTuple


class Layer(NamedTuple):
    """One kind of memory.

    `abbreviation` stands in ids ("" where entries have none), `title` and `sentence` open the
    generated index, `workspace_only` layers don't exist in the global scope, `many` says
    one file a topic, `searchable` whether the index holds it.
    """

    name: str
    abbreviation: str
    title: str
    sentence: str
    workspace_only: bool = False
    many: bool = True
    searchable: bool = True


def _topics(name: str, abbreviation: str, what: str, *, workspace_only: bool = False) -> Layer:
    sentence = f"{what} Entries live in one file per topic under {name}/."
    return Layer(name, abbreviation, name.capitalize(), sentence, workspace_only)


LAYERS: dict[str, Layer] = {
    layer.name: layer
    for layer in (
        _topics("semantic", "sem", "Facts."),
        _topics("episodic", "epi", "What happened."),
        _topics("procedural", "pro", "How to do things."),
        _topics("learnings", "lrn", "Lessons."),
        _topics("decisions", "dec", "Settled choices and why they won."),
        _topics("codebase", "cod", "What each part of the repository is.", workspace_only=True),
        _topics("history", "his", "How the repository changed, by UTC day.", workspace_only=True),
        Layer("state", "", "State", "What the repository is right now.", workspace_only=True, many=False),
        Layer(
            "working", "", "Working", "What the agent is in the middle of.",
            workspace_only=True, many=False, searchable=False,
        ),
        Layer("junk", "", "Junk", "Archaeology.", many=False, searchable=False),
    )
}  # fmt: skip

TOPIC_LAYERS: tuple[Layer, ...] = tuple(layer for layer in LAYERS.values() if layer.many)

BY_ABBREVIATION: dict[str, Layer] = {layer.abbreviation: layer for layer in TOPIC_LAYERS}

_ALIASES = {"learning": "learnings", "decision": "decisions"}


def layer_named(name: str) -> Layer:
    """Find a layer by name (`learning` and `decision` are read too); raises UnknownLayer."""
    wanted = name.strip().lower()
    layer = LAYERS.get(_ALIASES.get(wanted, wanted))
    if layer is None:
        raise UnknownLayer(f"unknown layer {name!r}", hint="layers: " + ", ".join(LAYERS))
    return layer
