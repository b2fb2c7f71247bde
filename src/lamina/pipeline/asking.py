"""How the pipeline asks a model: redacted, counted, within the day's caps, up the ladder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lamina.models.base import Prompt, Reply

PURPOSES = ("summarise", "consolidate", "refresh", "rerank", "judge")
"""What calls are counted by."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply with text in it, and the route that gave it."""

    reply: Reply
    route: str


class Asker(Protocol):
    """Whoever can put a question to a model. The pipeline knows no more of models than this."""

    def ask(self, purpose: str, prompt: Prompt, *, own: str = "") -> Answer:
        """Ask for one purpose; `own` is the route of the session at hand, "" for none.

        Raises NoModelAnswered, and CapReached before anything is sent.
        """
