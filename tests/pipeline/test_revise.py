"""A person's changes: one field at a time, without secrets, and with the person among the sources."""

from __future__ import annotations

from datetime import date

import pytest
from tests.pipeline.opening import Clock, holding, opened

from lamina import errors

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def memory(tmp_path):
    return opened(tmp_path)


def test_a_new_text_keeps_the_rest_and_is_found_at_once(memory):
    id_ = memory.remember("The port is 8081", importance=4, source="session:codex/abc#1-2").id
    done = memory.edit(id_, text="The port is 9000\r\nsince today")
    shown = memory.show(id_)
    assert (done["id"], done["file"], done["line"]) == (id_, shown["file"], shown["line"])
    assert shown["body"] == "The port is 9000\nsince today"
    assert shown["importance"] == 4
    assert shown["source"] == "session:codex/abc#1-2, user"
    assert memory.search("9000").hits


def test_a_heading_made_of_the_text_follows_it_and_a_chosen_one_stays(memory):
    made = memory.remember("The port is 8081").id
    chosen = memory.remember("The old port is 8081", heading="Port 8081 and its past").id
    for id_ in (made, chosen):
        memory.edit(id_, text="It listens on 9000. Nothing else does.")
    assert memory.show(made)["heading"] == "It listens on 9000."
    assert memory.show(chosen)["heading"] == "Port 8081 and its past"


@pytest.mark.parametrize(
    ("name", "value", "label", "written"),
    [
        ("importance", "high", "Importance", "5"),
        ("until", "2027-06-30", "Valid-until", "2027-06-30"),
        ("volatility", "volatile", "Volatility", "volatile"),
        ("verified", "today", "Verified", "2026-11-30"),
        ("verified", "2026-11-01", "Verified", "2026-11-01"),
        ("trust", "candidate", "Trust", "candidate"),
    ],
)
def test_one_field_changes(memory, name, value, label, written):
    id_ = memory.remember("The port is 8081").id
    memory.edit(id_, fields={name: value})
    assert memory.show(id_)["fields"][label] == written


def test_an_empty_value_takes_a_field_away(memory):
    id_ = memory.remember("The port is 8081", until="2027-01-01", volatility="volatile").id
    memory.edit(id_, fields={"until": "", "volatility": None})
    assert {"Valid-until", "Volatility"}.isdisjoint(memory.show(id_)["fields"])


def test_approving_takes_the_doubt_away(memory):
    id_ = memory.remember("The port is 8081").id
    memory.edit(id_, fields={"trust": "candidate"})
    memory.edit(id_, fields={"trust": "approved"})
    assert memory.show(id_)["trust"] == "approved"
    assert "Trust" not in memory.show(id_)["fields"]


@pytest.mark.parametrize(
    "changes",
    [
        {"text": " \n"},
        {"text": "<private>x</private>"},
        {"fields": {"heading": " "}},
        {"fields": {"importance": "9"}},
        {"fields": {"until": "soon"}},
        {"fields": {"trust": "forgotten"}},
        {"fields": {"status": "gone"}},
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(memory, changes):
    id_ = memory.remember("The port is 8081").id
    before = memory.show(id_)
    with pytest.raises(errors.BadInput):
        memory.edit(id_, **changes)
    assert memory.show(id_) == before


def test_a_missing_id_is_told(memory):
    memory.remember("One")
    for call in (
        lambda: memory.edit("harbor-sem-0099", text="x"),
        lambda: memory.move("nonsense", topic="x"),
    ):
        with pytest.raises(errors.NoEntry):
            call()


def test_a_move_inside_a_layer_keeps_the_id(memory):
    id_ = memory.remember("The port is 8081").id
    moved = memory.move(id_, topic="Ports")
    assert (moved["id"], moved["file"]) == (id_, "workspaces/harbor/semantic/ports.md")
    assert memory.show(id_)["topic"] == "Ports"
    assert not (memory.root / "workspaces/harbor/semantic/the-port-is-8081.md").exists()


def test_a_move_elsewhere_gives_a_new_id_and_the_old_one_finds_it(memory):
    id_ = memory.remember("The port is 8081").id
    moved = memory.move(id_, layer="procedural", scope="workspace:lighthouse")
    assert moved["id"] == "lighthouse-pro-0001"
    assert memory.show(id_)["id"] == "lighthouse-pro-0001"
    assert {known["key"] for known in memory.workspaces()} == {"harbor", "lighthouse"}


def test_a_move_to_a_layer_of_workspaces_wants_one(memory):
    id_ = memory.remember("The queue", scope="global").id
    with pytest.raises(errors.UnknownScope):
        memory.move(id_, layer="codebase")


def test_no_change_lets_a_secret_through(memory, tmp_path):
    id_ = memory.remember("The port is 8081").id
    memory.edit(id_, text=f"token {TOKEN}", fields={"heading": f"token {TOKEN}"})
    memory.move(id_, topic=f"token {TOKEN}")
    memory.set_state(f"token {TOKEN}", f"token {TOKEN}")
    memory.set_working(section=f"token {TOKEN}", text=f"token {TOKEN}", activity=f"token {TOKEN}")
    memory.codebase(f"token {TOKEN}", f"token {TOKEN}")
    memory.associate("quay", tmp_path / "harbor", title=f"token {TOKEN}")
    assert holding(tmp_path, TOKEN, history=True) == []
    assert holding(tmp_path, TOKEN.lower(), history=True) == []


def test_a_hand_edit_in_between_is_kept(tmp_path):
    memory = opened(tmp_path, clock=Clock())
    first, second = memory.remember("One", topic="T"), memory.remember("Two", topic="T")
    path = memory.root / first.file
    path.write_text(path.read_text().replace("Two", "Two, by hand"))
    memory.edit(first.id, text="One, anew")
    assert "Two, by hand" in path.read_text()
    assert memory.show(first.id)["body"] == "One, anew"
    assert memory.show(second.id)["heading"] == "Two, by hand"


def test_dates_are_days(memory):
    id_ = memory.remember("x").id
    memory.edit(id_, fields={"verified": "today"})
    assert date.fromisoformat(memory.show(id_)["fields"]["Verified"])
