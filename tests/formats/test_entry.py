"""Topic files: every byte survives, and what is put in comes out."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.formats.topic_grammar import texts, topics

from lamina.errors import BadInput
from lamina.formats import structure
from lamina.formats.body import normal
from lamina.formats.entry import (
    LABELS,
    Draft,
    Entry,
    new_entry,
    new_topic,
    parse_importance,
    parse_topic,
    render_topic,
    with_body,
    with_field,
    with_heading,
)
from lamina.formats.scope import Scope

DATA = Path(__file__).parent / "data"


def data(name):
    return (DATA / name).read_bytes().decode()


def meaning(entries):
    return [(e.heading, e.fields, e.body) for e in entries]


def one_span(old, new):
    """The part of `new` that stands where it differs from `old`, and what it replaced."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return old[head : len(old) - tail], new[head : len(new) - tail]


# ---- laws


@given(topics(), st.data())
def test_replacing_many_entries_at_once_is_replacing_one_after_the_other(text, given):
    topic = parse_topic(text)
    places = range(len(topic.entries))
    chosen = given.draw(st.lists(st.sampled_from(places), unique=True)) if places else []
    changes = {place: with_field(topic.entries[place], "Id", f"x-sem-{place:04d}") for place in chosen}
    one_by_one = topic
    for place, entry in changes.items():
        one_by_one = one_by_one.replacing(place, entry)
    at_once = topic.replacing_all(changes)
    assert meaning(at_once.entries) == meaning(one_by_one.entries)
    assert meaning(parse_topic(render_topic(at_once)).entries) == meaning(at_once.entries)
    again = parse_topic(render_topic(at_once))
    assert [entry.line for entry in again.entries] == [entry.line for entry in at_once.entries]


@given(topics())
def test_every_byte_survives_reading_and_writing(text):
    assert render_topic(parse_topic(text)) == text


@given(st.text())
def test_every_byte_of_any_text_survives(text):
    assert render_topic(parse_topic(text)) == text


@given(topics())
def test_lines_name_the_headings(text):
    topic = parse_topic(text)
    lines = structure.plain_lines(text.removeprefix("\ufeff"))
    for entry in topic.entries:
        assert lines[entry.line - 1].startswith("## ")
        assert lines[entry.line - 1][3:].strip() == entry.heading


@settings(max_examples=300)
@given(topics(), st.one_of(st.text(max_size=30), texts()), texts(), st.booleans())
@example("## A\n\n```\n", "C", "```\n## x\n```", False)
@example("## A\n\n```\n## x\n\n```\n## y", "C", "```\n## x\n## y\n```", False)
@example("```\n", "", "", False)
def test_an_added_entry_is_read_back_exactly_and_alone(text, heading, body, header):
    topic = parse_topic(text)
    entry = new_entry(heading, body, id="lamina-sem-0001" if header else None)
    grown = topic.adding(entry)
    again = parse_topic(render_topic(grown))
    assert meaning(again.entries) == meaning(grown.entries)
    assert meaning(again.entries[:-1]) == meaning(topic.entries)
    added = again.entries[-1]
    assert added.heading == (" ".join(heading.split()) or "Untitled")
    assert added.body == normal(body)
    assert added.fields == entry.fields
    assert [e.line for e in again.entries] == [e.line for e in grown.entries]
    if not topic.loose:
        assert again == grown
        assert render_topic(grown).startswith(text)


@given(topics(), texts(), st.data())
def test_a_new_body_is_read_back_and_leaves_the_other_entries(text, body, data):
    topic = parse_topic(text).adding(new_entry("Last", "text"))
    index = data.draw(st.integers(0, len(topic.entries) - 1))
    changed = topic.replacing(index, with_body(topic.entries[index], body))
    again = parse_topic(render_topic(changed))
    expected = meaning(topic.entries)
    expected[index] = (*expected[index][:2], normal(body))
    assert meaning(again.entries) == meaning(changed.entries) == expected
    assert [e.line for e in again.entries] == [e.line for e in changed.entries]


@given(topics(), texts(), st.text(max_size=20), st.data())
def test_a_replaced_entry_is_read_back_and_leaves_the_others(text, body, heading, data):
    topic = parse_topic(text).adding(new_entry("Last", "text"))
    index = data.draw(st.integers(0, len(topic.entries) - 1))
    new = new_entry(heading, body, date=date(2026, 1, 1))
    changed = topic.replacing(index, new)
    expected = meaning(topic.entries)
    expected[index] = (new.heading, new.fields, new.body)
    assert meaning(parse_topic(render_topic(changed)).entries) == expected


