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


def echo(text: str) -> str:
    """Answer as a plain and honest model would: the person's own words as bullets, the bullets as facts."""
    lines = text.split("\n")
    if "NOTES" not in lines:
        said = [line.removeprefix("PERSON: ") for line in lines if line.startswith("PERSON: ")]
        return "\n".join(f"- **decision:** {line}" for line in said) or "NO_DURABLE_CONTENT"
    answer: list[str] = []
    note = ""
    for line in lines[lines.index("NOTES") :]:
        if line.startswith("## "):
            note, scope = line[3:].split(" · ")
            answer.append(f"DONE {note}")
        elif line.startswith("- ") and note:
            text = line[2:].rpartition(" [")[0].split(":** ")[-1].partition(": ")[2]
            answer.append(f"- [{note} | {scope} | semantic | 3] Cache {text.split('m')[-1][:1]} :: {text}")
    return "\n".join(answer)
