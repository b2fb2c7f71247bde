"""Says what is wrong with an item beside the sessions that it is said to come from."""

from __future__ import annotations

from lamina.formats.hashing import knowledge_text
from lamina.formats.structure import one_line
from lamina.pipeline.checks.misread import misread
from lamina.pipeline.checks.parts import least_share
from lamina.pipeline.checks.support import LEAST, Passage, support
from lamina.pipeline.ground import Shown, inventions

_KEPT = 256


class Grounds:
    """Judges texts; what was read of a session's text is kept for the next text of the same session."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[Shown, list[Passage]]] = {}

    def faults(self, bullet: str, texts: list[str]) -> str:
        """Return what is wrong with a bullet, "" for nothing: values or words that its sources don't have."""
        whole = "\n\n".join(texts)
        shown, passages = self._read(whole)
        text = knowledge_text(bullet)
        invented = inventions(text, shown)
        if invented:
            return f"its source does not say {', '.join(map(repr, invented[:3]))}"
        found = support(text, passages)
        if found is None or least_share(text, found, passages) < LEAST:
            return f"its source says nothing of the kind: {text[:80]!r}"
        wrong = misread(text, [each.text for each in passages if found.first <= each.first <= found.last])
        return f"it {wrong}: {text[:80]!r}" if wrong else ""

    def _read(self, text: str) -> tuple[Shown, list[Passage]]:
        if text not in self._held:
            if len(self._held) >= _KEPT:
                self._held.clear()
            lines = [one_line(line) for line in text.split("\n")]
            passages = [Passage(n, n, "assistant", line) for n, line in enumerate(lines) if line]
            self._held[text] = (Shown(text), passages)
        return self._held[text]