@given(topics(), st.data())
def test_a_removed_entry_leaves_the_others(text, data):
    topic = parse_topic(text).adding(new_entry("Last", "text"))
    index = data.draw(st.integers(0, len(topic.entries) - 1))
    expected = meaning(topic.entries)
    del expected[index]
    assert meaning(parse_topic(render_topic(topic.removing(index))).entries) == expected


@given(topics(), st.sampled_from([*LABELS, "Owner"]), st.text(max_size=12), st.data())
def test_changing_one_field_changes_one_span(text, label, value, data):
    topic = parse_topic(text).adding(new_entry("Last", "text", id="a-sem-0001"))
    index = data.draw(st.integers(0, len(topic.entries) - 1))
    old = topic.entries[index]
    kept = structure.fold(value)
    labels = {f.label.lower() for f in old.fields} - {label.lower()} | ({label.lower()} if kept else set())
    if labels and not labels & structure.ORDER.keys():
        with pytest.raises(BadInput):
            with_field(old, label, value)
        return
    new = with_field(old, label, value)
    assert new.field(label) == kept
    assert (new.heading, new.body) == (old.heading, old.body)
    others = [f for f in old.fields if f.label.lower() != label.lower()]
    assert [f for f in new.fields if f.label.lower() != label.lower()] == others
    changed = topic.replacing(index, new)
    assert meaning(parse_topic(render_topic(changed)).entries) == meaning(changed.entries)
    if kept and not topic.loose and len([f for f in old.fields if f.label.lower() == label.lower()]) < 2:
        gone, put = one_span(old.raw, new.raw)
        assert gone in old.field(label) or not gone.strip()
        assert len(put) <= len(kept) + len(label) + 16


@given(topics(), st.text(max_size=20), st.data())
def test_changing_the_heading_changes_nothing_else(text, heading, data):
    topic = parse_topic(text).adding(new_entry("Last", "text"))
    index = data.draw(st.integers(0, len(topic.entries) - 1))
    old = topic.entries[index]
    new = with_heading(old, heading)
    assert new.heading == (" ".join(heading.split()) or "Untitled")
    assert old.raw.split("\n", 1)[1:] == new.raw.split("\n", 1)[1:]
    assert parse_topic(new.raw).entries[0].heading == new.heading


@given(topics())
def test_the_same_body_changes_no_byte(text):
    for entry in parse_topic(text).entries:
        assert with_body(entry, entry.body) == entry
        assert with_heading(entry, entry.heading or "Untitled").raw == entry.raw or not entry.heading


