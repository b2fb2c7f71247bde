"""What stands in the way of a refine, in its order."""

from datetime import UTC, date, datetime

import pytest

from lamina import errors
from lamina.formats.digestreader import parse_digest
from lamina.pipeline.refine.gates import gates
from pipeline.refined import Desk, digest_of, item

MANY = [item(f"decision-{n}", f"Use tool number {n} for job {n}.") for n in range(12)]
TODAY = date(2026, 12, 20)


def told(text, *, name="digest.md", today=TODAY, canonical=True):
    return gates(parse_digest(text), name, today=today, canonical=canonical)


REFINED = (
    "<!-- digest:state last-run=2026-11-30T12:00:00Z processed-through=2026-11-30 -->\n"
    "<!-- digest-refine:state last-run=2026-12-01T12:00:00Z refined-through=2026-11-30 -->\n"
    "<!-- digest:sync status=synced pending=none -->\n# Memory digest — harbor\n"
)


@pytest.mark.parametrize(
    ("text", "more", "found"),
    [
        (digest_of(MANY), {}, ("approval",)),
        (digest_of(MANY), {"canonical": False}, ()),
        (digest_of(MANY), {"today": date(2026, 11, 5)}, ("young", "approval")),
        (digest_of(MANY[:9]), {}, ("young", "approval")),
        (digest_of(MANY[:2], MANY[2:4]), {"today": date(2026, 11, 5)}, ("approval",)),
        (digest_of(), {}, ("no_sections", "approval")),
        ("\n" + digest_of(MANY), {}, ("no_state", "approval")),
        (digest_of(MANY).partition("\n")[2], {}, ("no_state", "approval")),
        (digest_of(MANY), {"name": "2026-11-30-a-memory.md"}, ("no_state", "approval")),
        (REFINED, {}, ("nothing_new", "approval")),
        (REFINED.replace("none", "a" * 64), {}, ("retry",)),
        (REFINED.replace("refined-through=2026-11-30", "refined-through=2026-11-01"), {}, ("approval",)),
    ],
)
def test_gates(text, more, found):
    assert told(text, **more) == found


@pytest.mark.parametrize(
    ("text", "force", "stops"),
    [
        (digest_of(MANY[:2]), False, True),
        (digest_of(MANY[:2]), True, False),
        (REFINED, False, True),
        (REFINED, True, False),
        (digest_of(), True, True),
        ("x\n" + digest_of(MANY), True, True),
        (digest_of(MANY), False, False),
    ],
)
def test_a_gate_stops_with_the_ways_to_go_on_and_force_passes_two_of_them(tmp_path, text, force, stops):
    desk = Desk(tmp_path, text)
    if stops:
        with pytest.raises(errors.Undecided) as caught:
            desk.refine(force=force)
        assert caught.value.exit_code == 3
        assert caught.value.choices
        assert desk.text == text
    else:
        assert desk.refine(force=force).wrote


def test_a_section_that_came_after_refining_opens_the_digest_again(tmp_path):
    desk = Desk(tmp_path, digest_of(MANY))
    desk.refine()
    assert told(desk.text.replace("unavailable", "synced"))[0] == "retry"
    section = digest_of([item("decision-later", "Use one more tool.", day=2)]).partition(
        "<!-- digest:section"
    )
    desk.path.write_text(desk.text + "\n" + section[1] + section[2])
    assert told(desk.text) == ("approval",)
    desk.refine(force=False)
    assert "decision-later" in {each.id for each in desk.digest.refined}


def test_a_plan_is_never_passed_over_where_only_the_core_is_asked_again(tmp_path):
    desk = Desk(tmp_path, digest_of(MANY))
    desk.refine()
    before = desk.text
    with pytest.raises(errors.Undecided, match="pending hashes wait"):
        desk.refine(desk.plan(), force=False)
    assert desk.text == before


def test_the_day_of_the_gates_is_the_one_that_one_lives_in(tmp_path):
    desk = Desk(tmp_path, digest_of(MANY))
    with pytest.raises(errors.Undecided, match="young"):
        desk.refine(force=False, now=datetime(2026, 11, 2, tzinfo=UTC))
