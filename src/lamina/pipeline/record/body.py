"""What is to be recorded of a session, as an agent or a person gives it: Markdown with labels, or JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from lamina import errors
from lamina.formats.hashing import knowledge_text, without_tail
from lamina.formats.lines import fold
from lamina.formats.structure import trim_blank, unix
from lamina.pipeline.redact import redact

LONGEST_BODY: Final = 64 << 10
"""Bytes of a body."""
LONGEST_BULLET: Final = 2_000
"""Characters of one bullet."""
MOST_BULLETS: Final = 200
_LONGEST_TOPIC: Final = 200

_LISTS: Final = ("done", "decisions", "learnings", "open")
_NAMES: Final = {
    "topic": "topic",
    "title": "topic",
    "context": "context",
    "done": "done",
    "state and changes": "done",
    "decisions": "decisions",
    "decision": "decisions",
    "learnings": "learnings",
    "learning": "learnings",
    "lessons": "learnings",
    "open": "open",
    "open / next action": "open",
    "open/next action": "open",
    "open actions": "open",
    "next action": "open",
    "next actions": "open",
    "next steps": "open",
}
_LABEL: Final = re.compile(
    r"(?:\*\*([^*:]{1,40})(?::\*\*|\*\*\s*:)|#{1,4}\s+([^:#]{1,40}?)\s*:?\s*$|"
    r"([A-Za-z][A-Za-z /]{2,24}):)\s*(.*)"
)
_BULLET: Final = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_LINE: Final = 4_000


@dataclass(frozen=True, slots=True)
class Body:
    """The parts of a session, each bullet with its evidence ("" where none was given)."""

    topic: str = ""
    context: str = ""
    done: tuple[tuple[str, str], ...] = ()
    decisions: tuple[tuple[str, str], ...] = ()
    learnings: tuple[tuple[str, str], ...] = ()
    open: tuple[tuple[str, str], ...] = ()
    redacted: int = 0
    """How many secrets were replaced."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing that a record would hold: a topic and a context alone say nothing."""
        return not (self.done or self.decisions or self.learnings or self.open)

    @property
    def named(self) -> str:
        """What the session is about: its topic, else its first decision or what was done first."""
        first = (*self.decisions, *self.done, *self.learnings, *self.open)
        return self.topic or (first[0][0] if first else "")

    def titled(self, topic: str) -> Body:
        """Return the body with another topic, whose secrets are replaced."""
        clean = redact(_sized(topic))
        count = self.redacted + sum(clean.counts.values())
        return replace(self, topic=_topic(clean.text), redacted=count)


def parse_body(text: str) -> Body:
    """Read a body, JSON if it begins with a brace; secrets are replaced and `<private>` text is dropped.

    Raises BadInput that names what can't be used.
    """
    _sized(text)
    if text.lstrip().startswith("{"):
        return _checked(_from_json(text))
    return _checked(_from_markdown(redact(text)))


def _from_json(text: str) -> Body:
    from lamina.store import files

    try:
        said = files.parse_json(text)
    except ValueError as problem:
        raise errors.BadInput(f"the body is no JSON ({problem})", _FORM) from None
    if not isinstance(said, Mapping):
        raise errors.BadInput("the body is no JSON object", _FORM)
    unknown = sorted(set(map(str, said)) - {"topic", "context", *_LISTS})
    if unknown:
        raise errors.BadInput(f"the body has no part {unknown[0]!r}", _FORM)
    count = 0

    def clean(value: object, name: str) -> str:
        nonlocal count
        if not isinstance(value, str):
            raise errors.BadInput(f"the body's {name} is no text", _FORM)
        found = redact(value)
        count += sum(found.counts.values())
        return found.text

    def bullets(name: str) -> Iterator[tuple[str, str]]:
        listed = said.get(name) or []
        if not isinstance(listed, list):
            raise errors.BadInput(f"the body's {name} is no list", _FORM)
        for each in listed:
            if isinstance(each, Mapping):
                told = clean(each.get("text", ""), f"{name} text")
                yield told, clean(each.get("evidence", ""), f"{name} evidence")
            else:
                yield clean(each, name), ""

    parts = {name: tuple(bullets(name)) for name in _LISTS}
    topic, context = (clean(said.get(name) or "", name) for name in ("topic", "context"))
    return Body(topic, context, redacted=count, **parts)


def _from_markdown(clean: object) -> Body:
    from lamina.pipeline.redact import Redacted

    assert isinstance(clean, Redacted)
    topic, part = "", "context"
    context: list[str] = []
    found: dict[str, list[str]] = {name: [] for name in _LISTS}
    said = False  # a bullet that later lines may go on
    for line in unix(clean.text.removeprefix("\ufeff")).split("\n"):
        label = _LABEL.fullmatch(line.strip()) if len(line) < _LINE and not line.startswith(" ") else None
        name = _NAMES.get(fold(label[1] or label[2] or label[3]).casefold(), "") if label else ""
        bullet = _BULLET.match(line)
        if label and name:
            part, said = name, False
            rest = label[4].strip()
            if name == "topic":
                topic, part = rest or topic, "context"
            elif rest and name == "context":
                context.append(rest)
            elif rest:
                found[name].append(rest)
                said = True
        elif bullet and part != "context":
            found[part].append(bullet[1])
            said = True
        elif bullet and not context:
            found["done"].append(bullet[1])
            part, said = "done", True
        elif said and line.strip():
            found[part][-1] += f" {line.strip()}"
        else:
            said = False
            if part == "context" or line.strip():
                context.append(line)
    parts = {name: tuple((text, "") for text in texts) for name, texts in found.items()}
    return Body(topic, trim_blank("\n".join(context)), redacted=sum(clean.counts.values()), **parts)


def _checked(body: Body) -> Body:
    """Fold the bullets to one line each and take their own evidence off; blank ones go."""
    done, decisions, learnings, left = (tuple(_bullets(getattr(body, name), name)) for name in _LISTS)
    if sum(map(len, (done, decisions, learnings, left))) > MOST_BULLETS:
        raise errors.BadInput(f"the body has more than {MOST_BULLETS} bullets", "record what is durable")
    return replace(
        body, topic=_topic(body.topic), done=done, decisions=decisions, learnings=learnings, open=left
    )


def _sized(text: str) -> str:
    """Return a text that is not too large to be looked at. Raises BadInput."""
    size = len(text.encode("utf-8", "replace"))
    if size > LONGEST_BODY:
        raise errors.BadInput(f"the body has {size} bytes; at most {LONGEST_BODY}", "say it in fewer words")
    return text


def _topic(text: str) -> str:
    return fold(text)[:_LONGEST_TOPIC]


def _bullets(said: tuple[tuple[str, str], ...], name: str) -> Iterator[tuple[str, str]]:
    for told, given in said:
        text = fold(told)
        bare = without_tail(text, "Evidence:").rstrip()
        own = text[len(bare) :].strip().removeprefix("Evidence:").strip().rstrip(".").strip()
        if len(bare) > LONGEST_BULLET:
            raise errors.BadInput(
                f"a bullet of {name} has {len(bare)} characters; at most {LONGEST_BULLET}", "split it"
            )
        if knowledge_text(f"- {bare}"):
            yield bare, fold(given) or own


_FORM: Final = (
    '{"topic", "context", "done": ["text" or {"text", "evidence"}], "decisions", "learnings", "open"}: '
    "`lamina record --help`"
)
