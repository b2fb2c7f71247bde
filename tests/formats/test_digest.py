"""A project's digest: read leniently, changed by whole lines, damage told with its line."""

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.digest import (
    HEADINGS,
    KINDS,
    NOTHING,
    REFINE,
    SYNC,
    appended,
    made,
    render_new,
    render_section,
    setting_header,
    state_marker,
    sync_marker,
)
from lamina.formats.digestreader import parse_digest
from lamina.formats.hashing import content_hash
from lamina.formats.marker import Marker
from lamina.formats.origin import key_of, origin

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ID = "2026-11-30T12:00:00Z"
STAMP = "2026-11-30 13:00"
REF = origin("memory/2026-11-30-esm-memory.md", "2026-11-30T09:00:00Z")
LATER = origin("memory/2026-12-01-esm-memory.md", "2026-12-01T09:00:00Z")

TEXT = st.lists(
    st.sampled_from(
        [
            "use ESM",
            "because",
            "Source: `a`",
            "Evidence: `session`",
            "**Decisions**:",
            "- x",
            "## Digest 2026",
            "<!-- digest:item id=x -->",
            "```",
            "_Sources: `b`_",
            NOTHING,
            "8080",
            "漢字",
            "`",
        ]
    )
    | st.text(max_size=12),
    min_size=1,
    max_size=5,
).map(" ".join)


def digest(*sections, pending=()):
    text = render_new("harbor", state_marker(NOW, date(2026, 11, 30)), sync_marker(None, "pending", pending))
    for section in sections:
        text = appended(text, section)
    return text


@st.composite
def items(draw):
    texts = draw(st.lists(TEXT.filter(lambda text: text.strip()), max_size=6))
    return [made(f"i-{n}", draw(st.sampled_from(KINDS)), text, (REF,)) for n, text in enumerate(texts)]


@given(items(), items())
def test_items_are_read_back_as_they_were_made(first, second):
    text = digest(
        render_section(ID, STAMP, (REF,), first),
        render_section(f"{ID}-2", STAMP, (REF, LATER), [made(f"j{each.id}", each.kind, each.bullet, (LATER,)) for each in second]),
    )  # fmt: skip
    for form in (text, text.replace("\n", "\r\n"), "\ufeff" + text):
        read = parse_digest(form)
        assert [section.id for section in read.sections] == [ID, f"{ID}-2"]
        assert read.sections[1].sources == (REF, LATER)
        got = {item.id: item for item in read.sections[0].items}
        assert {each.id: (each.kind, each.text, each.hash) for each in first} == {
            name: (item.kind, item.text, item.hash) for name, item in got.items()
        }
        assert all(item.hash == item.content and item.sources == (REF,) for item in got.values())
        assert {key_of(REF), key_of(LATER)} <= read.covered
        assert read.fatal is None


@given(items())
def test_setting_the_header_changes_no_other_line(found):
    text = digest(render_section(ID, STAMP, (REF,), found), pending=[each.hash for each in found])
    for form in (text, text.replace("\n", "\r\n"), "\ufeff" + text):
        read = parse_digest(form)
        assert read.pending == tuple(dict.fromkeys(each.hash for each in found))
        refine = Marker(REFINE, (("last-run", ID), ("refined-through", "2026-11-30")))
        after = setting_header(read, refine=refine, sync=sync_marker(read.sync, "synced", []))
        again = parse_digest(after)
        assert (again.status, again.pending, again.refined_through) == ("synced", (), date(2026, 11, 30))
        assert str(again.state) == str(read.state)
        assert [again.places[name] for name in (REFINE, SYNC)] == [1, 2]
        assert form.splitlines()[2:] == after.splitlines()[3:]
        assert setting_header(read) == form


@pytest.mark.parametrize("said", ["", " pending=", " pending=none", " pending=NONE"])
def test_no_pending_hash_is_written_and_read_in_one_way(said):
    text = f"<!-- digest:state last-run={ID} processed-through=2026-11-30 -->\n<!-- digest:sync status=synced{said} -->\n"
    read = parse_digest(text)
    assert read.pending == ()
    assert "pending=none" in setting_header(read, sync=sync_marker(read.sync, "synced", []))


def test_older_names_and_unknown_attributes_are_kept():
    text = (
        f"<!-- fde-digest:state last-run={ID} processed-through=2026-11-30 owner=me -->\n"
        "# Old digest\n\n## Digest 2026-11-30 13:00\n\n"
        f"**Decisions**:\n<!-- fde-digest:item id=d1 source={REF} hash={'a' * 64} sync=candidate x=y -->\n- Use ESM.\n"
    )
    read = parse_digest(text)
    assert read.fatal is None
    assert read.current["d1"].edited
    after = setting_header(
        read,
        state=read.state.setting("processed-through", "2026-12-01"),
        sync=sync_marker(None, "synced", []),
    )
    assert (
        after.splitlines()[0]
        == f"<!-- fde-digest:state last-run={ID} processed-through=2026-12-01 owner=me -->"
    )
    assert after.splitlines()[1] == "<!-- digest:sync status=synced pending=none -->"


