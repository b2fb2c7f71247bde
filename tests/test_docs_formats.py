"""Every example on the page of the formats means what the page says, and is written back byte for byte.

A block with a kind behind its language (`markdown topic`) is followed by a `json` block: its meaning.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest

from lamina.formats.daily import parse_daily
from lamina.formats.dates import render_time
from lamina.formats.decision import parse_decision, render_decision
from lamina.formats.digest import setting_header
from lamina.formats.digestreader import parse_digest
from lamina.formats.entry import parse_topic, render_topic
from lamina.formats.hashing import content_hash
from lamina.formats.marker import parse_marker
from lamina.formats.note import parse_note, render_note
from lamina.formats.reply import parse_reply
from lamina.formats.slug import topic_slug
from lamina.formats.state import parse_state, render_state
from lamina.formats.structure import LABELS
from lamina.formats.tombstone import parse_tombstones, render_tombstones
from lamina.formats.working import OWNERSHIP, parse_working, render_working

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"^(`{3,})(\w+) (\w+)\n((?:(?!\1).*\n)*)\1\n\n```json\n((?:(?!```).*\n)*)```", re.MULTILINE
)
EXAMPLES = [(kind, text, json.loads(meaning)) for _, _, kind, text, meaning in BLOCK.findall(PAGE)]


def topic(text: str) -> object:
    read = parse_topic(text)
    assert render_topic(read) == text
    return [
        {"heading": e.heading, "fields": dict(e.fields), "body": e.body, "trust": e.trust}
        for e in read.entries
    ]


def decision(text: str) -> object:
    read = parse_decision("It", text)
    assert render_decision(read) == text.rstrip("\n")
    said = {key: value for key, value in read._asdict().items() if key != "heading"}
    return {**said, "alternatives": list(read.alternatives)}


def state(text: str) -> object:
    read = parse_state(text)
    assert render_state(read) == text
    return [[s.title, s.text, render_time(s.verified) if s.verified else None] for s in read.sections]


def working(text: str) -> object:
    read = parse_working(text)
    assert render_working(read) == text
    assert OWNERSHIP in text
    assert read.updated
    return {
        "task": read.section("Task"),
        "activity": [a.text for a in read.activity],
        "updated": render_time(read.updated),
    }


def note(text: str) -> object:
    read = parse_note(text)
    assert render_note(read) == text
    bullets = [[b.label, b.text, str(b.day), b.first, b.last, b.quote, b.who] for b in read.bullets]
    return {"session": read.session, "pending": read.consolidated is None, "bullets": bullets}


def marker(text: str) -> object:
    read = parse_marker(text)
    assert read
    assert str(read) == text.rstrip("\n")
    return {"name": read.name, "attrs": dict(read.attrs)}


def reply(text: str) -> object:
    read = parse_reply(text)
    assert not read.skipped
    return {
        "facts": [
            [f.note, f.scope, f.layer, f.importance, f.volatility, f.topic, f.text] for f in read.facts
        ],
        "updates": [[c.id, c.text] for c in read.updates],
        "supersedes": [[c.id, c.text] for c in read.supersedes],
        "done": list(read.done),
    }


def daily(text: str) -> object:
    read = parse_daily(text)
    assert not read.problems
    return {
        "title": read.title,
        "sessions": [
            {"id": part.id, "topic": part.topic, "bullets": [list(bullet) for bullet in part.bullets]}
            for part in read.parts
        ],
    }


def digest(text: str) -> object:
    read = parse_digest(text)
    assert not read.problems
    assert setting_header(read, state=read.state, sync=read.sync) == text
    return {
        "processed": str(read.processed),
        "status": read.status,
        "pending": list(read.pending),
        "sections": [[each.id, list(each.sources)] for each in read.sections],
        "items": [[i.id, i.kind, i.text, i.hash == i.content] for i in read.items],
    }


READERS = {
    each.__name__: each for each in (topic, decision, state, working, note, marker, daily, digest, reply)
}


@pytest.mark.parametrize(
    "kind, text, meaning", EXAMPLES, ids=[f"{n}-{kind}" for n, (kind, *_) in enumerate(EXAMPLES)]
)
def test_an_example_means_what_the_page_says(kind, text, meaning):
    read = READERS[kind](text)
    if kind == "topic":
        assert isinstance(read, list)
        read = [{key: entry[key] for key in said} for entry, said in zip(read, meaning, strict=True)]
    assert read == meaning


def test_each_kind_of_example_is_there():
    assert {kind for kind, *_ in EXAMPLES} == set(READERS)


def test_the_tombstone_can_be_read():
    line = re.search(r"```json tombstone\n(.*?)```", PAGE, re.DOTALL)
    assert line
    read = parse_tombstones(line[1])
    assert render_tombstones(read) == line[1]
    assert [each.id for each in read.standing] == ["harbor-sem-0004"]


def table(heading: str) -> list[list[str]]:
    part = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*`) \| (`.*`) \|$", part, re.MULTILINE)
    return [[cell.strip("` ") if cell.startswith("`` ") else cell[1:-1] for cell in row] for row in rows]


def test_the_slugs_are_as_the_table_says():
    rows = table("Slugs")
    assert len(rows) == 6
    for title, file in rows:
        assert f"{topic_slug(title)}.md" == file


def test_the_hashes_are_as_the_table_says():
    rows = re.findall(r"^\| (`+) ?(.*?) ?\1 \| `([0-9a-f]{64})` \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3
    for _, bullet, said in rows:
        assert content_hash(unicodedata.normalize("NFD", bullet)) == said


def test_the_fields_are_listed_in_their_order():
    part = PAGE.split("### Header")[1].split("### Body")[0]
    assert tuple(re.findall(r"^\| `([A-Z][a-z-]+)` \|", part, re.MULTILINE)) == LABELS
