"""Says how a text wrongs what it rests on: it settles a doubt, or it says the contrary."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.pipeline.checks.hedges import hardened
from lamina.pipeline.checks.opposites import opposed
from lamina.pipeline.checks.polarity import turned

SETTLED, TURNED = "settled a doubt", "turned round"


def misread(text: str, said: Sequence[str]) -> str:
    """Return what is wrong with a text beside what was said, SETTLED or TURNED, "" for nothing."""
    if hardened(text, "\n".join(said)):
        return SETTLED
    return TURNED if turned(text, said) or opposed(text, said) else ""
