"""Lays a bullet out as an entry: heading, paragraphs, lists, a decision's sections where cues are certain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from lamina.formats.decision import Decision, render_decision
from lamina.pipeline import cues, signs
from lamina.pipeline.exchanges import capital, joined, terms
from lamina.pipeline.headings import HEADING, limit_of, short, split
from lamina.pipeline.statements import sentences

BEFORE = "Before: "
"""Leads what a correction or a new choice replaces."""

_ITEMS = 3  # from which on what stands between semicolons is a list
_SEMI = re.compile(r"[;；]\s*(?=[^`]*(?:`[^`]*`[^`]*)*$)")
_LEAD = re.compile(r"[^`;；]{2,80}?[:：]\s+")
_CODE = re.compile(r"`[^`]+ [^`]+`")


def laid_out(label: str, text: str, day: date) -> tuple[str, str, bool]:
    """Give heading and body, and whether a decision's reason stands in a section of its own."""
    if label == "preference":
        return *_rules(text), False
    if label == "status":
        return f"Status on {day}", _paragraphs(sentences(text)), False
    if label in {"decision", "choice"}:
        return _decided(text)
    heading, rest = split(text)
    return heading, _paragraphs(sentences(rest), steps=label == "how-to"), False


def _rules(text: str) -> tuple[str, str]:
    """Give each rule an item of its own; the heading names the first ones."""
    items = rules(text)
    if len(items) < 2:
        return split(text)
    heading, limit = "", limit_of(text)
    for item in items:
        head = short(item, limit - len(heading) - 2)
        if not head:
            break
        heading = (
            f"{heading}; {head[:1].lower() + head[1:] if head[1:2].islower() else head}" if heading else head
        )
    return heading or split(text)[0], "\n".join(f"- {item}" for item in items)


def rules(text: str) -> list[str]:
    """Cut a text into rules: a sentence that only goes on stays with the one before it."""
    items: list[str] = []
    for sentence in sentences(text):
        if items and _goes_on(sentence):
            items[-1] = joined((items[-1], sentence))
        else:
            items.append(sentence)
    return items


def _goes_on(sentence: str) -> bool:
    standing = any(
        cues.anywhere(table).search(sentence) for table in (cues.PREFERENCE, cues.CONSTRAINT, signs.CHOICE)
    )
    return signs.FOLLOWS.match(sentence) is not None or (
        not standing and len(terms(sentence)) <= 1 and not cues.opens(cues.FORBIDS, sentence)
    )


def _decided(text: str) -> tuple[str, str, bool]:
    """Sort a decision's sentences: outright reasons, what lost by name, all else as it came."""
    first, *rest = sentences(text)
    heading, reason = _choice(first)
    under: list[str] = [reason] if reason else []
    plain: list[str] = []
    if not reason:
        heading, tail = split(first)
        plain += sentences(tail) if tail else []
    if rest and not under and not rest[0].startswith(BEFORE) and cues.anywhere(signs.WHY).search(rest[0]):
        under.append(rest.pop(0))  # what is said right behind a choice with such a word is about the choice
    plain += rest
    lost = [value for found in cues.LOST.finditer(heading) if (value := _lost(found[1]))]
    sections = render_decision(
        Decision(heading, rationale=joined(under), alternatives=tuple(dict.fromkeys(lost))[:3])
    )
    body = "\n\n".join(part for part in (_paragraphs(plain), sections) if part)
    return heading, body, bool(under)


def _choice(sentence: str) -> tuple[str, str]:
    """Part a choice from the reason in the same sentence, where an outright word stands between them."""
    found = signs.BECAUSE.search(sentence)
    if found is None or found.start() < HEADING // 6 or found.start() > limit_of(sentence):
        return "", ""
    return sentence[: found.start()].rstrip(" ,，"), capital(sentence[found.end() :].strip())


def _lost(text: str) -> str:
    """Give what a choice was made against, if it is a thing and no number or pronoun."""
    text = text.strip(" .")
    return (
        ""
        if not re.search(r"[^\W\d]{2}", text) or text.casefold() in {"that", "this", "it", "them"}
        else capital(text)
    )


def _paragraphs(told: Sequence[str], *, steps: bool = False) -> str:
    """Write sentences as running text; long enumerations, and steps with commands, become lists."""
    blocks: list[str] = []
    run: list[str] = []
    listed = steps and sum(_CODE.search(one) is not None for one in told) > 1
    for sentence in told:
        if sentence.startswith(BEFORE):
            blocks += _run(run)
            blocks.append(sentence)
            run = []
        elif listed:
            blocks.append(f"- {_unstopped(sentence)}") if not blocks or not blocks[-1].startswith(
                "- "
            ) else _extend(blocks, sentence)
        elif items := _items(
            sentence, more=not run and bool(blocks) and blocks[-1].split("\n")[-1].startswith("- ")
        ):
            blocks += _run(run)
            run = []
            if blocks and items.startswith("- ") and "\n- " in blocks[-1]:
                blocks[-1] += f"\n{items}"
            else:
                blocks.append(items)
        else:
            run.append(sentence)
    return "\n\n".join([*blocks, *_run(run)])


def _extend(blocks: list[str], sentence: str) -> None:
    blocks[-1] += f"\n- {_unstopped(sentence)}"


def _run(sentences: Iterable[str]) -> list[str]:
    text = joined(sentences)
    return [text] if text else []


def _items(sentence: str, *, more: bool = False) -> str:
    """Write an enumeration as a list under its lead, "" if it is none."""
    lead = _LEAD.match(sentence)
    rest = sentence[lead.end() :] if lead else sentence
    items = [item.strip() for item in _SEMI.split(_unstopped(rest))]
    if len(items) < (2 if more and not lead else _ITEMS) or rest.count("(") != rest.count(")"):
        return ""
    head = f"{lead[0].rstrip()}\n" if lead else ""
    return head + "\n".join(f"- {item}" for item in items if item)


def _unstopped(text: str) -> str:
    return text[:-1] if text.endswith((".", "。")) and not text.endswith("..") else text
