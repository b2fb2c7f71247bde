"""What the core answers with is what the digest says: no wording that is gone stays approved, none that is there goes."""

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.formats.digest import appended, render_section, setting_header, sync_marker
from lamina.pipeline.digest.sync import settle
from lamina.pipeline.semantic import Update
from pipeline.refined import OLD, Desk, Kept, digest_of, item, ref

PORT, MOVED = "Port is 8080 in staging.", "Port is 9090 in staging."
IDS = ["decision-a", "decision-b", "state-c", "state-d", "open-e", "learning-f"]
TEXTS = [
    "Use plain ESM with no build step.",
    "use plain ESM with no build step",
    "Use plain ESM with no build step, because we ship what we test.",
    PORT,
    MOVED,
    "Document the exports.",
    "Done: Document the exports.",
]


def digested(desk, *items):
    """Append a section as the stage before does, and let the core have its candidates."""
    before = desk.digest
    day = len(before.sections) + 2
    refs = tuple(dict.fromkeys(each for one in items for each in one.sources)) or (ref(day),)
    section = render_section(f"2026-11-{day:02}T11:00:00Z", OLD, refs, items)
    desk.path.write_bytes(appended(desk.text, section).encode())
    told(desk, items, before)


def told(desk, items, before=None):
    sync = settle(desk.core, "", desk.digest, items, before)
    marker = sync_marker(desk.digest.sync, sync.status, sync.pending)
    desk.path.write_bytes(setting_header(desk.digest, sync=marker).encode())


def said(desk):
    return {each.hash for each in desk.digest.refined}


@pytest.mark.parametrize("name", ["builtin", "env:CORE"])
def test_the_old_words_of_a_failed_update_wait_and_are_retired_with_the_next_run(tmp_path, name):
    busy: list[type] = []
    core = Kept(lambda each: "busy" if type(each) in busy else "", name)
    desk = Desk(tmp_path, digest_of([item("decision-a", PORT)]), core)
    desk.refine()
    (old,) = said(desk)
    digested(desk, item("decision-a", MOVED, day=2))

    busy.append(Update)
    first = desk.refine()
    (new,) = said(desk)
    assert first.sync.pending == (new, old)
    assert core.approved == {old}  # better the old words than none

    busy.clear()
    second = desk.refine(force=False)
    assert second.retried
    assert (second.sync.status, second.sync.pending) == ("synced", ())
    assert core.approved == {new}
    assert core.status[old] == "purged"


def test_an_item_that_takes_on_the_words_of_another_one_leaves_its_own_behind(tmp_path):
    core = Kept()
    desk = Desk(tmp_path, digest_of([item("decision-a", PORT), item("state-b", MOVED)]), core)
    desk.refine()
    digested(desk, item("decision-a", MOVED, day=2))
    assert desk.refine().sync.status == "synced"
    assert core.approved == said(desk)
    assert len(core.approved) == 1


def test_words_that_another_item_still_has_stay_approved(tmp_path):
    core = Kept()
    desk = Desk(tmp_path, digest_of([item("decision-a", PORT), item("state-b", PORT)]), core)
    desk.refine()
    digested(desk, item("decision-a", MOVED, day=2))
    assert desk.refine().sync.status == "synced"
    assert core.approved == said(desk)
    assert len(core.approved) == 2


@settings(deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["builtin", "env:CORE"]), st.booleans())
def test_once_all_is_settled_the_core_has_approved_what_the_digest_says(seed, name, faulty):
    rnd = random.Random(seed)
    failing = [False]
    core = Kept(lambda _: "busy" if failing[0] and rnd.random() < 0.3 else "", name)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), digest_of(), core)
        for day in range(1, 6):
            new = {each.hash: each for each in _some(rnd, day)}.values()
            failing[0] = faulty and rnd.random() < 0.4
            digested(desk, *new)
            if rnd.random() < 0.4:
                continue
            desk.refine()
            failing[0] = False
            if desk.digest.pending:
                desk.refine(force=False)
            assert desk.digest.pending == ()
            assert core.approved == said(desk)
            assert {each.sync for each in desk.digest.refined} == {"approved"}


def _some(rnd, day):
    return [item(name, rnd.choice(TEXTS), day=day) for name in rnd.sample(IDS, rnd.randint(1, 4))]