@given(st.lists(texts(), max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_a_file_keeps_its_one_kind_of_line_break(bodies, newline):
    topic = parse_topic(f"# T{newline}{newline}## A{newline}{newline}text")
    for body in bodies:
        topic = topic.adding(new_entry("H", body, id="a-sem-0001"))
        topic = topic.replacing(0, with_field(with_body(topic.entries[0], body), "Trust", "candidate"))
    text = render_topic(topic)
    assert text.count("\r") == (text.count("\n") if newline == "\r\n" else 0)
    assert text.count("\n") > 2


@given(topics(), texts())
def test_an_entry_moves_to_another_file_as_it_is(text, other):
    for entry in parse_topic(text).entries:
        target = parse_topic(other)
        moved = target.adding(entry)
        again = parse_topic(render_topic(moved))
        assert meaning(again.entries) == meaning([*target.entries, entry])


# ---- what the parts of a file mean


@pytest.mark.parametrize("name", ["escaped", "fences", "odd", "older", "topic"])
def test_golden_files_mean_what_stands_beside_them(name):
    topic = parse_topic(data(f"{name}.md"))
    assert {
        "title": topic.title,
        "loose": topic.loose,
        "entries": [plain(e) for e in topic.entries],
    } == json.loads(data(f"{name}.json"))
    windows = parse_topic(data(f"{name}.md").replace("\n", "\r\n"))
    assert meaning(windows.entries) == meaning(topic.entries)


def plain(entry):
    return {
        "line": entry.line,
        "heading": entry.heading,
        "fields": {f.label: entry.field(f.label) for f in entry.fields},
        "trust": entry.trust,
        "body": entry.body.split("\n") if entry.body else [],
    }


def test_the_format_of_the_specification():
    topic = parse_topic(data("topic.md"))
    assert topic.title == "Module system"
    assert topic.newline == "\n"
    first, second, third = topic.entries
    assert first.heading == "Use plain ESM with no build step"
    assert first.id == "lamina-dec-0007"
    assert first.date == date(2026, 11, 30)
    assert first.importance == 4
    assert str(first.sources[0]) == "session:claude-code/4f3a#120-188"
    assert first.evidence == ("let's keep it plain ESM so that what we ship is what we test", "user")
    assert first.volatility == "stable"
    assert first.verified == date(2026, 11, 30)
    assert first.valid_until == date(2027, 6, 30)
    assert first.trust == "superseded"
    assert first.superseded_by == "lamina-dec-0011"
    assert first.field("Reviewed-by") == "Zoë"
    assert (
        first.body
        == "Body in Markdown.\n\n## not a heading\n**Id:** not-a-field\n\n```sh\n# kept\n## kept\n```"
    )
    assert second.heading == "Written by hand"
    assert second.fields == ()
    assert second.body == "No field at all, and no id yet."
    assert (second.id, second.importance, second.trust, second.date) == ("", 3, "approved", None)
    assert third.body == "A code fence that never closes:\n\n```\nis no fence"
    assert [e.line for e in topic.entries] == [9, 33, 37]


def test_a_store_of_the_older_layout_reads():
    topic = parse_topic(data("older.md"))
    assert [e.id for e in topic.entries] == ["dsh-memory-sem-0028", "", "dsh-memory-dec-0001"]
    assert topic.entries[0].volatility == "stable"
    assert topic.entries[1].source == "session abc, told twice"
    assert topic.entries[1].importance == 5
    assert topic.entries[2].body.startswith("**Context:**\n")


def test_fields_are_written_in_their_order_and_only_with_a_value():
    entry = new_entry(
        "H",
        "B",
        id="a-sem-0001",
        date=date(2026, 1, 2),
        importance=4,
        source="user",
        evidence="“q” (user)",
        volatility="stable",
        verified=date(2026, 1, 3),
        valid_until=date(2026, 1, 4),
        trust="candidate",
        status="superseded by a-sem-0002",
        alias=("a-sem-0009", "a-sem-0010"),
        branch="topic",
    )
    assert [f.label for f in entry.fields] == list(LABELS)
    assert entry.aliases == ("a-sem-0009", "a-sem-0010")
    assert new_entry("H", "B", trust="approved", source="", branch=None).fields == ()
    assert render_topic(new_topic("T").adding(new_entry("H", "B"))) == "# T\n\n## H\n\nB\n"


def test_a_late_field_takes_its_place_in_the_order():
    topic = parse_topic("## A\n\n**Id:** a-sem-0001\n**Owner:** me\n**Status:** x\n\ntext\n")
    new = with_field(topic.entries[0], "Verified", "2026-01-01")
    assert [f.label for f in new.fields] == ["Id", "Verified", "Owner", "Status"]
    assert [f.label for f in with_field(new, "Team", "x").fields] == [
        "Id",
        "Verified",
        "Owner",
        "Status",
        "Team",
    ]


def test_the_first_field_of_a_handwritten_entry_stands_behind_the_heading():
    for text in ("## A\n\ntext\n", "## A\ntext\n"):
        new = with_field(parse_topic(text).entries[0], "Id", "a-sem-0001")
        assert new.raw == "## A\n\n**Id:** a-sem-0001\n\ntext\n"
    assert with_field(parse_topic("## A").entries[0], "Id", "x-sem-0001").raw == "## A\n\n**Id:** x-sem-0001"


def test_odd_spacing_around_a_value_stays():
    topic = parse_topic("##   A  \n\n**Importance:**\t 4  \n\ntext\n")
    new = with_field(topic.entries[0], "importance", "5")
    assert new.raw == "##   A  \n\n**Importance:**\t 5  \n\ntext\n"
    assert with_heading(new, "B").raw.startswith("##   B  \n")


def test_removing_the_last_field_removes_the_header():
    entry = parse_topic("## A\n\n**Id:** a-sem-0001\n\ntext\n").entries[0]
    assert with_field(entry, "Id", None).raw == "## A\n\ntext\n"


def test_a_field_of_the_body_does_not_become_the_header_when_the_header_goes():
    entry = parse_topic("## A\n\n**Id:** a-sem-0001\n\n**Trust:** candidate\n").entries[0]
    bare = with_field(entry, "Id", None)
    assert (bare.fields, bare.body, bare.trust) == ((), "**Trust:** candidate", "approved")


def test_text_right_below_the_header_is_body_and_a_wrapped_value_is_not():
    entry = parse_topic(
        "## A\n\n**Evidence:** “long\nquote” (user)\n**Date:** 2026-01-01\ntext\n\nmore\n"
    ).entries[0]
    assert entry.evidence == ("long quote", "user")
    assert entry.date == date(2026, 1, 1)
    assert entry.body == "text\n\nmore"
    assert with_body(entry, "new").raw.endswith("**Date:** 2026-01-01\n\nnew\n")


def test_the_first_of_two_equal_fields_counts():
    entry = parse_topic("## A\n\n**Id:** a-sem-0001\n**Id:** a-sem-0002\n").entries[0]
    assert entry.id == "a-sem-0001"
    assert with_field(entry, "Id", None).id == ""


def test_values_are_one_line():
    entry = with_field(new_entry("H", "B", source="a\r\nb\n\n## c"), "Owner", " x \r y ")
    assert entry.source == "a b ## c"
    assert entry.field("Owner") == "x y"
    assert parse_topic(render_topic(new_topic("T").adding(entry))).entries[0].fields == entry.fields


@pytest.mark.parametrize("label", ["", "a*b", "a:b", " a", "Context", "a\nb", "x" * 100])
def test_a_label_that_can_not_be_one_is_refused(label):
    with pytest.raises(BadInput):
        with_field(new_entry("H", "B"), label, "x")


# ---- structure inside bodies


def added(body, text="# T\n\n## A\n\ntext\n"):
    return render_topic(parse_topic(text).adding(new_entry("H", body)))[len(text) :]


def test_pasted_markdown_makes_no_entries_and_sets_no_fields():
    body = (
        "# Title\n\n## Section\n\n**Trust:** forgotten\n**Id:** x\n\n### Deeper\n\\## once\n\\\\## twice\n\\n"
    )
    assert added(body) == (
        "\n## H\n\n\\# Title\n\n\\## Section\n\n\\**Trust:** forgotten\n\\**Id:** x\n\n"
        "### Deeper\n\\\\## once\n\\\\\\## twice\n\\n\n"
    )


def test_a_closed_fence_is_left_alone():
    body = "```markdown\n## Fake\n\n**Id:** lamina-sem-9999\n\\## x\n```"
    assert added(body) == f"\n## H\n\n{body}\n"
    assert len(parse_topic(f"## Real\n\n**Id:** lamina-sem-0001\n\nExample:\n\n{body}\n").entries) == 1


def test_a_fence_with_comments_in_each_of_two_blocks():
    body = "```sh\n## one\na\n```\ntext\n```sh\n## two\nb\n```"
    assert added(body) == f"\n## H\n\n{body}\n"
    assert parse_topic(f"## A\n\n{body}\n").entries[0].body == body


def test_the_fence_of_a_list_is_left_alone_and_opens_nothing():
    body = (
        "1. Run\n\n   ```sh\n   ls\n   ```\n- x:\n  ```\n  ## y\n  ```\n- ```js\n  z\n  ```\n\n## no heading"
    )
    assert added(body) == f"\n## H\n\n{body[:-13]}\\## no heading\n"


def test_a_mark_that_closes_nothing_is_escaped_so_that_the_next_entry_can_not_close_it():
    topic = (
        new_topic("T")
        .adding(new_entry("A", "clipped\n```python\ncode"))
        .adding(new_entry("B", "```python\nx\n```"))
    )
    assert "\n\\```python\ncode\n\n## B\n\n```python\nx\n```\n" in render_topic(topic)
    assert [e.body for e in parse_topic(render_topic(topic)).entries] == [
        "clipped\n```python\ncode",
        "```python\nx\n```",
    ]


@pytest.mark.parametrize("fence", ["```", "```python", "~~~"])
def test_a_fence_left_open_by_hand_does_not_swallow_the_next_entry(fence):
    text = f"## A\n\nclipped\n{fence}\ncode\n\n## B\n\n**Id:** a-sem-0002\n\n{fence}\nx\n{fence[:3]}\n"
    topic = parse_topic(text)
    assert [e.heading for e in topic.entries] == ["A", "B"]
    grown = render_topic(topic.adding(new_entry("C", f"{fence}\nx\n{fence[:3]}", id="a-sem-0003")))
    assert grown.startswith(text)
    assert [e.heading for e in parse_topic(grown).entries] == ["A", "B", "C"]


def test_other_separators_of_lines_are_characters():
    body = "a\u2028## b\x0b## c\x0c## d\x85**Id:** e"
    assert added(body) == f"\n## H\n\n{body}\n"
    topic = parse_topic(f"## A\n\n{body}\n")
    assert [(e.body, e.id) for e in topic.entries] == [(body, "")]


def test_a_lone_carriage_return_is_a_line_break():
    assert [e.heading for e in parse_topic("# T\r\r## A\rx\r").entries] == ["A"]
    assert added("a\r## b") == "\n## H\n\na\n\\## b\n"


def test_a_long_body_survives_whole():
    body = "日" * 60_000
    assert parse_topic(added(body)).entries[0].body == body


def test_front_matter_and_a_rule_as_first_line_of_a_body():
    text = "---\ntags: [a]\n# no title\n---\n# Real\n\n"
    topic = parse_topic(text)
    assert topic.title == "Real"
    grown = topic.adding(new_entry("H", "---\na: b\n---"))
    assert grown.entries[0].body == "---\na: b\n---"
    assert parse_topic("# `x`\n").title == "`x`"
    assert parse_topic("text\n").title == ""


def test_a_byte_order_mark_stays_in_front():
    topic = parse_topic("\ufeff## A\r\n\r\n**Id:** a-sem-0001\r\n")
    assert (topic.preamble, topic.entries[0].line, topic.entries[0].id) == ("\ufeff", 1, "a-sem-0001")
    assert render_topic(topic.removing(0).adding(new_entry("B", ""))) == "\ufeff## B\r\n"


# ---- values


@pytest.mark.parametrize(
    ("status", "trust", "expected"),
    [
        ("", "", "approved"),
        ("", "approved", "approved"),
        ("", "Candidate", "candidate"),
        ("", "who knows", "candidate"),
        ("", "forgotten", "forgotten"),
        ("forgotten 2026-01-01", "candidate", "forgotten"),
        ("Superseded by a-sem-0002", "approved", "superseded"),
        ("superseded", "", "superseded"),
        ("in force", "", "approved"),
        ("in force", "candidate", "candidate"),
    ],
)
def test_trust_follows_from_status_then_from_trust(status, trust, expected):
    entry = with_field(with_field(new_entry("H", ""), "Status", status), "Trust", trust)
    assert entry.trust == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("low", 2),
        ("normal", 3),
        ("High", 5),
        ("1", 1),
        ("0", 1),
        ("9", 5),
        ("", None),
        ("x", None),
        ("²", None),
    ],
)
def test_importance_in_words_and_numbers(text, value):
    assert parse_importance(text) == value


