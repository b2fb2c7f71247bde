"""Golden files: what daily records and digests mean, beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lamina.formats.daily import parse_daily
from lamina.formats.digestreader import parse_digest

DATA = Path(__file__).with_name("data") / "project"


def daily(text):
    read = parse_daily(text)
    return {
        "title": read.title,
        "sessions": [
            {
                "id": part.id,
                "topic": part.topic,
                "line": part.line,
                "bullets": [list(each) for each in part.bullets],
            }
            for part in read.parts
        ],
        "problems": [list(each) for each in read.problems],
    }


def item(each):
    return {
        "id": each.id,
        "kind": each.kind,
        "text": each.text,
        "sources": list(each.sources),
        "line": each.line,
        "is": [name for name in ("legacy", "edited") if getattr(each, name)],
    }


def digest(text):
    read = parse_digest(text)
    return {
        "title": read.title,
        "processed": str(read.processed),
        "refined_through": str(read.refined_through),
        "status": read.status,
        "pending": list(read.pending),
        "preamble": list(read.preamble),
        "refined": [item(each) for each in read.refined],
        "sections": [
            {
                "id": section.id,
                "title": section.title,
                "sources": list(section.sources),
                "items": [item(each) for each in section.items],
            }
            for section in read.sections
        ],
        "current": {name: each.line for name, each in read.current.items()},
        "covered": sorted(map(list, read.covered)),
        "problems": [[each.line, each.fatal, each.message] for each in read.problems],
    }


READ = {"daily": daily, "foreign": daily, "digest": digest}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", READ)
def test_a_file_means_what_stands_beside_it(name, end):
    text = (DATA / f"{name}.md").read_text(encoding="utf-8").replace("\n", end)
    wanted = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    assert READ[name](text) == wanted
    assert READ[name]("\ufeff" + text) == wanted


def test_every_file_is_read():
    assert {each.stem for each in DATA.glob("*.md")} - {"README"} == set(READ)
