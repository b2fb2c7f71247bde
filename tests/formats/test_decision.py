"""Decision bodies read back into their fields."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.body import normal
from lamina.formats.decision import Decision, parse_decision, render_decision
from lamina.formats.entry import new_entry, new_topic, parse_topic, render_topic

SECTION = (
    "**Context:**",
    "**rationale:** x",
    "\\**Consequences:**",
    "**Alternatives considered**:",
    "- item",
    "  deeper",
)
lines = st.one_of(
    st.sampled_from((*SECTION, "```", "text", "", "## x")), st.text(alphabet="ab *:\\\n", max_size=8)
)
texts = st.lists(lines, max_size=6).map("\n".join)


@given(texts, texts, st.lists(texts, max_size=3), texts)
def test_a_decision_reads_back_through_a_file(context, rationale, alternatives, consequences):
    decision = Decision("D", context, rationale, tuple(alternatives), consequences)
    kept = Decision(
        "D",
        normal(context),
        normal(rationale),
        tuple(normal(a) for a in alternatives if normal(a)),
        normal(consequences),
    )
    body = render_decision(decision)
    entry = parse_topic(render_topic(new_topic("D").adding(new_entry("D", body)))).entries[0]
    read = parse_decision("D", entry.body)
    assert read == kept


def test_an_open_fence_does_not_hide_the_next_section():
    decision = Decision("D", "```", "```\n**Context:**", ("```",), "```")
    assert parse_decision("D", render_decision(decision)) == decision


def test_the_shape():
    decision = Decision("Use ESM", "Why now", "It is plain", ("Bundle", "Compile\nslowly"), "Named exports")
    body = render_decision(decision)
    assert body == (
        "**Context:**\nWhy now\n\n**Rationale:**\nIt is plain\n\n"
        "**Alternatives considered:**\n- Bundle\n- Compile\n  slowly\n\n**Consequences:**\nNamed exports"
    )
    assert parse_decision("Use ESM", body) == decision
    assert render_decision(Decision("x", rationale="y")) == "**Rationale:**\ny"


def test_the_older_layout_reads():
    text = (Path(__file__).parent / "data" / "older.md").read_text("utf-8")
    entry = parse_topic(text).entries[2]
    decision = parse_decision(entry.heading, entry.body)
    assert decision.alternatives == (
        "Compile TypeScript or bundle the host half",
        "Wrap the entry in a default export",
    )
    assert render_decision(decision) == entry.body


def test_hand_written_shapes_read():
    body = "lead\n**RATIONALE**: because\n**Alternatives:**\nnone\n**Context:** late\n```\nx\n```"
    assert parse_decision("D", body) == Decision("D", "lead\n\nlate\n```\nx\n```", "because", ("none",))
