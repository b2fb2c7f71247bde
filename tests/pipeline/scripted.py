"""An asker that answers from a script, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable

from lamina.models.base import Prompt, Reply
from lamina.pipeline.asking import Answer

Line = str | Reply | Exception | Callable[[Prompt], str]


class Script:
    """Answers each question with the next line; the last one is repeated."""

    def __init__(self, *lines: Line) -> None:
        self.lines = list(lines)
        self.asked: list[tuple[str, Prompt]] = []

    def ask(self, purpose: str, prompt: Prompt, *, own: str = "") -> Answer:  # noqa: ARG002 - the protocol's
        self.asked.append((purpose, prompt))
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        if isinstance(line, Exception):
            raise line
        if callable(line):
            line = line(prompt)
        reply = (
            line
            if isinstance(line, Reply)
            else Reply(line, tokens_in=len(prompt.text) // 4, tokens_out=len(line) // 4)
        )
        return Answer(reply, "script/one")
