from __future__ import annotations

import shutil

import pytest
from tests.store.making import GLOBAL, LAMINA, NOW, ids, remember, write

from lamina.store.store import Store


def entry(id_: str, **more: str) -> str:
    fields = "".join(f"**{label}:** {value}\n" for label, value in more.items())
    return f"## Entry {id_}\n\n**Id:** {id_}\n{fields}\nText of {id_}.\n\n"


def test_ids_are_counted_by_scope_and_layer(store: Store) -> None:
    given = [
        remember(store, "One", scope=scope, layer=layer).id
        for scope in (GLOBAL, LAMINA)
        for layer in ("semantic", "episodic", "procedural", "learnings", "decisions")
    ]
    assert given[0] == "global-sem-0001"
    assert given[-1] == "lamina-dec-0001"
    assert {id_.rsplit("-", 1)[1] for id_ in given} == {"0001"}
    assert remember(store, "Map", scope=LAMINA, layer="codebase").id == "lamina-cod-0001"
    assert remember(store, "Day", scope=LAMINA, layer="history", topic="2026-11-30").id == "lamina-his-0001"


def test_ids_written_by_hand_and_aliases_are_never_given(store: Store) -> None:
    remember(store, "One")
    write(
        store,
        "global/semantic/hand.md",
        entry("global-sem-0007") + entry("global-sem-0003", Alias="global-sem-0012"),
    )
    assert remember(store, "Two").id == "global-sem-0013"
    write(store, "workspaces/lamina/learnings/moved.md", entry("lamina-lrn-0001", Alias="global-sem-0050"))
    shutil.rmtree(store.root / "state")
    assert remember(store, "Three").id == "global-sem-0051"


def test_a_number_is_not_reused_after_a_removal(store: Store) -> None:
    remember(store, "One")
    remember(store, "Two")
    with store.writing(label="x", at=NOW) as batch:
        batch.remove("global-sem-0002")
    assert remember(store, "Three").id == "global-sem-0003"


@pytest.mark.parametrize(
    "damage", [None, "", "{", "[]", '{"global-sem": "x"}', '{"global-sem": true}', '{"global-sem": 1}']
)
def test_lost_or_stale_numbers_are_counted_again(store: Store, damage: str | None) -> None:
    for number in range(3):
        remember(store, f"Fact {number}")
    path = store.root / "state/ids.json"
    path.unlink() if damage is None else path.write_text(damage)
    assert remember(store, "Next").id == "global-sem-0004"


def test_tombstones_count_when_the_state_is_lost(store: Store) -> None:
    remember(store, "One")
    write(store, "suppressed.jsonl", '{"hash":"x","id":"global-sem-0030"}\n')
    shutil.rmtree(store.root / "state")
    assert remember(store, "Two").id == "global-sem-0031"


def test_the_width_grows(store: Store) -> None:
    write(store, "global/semantic/a.md", entry("global-sem-9999"))
    assert remember(store, "Next").id == "global-sem-10000"
    found = store.find("global-sem-10000")
    assert found is not None


def test_a_silly_number_does_not_spoil_all_later_ids(store: Store) -> None:
    write(
        store,
        "global/semantic/a.md",
        entry("global-sem-999999999999999999") + entry("global-sem-12345678901234567890123"),
    )
    assert remember(store, "Next").id == "global-sem-0001"


def test_an_id_that_stands_twice_is_reported_and_left_alone(store: Store) -> None:
    write(store, "global/semantic/a.md", entry("global-sem-0001"))
    write(store, "global/semantic/b.md", entry("global-sem-0001"))
    [problem] = store.doubles()
    assert "global-sem-0001 stands twice, first in a.md" in str(problem)
    assert problem.path.endswith("b.md")
    assert remember(store, "Two").id == "global-sem-0002"
    assert ids(store).count("global-sem-0001") == 2
    found = store.find("global-sem-0001")
    assert found is not None
    assert found.rel == "global/semantic/a.md"


def test_an_id_reserved_elsewhere_is_not_given(store: Store) -> None:
    with store.writing(label="merge", at=NOW) as batch:
        batch.reserve("global-sem-0100")
        batch.put("state/sessions/x.json", "{}")
    assert remember(store, "One").id == "global-sem-0101"


def test_a_file_put_as_a_text_reserves_its_ids(store: Store) -> None:
    with store.writing(label="merge", at=NOW) as batch:
        batch.put("global/semantic/merged.md", "# Merged\n\n" + entry("global-sem-0008") + "## No id\n\nx\n")
    assert ids(store) == ["global-sem-0008", "global-sem-0009"]


def test_a_same_sized_edit_in_the_same_moment_is_noticed(store: Store) -> None:
    path = write(store, "global/semantic/a.md", entry("global-sem-0003"))
    remember(store, "Next")
    path.write_text(entry("global-sem-0009"))
    assert remember(store, "Next again").id == "global-sem-0010"