def test_a_draft_becomes_an_entry():
    draft = Draft("H", "B", Scope(None), "semantic", "T", date(2026, 1, 1), trust="candidate", branch="b")
    entry = draft.entry("global-sem-0001")
    assert entry == Entry(
        "H",
        (
            ("Id", "global-sem-0001"),
            ("Date", "2026-01-01"),
            ("Importance", "3"),
            ("Trust", "candidate"),
            ("Branch", "b"),
        ),
        "B",
    )


def test_a_thousand_entries_read_quickly():
    from time import process_time

    text = "# T\n\n" + "".join(
        f"## H {n}\n\n**Id:** a-sem-{n:04d}\n**Date:** 2026-01-01\n**Importance:** 3\n**Source:** user\n\nBody\n\nmore\n\n"
        for n in range(1000)
    )
    best = min(_seconds(process_time, text) for _ in range(5))
    assert best < 0.06  # about 0.015 on an idle machine


def _seconds(clock, text):
    start = clock()
    assert len(parse_topic(text).entries) == 1000
    return clock() - start


@pytest.mark.parametrize(
    "text",
    [
        "```\n## a\n" * 30_000,
        "```py\n" * 30_000,
        "".join("`" * (3 + n % 50) + "\n" for n in range(20_000)),
        "- ```\n" * 30_000,
        "- " * 100_000 + "```",
        "## a\n**Id:** x\n```py\n" * 10_000,
        "\\" * 200_000 + "## x",
        "## a\n" + "**b:** c\n" * 20_000,
        "## a\n" + " \n" * 100_000,
    ],
)
def test_hostile_texts_take_linear_time(text):
    from time import process_time

    start = process_time()
    grown = parse_topic(text).adding(new_entry("H", text))
    assert grown.entries[-1].body == normal(text)
    assert process_time() - start < 8
