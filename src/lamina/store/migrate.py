"""Old shapes of a store, moved to the present one on the first write; reading understands both.

Entries in a single `<layer>.md` go to a topic named after their heading (history: after their day). Prose
that a person wrote there goes to the topic `<Layer> notes`, because the file itself is generated from then
on. A `global/working.md` that holds no more than its template is removed.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.entry import Topic, parse_topic
from lamina.formats.layers import LAYERS
from lamina.formats.scope import Scope
from lamina.store import files
from lamina.store.files import Stamp

if TYPE_CHECKING:
    from lamina.store.change import Work
    from lamina.store.store import Store
    from lamina.store.write import Writing

_WORKING = "global/working.md"
_NOTICE = ("THIS FILE BELONGS TO THE AGENT", "You own it. Read it", "What the agent is in the middle of")
_PLACEHOLDER = re.compile(
    r"[-*+]|(?:[-*+] )?[_*(]+(?:none|nothing|empty|not)(?![a-z])[^_*()]*[)_*]+", re.IGNORECASE
)
_ITEM = r"- \[.*\]\({layer}/[^()]*\.md\).*"
_OLD_SENTENCE = "Topic index. Entries live in one file per topic under"


def everything(store: Store, *, at: datetime) -> set[str]:
    """Move all old shapes now; returns the files that were written. Does nothing the second time."""
    with store.writing(label="migrate", at=at) as batch:
        singles(batch)
    return batch.touched


def singles(batch: Writing) -> None:
    """Move the old single files of all scopes, looking only at files that changed since last time."""
    if batch.singles is not None:
        return
    seen = _seen(batch)
    batch.singles = now = {}
    root = f"{batch.store.root}/"
    for scope in batch.store.scopes():
        for name, each in LAYERS.items():
            if not each.many:
                continue
            rel = f"{scope.folder}/{name}.md"
            stamp = files.stamp(root + rel)
            new = stamp is not None and seen.get(rel) != stamp and (scope, name) not in batch.ledgers
            if new and batch.store.legacy(scope, name):
                batch.ledger(scope, name)
            if stamp is not None:
                now[rel] = stamp
    _retire_working(batch)


def layer(batch: Writing, scope: Scope, name: str) -> None:
    """Move the entries and the prose of a layer's single file into topics."""
    rel = batch.store.layout.rel(batch.store.layout.layer_file(scope, name))
    try:
        text = batch.store.text(rel)
    except errors.LaminaError:
        return  # told when the file is to be generated
    if not text or text == batch.generated.get(rel):
        return
    moved = batch.moved.setdefault(rel, set())
    topic = parse_topic(text)
    for entry in topic.entries:
        if entry.raw not in moved:
            moved.add(entry.raw)
            batch.move_in(scope, name, entry)
    prose = foreign_prose(topic, name)
    if prose and prose not in moved:
        moved.add(prose)
        title = f"{LAYERS[name].title} notes"
        batch.topic_change(scope, name, title).do(lambda work: _add_prose(work, title, prose))
    if topic.entries or prose:
        batch.due.add((scope, name))


def foreign_prose(topic: Topic, layer: str) -> str:
    """Return what a person wrote into `<layer>.md` before its entries: all lines that are not generated."""
    item = re.compile(_ITEM.format(layer=re.escape(layer)))
    decision = re.compile(r" +- .*")
    kept: list[str] = []
    for line in topic.preamble.lstrip("\ufeff").splitlines():
        text = line.rstrip()
        ours = (
            text == f"# {LAYERS[layer].title}"
            or text == LAYERS[layer].sentence
            or text.startswith(_OLD_SENTENCE)
            or item.fullmatch(text)
            or (layer == "decisions" and decision.fullmatch(text))
        )
        if not ours:
            kept.append(text)
    return "\n".join(kept).strip("\n")


def remember_singles(batch: Writing) -> None:
    """Remember which single files were looked at, as they stand after the batch."""
    if batch.singles is None:
        return
    now = dict(batch.singles)
    for scope, name in batch.ledgers:
        rel = f"{scope.folder}/{name}.md"
        stamp = files.stamp(f"{batch.store.root}/{rel}")
        if stamp is not None:
            now[rel] = stamp
    if now != _seen(batch):
        files.overwrite(batch.store.layout.singles, json.dumps(now, separators=(",", ":")))


def _seen(batch: Writing) -> dict[str, Stamp]:
    try:
        data = files.parse_json(files.read_bytes(batch.store.layout.singles))
        return {rel: Stamp(*stamp) for rel, stamp in data.items()}
    except (errors.LaminaError, ValueError, TypeError, AttributeError):
        return {}


def _add_prose(work: Work, title: str, prose: str) -> None:
    """Put prose before the entries of a topic, unless it stands there already."""
    if prose in (work.text or ""):
        return
    text = work.text
    if text is None:
        work.set(f"# {title}\n\n{prose}\n")
        return
    topic = work.topic
    end = topic.newline
    head = topic.preamble.rstrip("\r\n")
    work.set(head + end * 2 + prose.replace("\n", end) + end * 2 + text[len(topic.preamble) :])


def _retire_working(batch: Writing) -> None:
    try:
        text = batch.text(_WORKING)
    except errors.LaminaError:
        return
    if text is not None and _is_template(text):
        batch.put(_WORKING, None)


def _is_template(text: str) -> bool:
    """Tell whether nothing but headings, the ownership notice and placeholders stands in a working.md."""
    from lamina.formats.working import parse_working

    working = parse_working(re.sub("<!--.*?-->", "", text, flags=re.DOTALL))
    texts = [section.text for section in working.file.sections]
    prose = re.split(r"\n[ \t>]*\n", working.file.preamble.lstrip("\ufeff"))
    texts += [part for part in prose if not any(sign in part for sign in _NOTICE)]
    lines = [line.strip(" \t>") for each in texts for line in each.splitlines()]
    return all(not line or line.startswith("#") or _PLACEHOLDER.fullmatch(line) for line in lines)
