"""Reads some sessions ahead, to tell what a model would be shown of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from lamina import errors
from lamina.formats.event import Event
from lamina.pipeline.relevance import collect, recent

if TYPE_CHECKING:
    from lamina.formats.event import Session
    from lamina.pipeline.relevance import Limits
    from lamina.pipeline.tracks import Source

_SAMPLE = 20
Item = TypeVar("Item")


def evenly(items: Sequence[Item]) -> Sequence[Item]:
    """Choose some items, evenly over their order: enough to estimate what all of them cost."""
    step = max(1, len(items) // _SAMPLE)
    return items[::step][:_SAMPLE]


def prompt_size(session: Session, sources: Sequence[Source], limits: Limits) -> int:
    """Return the bytes of the prompt that would ask about a session, 0 where no model would be asked."""
    from lamina.pipeline.summarise import prompt_for

    try:
        items = chain.from_iterable(source.host.read(source.path) for source in sources)
        windows = list(collect(session, (each for each in items if isinstance(each, Event)), limits))
    except (errors.LaminaError, OSError):
        return 0
    material = recent(windows, limits)
    if material.trivial or sum(window.signal_chars for window in windows) < limits.signal:
        return 0
    return prompt_for(session, material, limits).size
