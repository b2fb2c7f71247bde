"""Daily records: what is written is read back, no text forges structure, and files only grow."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.daily import Bullet, Session, appended, parse_daily, render_session, render_title
from lamina.formats.hashing import knowledge_text
from lamina.formats.lines import fold
from lamina.formats.marker import markers

ID = "2026-11-30T09:00:00Z"
HOSTILE = st.sampled_from(
    [
        "<!-- memory:session id=evil -->",
        "## Session 10:00 — evil",
        "**Decisions**:",
        "- a bullet",
        "```",
        "~~~~",
        "# Title",
        "<!-- digest:state last-run=x -->",
        "\\<!-- x",
        "plain words",
        "Evidence: `x`",
        "é 漢字",
        "",
        "   indented",
        "a\tb",
    ]
)
WORDS = st.lists(HOSTILE | st.text(max_size=20), min_size=1, max_size=4).map(" ".join)
LINES = st.lists(HOSTILE | st.text(max_size=20), max_size=6).map("\n".join)
SAID = st.tuples(WORDS.filter(fold), st.sampled_from(["`session`", "`commit abc1234`", ""]))


@st.composite
def sessions(draw, id=ID):
    return Session(
        id,
        "10:00",
        draw(WORDS),
        draw(LINES),
        tuple(draw(st.lists(SAID, max_size=3))),
        tuple(draw(st.lists(SAID, max_size=3))),
        tuple(draw(st.lists(st.just("abc1234 subject"), max_size=2))),
        tuple(draw(st.lists(SAID, max_size=3))),
    )


def write(*said, old="", title=True):
    text = old
    for session in said:
        text = appended(
            text, render_title("harbor", date(2026, 11, 30)) if title else "", render_session(session)
        )
    return text


@given(st.lists(sessions(), min_size=1, max_size=3))
def test_what_is_written_is_read_back_and_nothing_is_forged(said):
    said = [Session(f"{ID}-{n}", *list(_values(each))[1:]) for n, each in enumerate(said, 1)]
    text = write(*said)
    assert [m.marker.get("id") for m in markers(text) if m.marker] == [each.id for each in said]
    daily = parse_daily(text)
    assert daily.title == "Memory — harbor — 2026-11-30"
    assert [part.id for part in daily.parts] == [each.id for each in said]
    for part, each in zip(daily.parts, said, strict=True):
        kinds = [bullet.kind for bullet in part.bullets if bullet.kind and bullet.kind != "learning"]
        learnt = sum(bullet.kind == "learning" for bullet in part.bullets)
        assert len(kinds) + learnt == len(each.done) + len(each.decisions) + len(each.open)


def _values(session):
    return (getattr(session, name) for name in session.__slots__)


@given(LINES, sessions())
def test_a_file_only_grows(old, session):
    for text in (old, old.replace("\n", "\r\n"), "\ufeff" + old):
        assert write(session, old=text).startswith(text)


def test_the_kinds_of_bullets():
    said = Session(
        ID, "10:00", "esm", "why",
        done=(("Moved to ESM.", "`src/a.js`"), ("Learning: bundlers hide things.", "`session`")),
        decisions=(("Use ESM, because it ships.", "`session`"),),
        commits=("abc1234 move",),
        open=(("Write the docs.", "`session`"),),
    )  # fmt: skip
    (part,) = parse_daily(write(said)).parts
    assert part.topic == "esm"
    assert [(kind, knowledge_text(text)) for kind, text in part.bullets] == [
        ("state", "Moved to ESM."),
        ("learning", "bundlers hide things."),
        ("decision", "Use ESM, because it ships."),
        ("", "abc1234 move"),
        ("open", "Write the docs."),
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("**Done**:", "state"),
        ("**Done:**", "state"),
        ("### Decisions", "decision"),
        ("**Open / next action**:", "open"),
        ("**Next steps:**", "open"),
        ("**Learnings**:", "learning"),
        ("**Context**:", ""),
        ("**Whatever**:", ""),
    ],
)
def test_labels_of_other_tools_are_read(ending, label, kind):
    text = f"# Day\n\n## Session 9:00 - x\n\n{label}\n* one\n  goes on\n1. two\n\nprose\n".replace(
        "\n", ending
    )
    (part,) = parse_daily(text).parts
    assert part.id == ""
    assert part.bullets == (Bullet(kind, "one goes on"), Bullet(kind, "two"))


def test_a_label_with_text_behind_it_is_a_bullet_of_its_own():
    (part,) = parse_daily("<!-- memory:session id=1 -->\n**Decision**: use ESM\n").parts
    assert part.bullets == (Bullet("decision", "use ESM"),)


def test_parts_of_one_id_are_one_session_and_damage_is_named():
    text = "<!-- memory:session id=1 -->\n**Done**:\n- a\n<!-- memory:session id=1 -->\n**Done**:\n- b\n"
    daily = parse_daily(text + "<!-- memory:session id= -->\n<!-- memory:session id=2\n")
    assert [bullet.text for bullet in daily.parts[0].bullets] == ["a", "b"]
    assert sorted(line for line, _ in daily.problems) == [4, 7, 8]


def test_markers_in_fences_and_behind_blanks_are_text():
    text = "<!-- memory:session id=1 -->\n```\n<!-- memory:session id=2 -->\n```\n <!-- memory:session id=3 -->\n"
    assert [part.id for part in parse_daily(text).parts] == ["1"]
