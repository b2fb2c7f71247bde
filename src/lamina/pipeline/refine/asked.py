"""A model proposes what a refine merges and drops; a line that does not hold changes nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.digest import Item
from lamina.formats.hashing import knowledge_text
from lamina.formats.lines import fold, size_of
from lamina.formats.refinereply import Line, parse_refine_reply
from lamina.models.base import Prompt
from lamina.pipeline.prompts import load
from lamina.pipeline.redact import redact
from lamina.pipeline.refine.account import LONGEST, judged
from lamina.pipeline.refine.plan import DROP, KEEP, MERGE, Plan

if TYPE_CHECKING:
    from lamina.pipeline.asking import Asker

PURPOSE = "refine"
_SUPERSEDED = re.compile(r"superseded\s+by\s+`?([^\s`]+?)`?[.,;:]?(?:\s|$)", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:instead|no longer|not any ?more|replac\w+|supersed\w+|switch\w*|mov(?:e|es|ed|ing)|migrat\w+|now|"
    r"since|from now on|rather than|drop(?:s|ped)?|abandon\w*|revert\w*|statt|stattdessen|nicht mehr|jetzt|"
    r"nun|ersetz\w*|abgelöst|ab sofort|désormais|remplac\w+|ahora|reemplaz\w+)\b|"
    r"改为|改為|改用|不再|取代|替换|现在|代わりに|もう|이제|대신",
    re.IGNORECASE,
)
_LEAST = 4_000
_REPLY_TOKENS = 4096


def asked(asker: Asker, own: Plan, *, limit: int) -> Plan:
    """Ask a model about the items that our own plan keeps, in prompts of at most `limit` bytes.

    Each line is judged by itself on top of those before it; one that fails is left out and counted.
    """
    plan, refused, told = own, 0, []
    for batch in _batches([choice.item for choice in own.kept], max(limit, _LEAST)):
        try:
            reply = asker.ask(PURPOSE, _prompt(batch)).reply
        except (errors.NoModelAnswered, errors.CapReached) as problem:
            told.append(f"no model was asked about all items: {problem.message}")
            break
        shown = {item.id for item in batch}
        for line in parse_refine_reply(reply.text, cut=reply.cut):
            better = _better(plan, line, shown)
            refused += better is None
            plan = better or plan
    if refused:
        told.append(f"{refused} lines of the model did not hold and were left out")
    return Plan(plan.choices, (*own.limitations, *told))


def _better(plan: Plan, line: Line, shown: Collection[str]) -> Plan | None:
    """Return the plan with what a line says, None where that does not hold."""
    named = {*line.ids, *filter(None, [line.into])}
    wanted = _with(plan, line) if named <= set(shown) and not _guessed(plan, line) else None
    if wanted is None:
        return None
    held = [choice for choice in plan.choices.values() if choice.into or choice.reason]
    touched = {each.item.id for each in held if named & {each.into, *each.reason.replace("`", " ").split()}}
    found, faults = judged(wanted, only=named | touched)
    return None if faults else found


def _guessed(plan: Plan, line: Line) -> bool:
    """Tell whether a line ends a decision or a learning though the later one does not say that it changed.

    Two that contradict each other may both be meant: then a person decides.
    """
    named = _SUPERSEDED.match(line.text) if line.action == "drop" else None
    item, by = plan.choices.get(line.ids[0]), plan.choices.get(named[1]) if named else None
    return bool(item and by and item.item.kind != "state" and not _CHANGE.search(by.item.text))


def _with(plan: Plan, line: Line) -> Plan | None:
    """Return a plan with what a line says, None where it says nothing about items that stay."""
    choices = dict(plan.choices)
    names = [*line.ids, *filter(None, [line.into])]
    if any(choices[name].action != KEEP for name in names):
        return None
    match line.action:
        case "merge":
            text = redact(fold(line.text)).text
            if len(text) > LONGEST:
                return None
            for name in line.ids:
                if name != line.into:
                    choices[name] = replace(choices[name], action=MERGE, into=line.into, text="")
            if knowledge_text(text):
                choices[line.into] = replace(choices[line.into], text=text)
        case "drop":
            (name,) = line.ids
            choices[name] = replace(choices[name], action=DROP, reason=redact(line.text).text)
        case _:
            for name in line.ids:
                others = tuple(other for other in line.ids if other != name)
                both = tuple(dict.fromkeys((*choices[name].conflict, *others)))
                choices[name] = replace(choices[name], conflict=both)
    return Plan(choices, plan.limitations)


def _prompt(batch: Sequence[Item]) -> Prompt:
    return Prompt(load(PURPOSE), "\n".join(["BEGIN", *map(_shown, batch), "END"]), tokens=_REPLY_TOKENS)


def _shown(item: Item) -> str:
    return f"{item.id} ({item.kind}): {redact(item.text).text}"


def _batches(items: Sequence[Item], limit: int) -> Iterator[list[Item]]:
    room = limit - size_of(load(PURPOSE))
    batch: list[Item] = []
    size = 0
    for item in items:
        needs = size_of(_shown(item)) + 1
        if batch and size + needs > room:
            yield batch
            batch, size = [], 0
        if needs <= room:
            batch.append(item)
            size += needs
    if batch:
        yield batch
