"""A model that whoever uses Lamina lends to it: a function from text to text, or a model of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lamina import errors
from lamina.models.base import TIMEOUT_S, Model, Prompt, Reply

Function = Callable[[str], str]

PREFIX = "lent/"
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Lent:
    """What was lent, under the name that it has here. A function keeps its own time: it can't be stopped."""

    route: str
    lender: Function | Model

    def ask(self, prompt: Prompt, *, within_s: float = TIMEOUT_S) -> Reply:
        """Ask what was lent; a function gets both parts of the prompt as one text."""
        try:
            if callable(self.lender):
                return _reply(self.lender(prompt.whole))
            return self._own(self.lender.ask(prompt, within_s=within_s))
        except errors.LaminaError:
            raise
        except Exception as problem:  # code of others: whatever it throws, the next one is asked
            raise errors.ModelFailed(f"{type(problem).__name__}: {problem}") from problem

    def _own(self, reply: Reply) -> Reply:
        """Keep this name, and this guard, over what the lender would have asked instead."""
        again = reply.again
        return replace(reply, again=again._replace(model=Lent(self.route, again.model))) if again else reply


def lend(lender: Function | Model) -> Lent:
    """Take a function, or a model, under the name `lent/<its name>`."""
    name = getattr(lender, "route", "") or getattr(lender, "__name__", "") or type(lender).__name__
    plain = "".join(char for char in str(name) if char.isprintable() and not char.isspace())
    return Lent(PREFIX + plain.removeprefix(PREFIX).strip("<>")[:_LONGEST], lender)


def _reply(text: object) -> Reply:
    if not isinstance(text, str):
        raise errors.ModelFailed(f"it returned {type(text).__name__} where text was wanted")
    return Reply(text)
