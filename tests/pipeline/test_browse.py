"""Listing, showing and grouping what is stored, and writing it out."""

from __future__ import annotations

import json

import pytest
from tests.pipeline.opening import Clock, opened

from lamina import errors
from lamina.formats.entry import parse_topic

ITEM = {
    "id", "scope", "layer", "topic", "heading", "file", "line", "date", "importance", "trust", "freshness",
    "age_days", "source",
}  # fmt: skip


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    return opened(tmp_path, clock=clock)


def hand_written(memory) -> str:
    memory.remember("Something first")
    path = memory.root / "workspaces/harbor/semantic/by-hand.md"
    path.write_text("# By hand\n\n## Written by hand\n\nNo id yet.\n\n## Another\n\nNor here.\n")
    return "workspaces/harbor/semantic/by-hand.md"


def test_the_newest_come_first_and_only_this_workspace_and_global(tmp_path, memory, clock):
    memory.remember("One")
    clock.forward(days=1)
    memory.remember("Two", scope="global")
    opened(tmp_path, project="quay", clock=clock).remember("Elsewhere")
    items, problems = memory.list()
    assert [item["heading"] for item in items] == ["Two", "One"]
    assert problems == ()
    assert set(items[0]) == ITEM
    assert {item["heading"] for item in memory.list(scope="all")[0]} == {"One", "Two", "Elsewhere"}
    assert [item["heading"] for item in memory.list(scope="workspace:quay")[0]] == ["Elsewhere"]
    assert [item["heading"] for item in memory.list(limit=1)[0]] == ["Two"]


@pytest.mark.parametrize("name", ["Ports and hosts", "ports and hosts", "ports-and-hosts", "Ports-And-Hosts"])
def test_a_topic_is_named_by_title_or_file(memory, name):
    memory.remember("One", topic="Ports and hosts")
    memory.remember("Two", topic="Ports")
    assert [item["heading"] for item in memory.list(topic=name)[0]] == ["One"]
    assert [hit.heading for hit in memory.search("One Two", topic=name).hits] == ["One"]


def test_days_layers_and_trust_are_filters(memory, clock):
    old = memory.remember("Old").id
    clock.forward(days=10)
    memory.remember("New", layer="learnings")
    memory.edit(old, fields={"trust": "candidate"})
    assert [item["heading"] for item in memory.list(since="7d")[0]] == ["New"]
    assert [item["heading"] for item in memory.list(until="2026-12-01")[0]] == ["Old"]
    assert [item["heading"] for item in memory.list(layer="learning")[0]] == ["New"]
    assert [item["heading"] for item in memory.list(trust="candidate")[0]] == ["Old"]


def test_one_bad_file_is_told_and_stops_nothing(memory):
    memory.remember("Good")
    folder = memory.root / "workspaces/harbor/semantic"
    (folder / "bad.md").write_bytes(b"## \xff\n")
    (folder / "folder.md").mkdir()
    (folder / "link.md").symlink_to(folder / "good.md")
    items, problems = memory.list()
    assert [item["heading"] for item in items] == ["Good"]
    assert len(problems) == 3
    assert all(str(folder) in str(problem) for problem in problems)


def test_an_entry_without_an_id_is_listed_and_shown_by_its_place(memory):
    rel = hand_written(memory)
    items = [item for item in memory.list()[0] if not item["id"]]
    assert [(item["file"], item["line"]) for item in items] == [(rel, 3), (rel, 7)]
    assert memory.show(f"{rel}:3")["heading"] == "Written by hand"
    assert memory.show(f"{rel}:5")["heading"] == "Written by hand"
    assert memory.show(f"{rel}:7")["body"] == "Nor here."
    assert memory.why(f"{rel}:7")["chain"][0]["ref"] == f"{rel}:7"


@pytest.mark.parametrize(
    "name",
    ["", "nonsense", "harbor-sem-9999", "global/semantic/x.md:1", "../../etc/passwd:1", "memory.json:1",
     "workspaces/harbor/semantic/by-hand.md:1", "workspaces/harbor/semantic/by-hand.md:²", "x" * 5_000],
)  # fmt: skip
def test_what_is_no_entry_is_told(memory, name):
    hand_written(memory)
    with pytest.raises(errors.NoEntry):
        memory.show(name)


def test_show_without_a_store_says_so(memory):
    with pytest.raises(errors.NoEntry, match="no store"):
        memory.show("harbor-sem-0001")
    assert not memory.exists


def test_a_whole_entry_has_its_fields_and_its_text_as_it_stands(memory):
    outcome = memory.remember("The port is 8081")
    shown = memory.show(outcome.id)
    assert set(shown) == ITEM | {"fields", "body", "text"}
    assert shown["text"] in (memory.root / outcome.file).read_text()


def test_the_log_groups_by_session_newest_first(memory, clock):
    memory.remember("A", source="session:codex/one#1-2")
    memory.remember("B", source="session:codex/one#5-9")
    clock.forward(days=1)
    memory.remember("C")
    log = memory.log()
    assert [(each["date"], each["source"], len(each["entries"])) for each in log] == [
        ("2026-12-01", "user", 1),
        ("2026-11-30", "session:codex/one", 2),
    ]
    assert set(log[0]["entries"][0]) == {"id", "heading", "layer", "scope"}
    assert len(memory.log(limit=1)) == 1
    assert len(memory.log(since="1d")) == 2
    assert len(memory.log(since="today")) == 1


def test_the_markdown_export_can_be_read_again(memory):
    memory.remember("One", topic="T")
    memory.remember("Two", topic="T")
    memory.decision("Three", rationale="r")
    done = memory.export()
    assert done["entries"] == 3
    assert "# workspace:harbor · Semantic · T" in done["text"]
    assert [entry.heading for entry in parse_topic(done["text"]).entries] == ["One", "Two", "Three"]


def test_the_json_export_holds_everything(memory):
    memory.remember("One: «ä»")
    document = json.loads(memory.export("json")["text"])
    assert document["format"] == 1
    assert document["entries"][0]["fields"]["Id"] == "harbor-sem-0001"
    assert "«ä»" in memory.export("json")["text"]


def test_an_export_overwrites_nothing_unasked(memory, tmp_path):
    memory.remember("One")
    path = tmp_path / "out.md"
    path.write_text("mine")
    with pytest.raises(errors.Refused):
        memory.export(output=path)
    assert path.read_text() == "mine"
    memory.export(output=path, force=True, dry_run=True)
    assert path.read_text() == "mine"
    memory.export(output=path, force=True)
    assert "## One" in path.read_text()
    with pytest.raises(errors.NoSuchFile):
        memory.export(output=tmp_path / "no" / "x.md")
    with pytest.raises(errors.Refused, match="folder"):
        memory.export(output=tmp_path, force=True)


def test_an_old_single_file_is_listed_shown_and_counted(memory):
    memory.init()
    (memory.root / "workspaces/harbor").mkdir(parents=True)
    (memory.root / "workspaces/harbor/semantic.md").write_text(
        "# Semantic\n\n## Old fact\n\n**Id:** harbor-sem-0007\n\nIt is old.\n\n## No id\n\nNone.\n"
    )
    assert {item["heading"] for item in memory.list()[0]} == {"Old fact", "No id"}
    assert memory.show("harbor-sem-0007")["file"] == "workspaces/harbor/semantic.md"
    assert memory.show("workspaces/harbor/semantic.md:10")["heading"] == "No id"
    assert memory.status()["entries"]["semantic"] == 2