def test_bullets_and_paragraphs_without_a_marker_are_items_too():
    text = digest() + (
        "\n## Digest 2026-11-30 13:00\n\n_Sources: `memory/2026-11-30-a-memory.md`_\n\n**Learnings:**\n"
        "- one\n  goes on\n\n  and on\n* two\n\nA paragraph\nof a person.\n\n### Open\n1. three Source: `memory/b-memory.md#session-1`.\n"
    )
    read = parse_digest(text)
    got = [(item.id, item.kind, item.text, item.sources) for item in read.items]
    assert got == [
        ("legacy-1", "learning", "one goes on and on", ()),
        ("legacy-2", "learning", "two", ()),
        ("legacy-3", "learning", "A paragraph of a person.", ()),
        ("legacy-4", "open", "three", ("memory/b-memory.md#session-1",)),
    ]
    assert all(item.legacy and item.content == content_hash(item.text) for item in read.items)


def test_the_last_occurrence_of_an_id_is_current():
    old, new = made("d", "decision", "use A", (REF,)), made("d", "decision", "use B", (LATER,))
    read = parse_digest(
        digest(render_section(ID, STAMP, (REF,), [old]), render_section(f"{ID}-2", STAMP, (LATER,), [new]))
    )
    assert read.current["d"].text == "use B"
    assert [item.text for item in read.items] == ["use A", "use B"]


def test_a_refined_part_has_its_paragraphs_and_items():
    text = (
        digest().replace("Daily memory", "Ours.\n\nDaily memory")
        + f"\n**{HEADINGS['state']}**:\n<!-- digest:item id=s source={REF} hash={'b' * 64} sync=approved -->\n- It runs. Source: `{REF}`.\n"
    )
    read = parse_digest(text)
    assert read.preamble == ("Ours.",)
    assert [(item.id, item.kind, item.sync, item.section) for item in read.refined] == [
        ("s", "state", "approved", "")
    ]


def test_what_refining_kept_of_sources_is_covered_and_no_item():
    read = parse_digest(digest() + f"\n<!-- digest:covered source={REF},{LATER} -->\n")
    assert read.kept == (REF, LATER)
    assert {key_of(REF), key_of(LATER)} == read.covered
    assert read.items == ()


def test_an_honest_line_is_no_item():
    read = parse_digest(digest(render_section(ID, STAMP, (REF,), [])))
    assert read.items == ()
    assert key_of(REF) in read.covered


def test_the_state_is_inferred_only_if_every_section_names_dated_sources():
    body = digest(render_section(ID, STAMP, (REF, LATER), [])).partition("\n")[2].partition("\n")[2]
    read = parse_digest(body)
    assert (read.state, read.fatal, read.inferred) == (None, None, date(2026, 12, 1))
    assert parse_digest(body + "\n## Digest 2026-12-02 10:00\n\n- x\n").inferred is None
    assert parse_digest("# Memory digest\n").inferred is None


@pytest.mark.parametrize(
    ("change", "line", "word"),
    [
        (lambda t: t.replace("processed-through=2026-11-30", "processed-through=soon"), 1, "processed-through"),
        (lambda t: t.replace("last-run=", "last-run=x"), 1, "last-run"),
        (lambda t: t.replace(" -->\n<!-- digest:sync", "\n<!-- digest:sync", 1), 1, "damaged"),
        (lambda t: t.partition("\n")[0] + "\n" + t, 2, "second"),
        (lambda t: "\n" + t, 2, "first line"),
        (lambda t: "x" + t.replace("\n# ", f"\n{t.splitlines()[0]}\n# ", 1), 3, "first line"),
        (lambda t: t.replace("\n# ", f"\n{t.splitlines()[1]}\n# ", 1), 3, "second"),
        (lambda t: t + t.splitlines()[1].replace("digest:sync", "digest:sync status=x"), 0, "second"),
        (lambda t: t.replace("sync=candidate -->", "sync=cand", 1), 0, "damaged"),
        (lambda t: t[: t.rindex("hash=") + 9], 0, "damaged"),
        (lambda t: t.replace("Decisions", "Deci\0sions"), 0, "NUL"),
        (lambda t: t.replace("**Decisions", "<<<<<<< HEAD\n**Decisions"), 0, "merge"),
        (lambda t: t.replace("id=b", "id=a"), 0, "two different items"),
        (lambda t: t.replace("<!-- digest:section id", "<!-- digest:section  id=1 id"), 0, "damaged"),
    ],
)  # fmt: skip
def test_damage_that_leaves_the_meaning_open_is_told_with_its_line(change, line, word):
    found = [made("a", "decision", "use A", (REF,)), made("b", "decision", "use B", (REF,))]
    text = digest(render_section(ID, STAMP, (REF,), found))
    assert parse_digest(text).fatal is None
    problem = parse_digest(change(text)).fatal
    assert problem is not None
    assert word in problem.message
    assert line in (0, problem.line)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda t: t.replace("use A", "use Z"), "edited by hand"),
        (lambda t: re.sub("(?m)^- use A.*$", "", t), "no bullet"),
        (lambda t: t.replace("id=a ", "id= "), "without an id"),
        (lambda t: t.replace("hash=", "hash=q"), "is none"),
        (lambda t: t + "<!-- digest:section id=1 -->\n", "without a heading"),
    ],
)
def test_what_a_hand_changed_is_noted_and_stops_nothing(change, word):
    text = digest(render_section(ID, STAMP, (REF,), [made("a", "decision", "use A", (REF,))]))
    read = parse_digest(change(text))
    assert read.fatal is None
    assert any(word in problem.message for problem in read.problems)
    assert key_of(REF) in read.covered
