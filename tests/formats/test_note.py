from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.formats.pieces import hostile, lines

from lamina.formats.lines import fold
from lamina.formats.note import Bullet, Note, Section, note_name, parse_note, render_note
from lamina.formats.scope import is_device_name

DATA = Path(__file__).parent / "data"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def golden(name: str) -> str:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return file.read()


SHOWN = Note(
    session="4f3a1b2c-9d1e-4b7a-8c55-0a1b2c3d4e5f",
    host="claude-code",
    workspace="workspace:shop",
    cwd="/home/ada/My Shop",
    first=0,
    last=188,
    started=datetime(2026, 11, 30, 9, 12, tzinfo=UTC),
    captured=datetime(2026, 11, 30, 10, 40, tzinfo=UTC),
    attempts=1,
    tool_calls=42,
    paths=("src/cart.py", "docs/a, b.md"),
    sections=(
        Section(
            at=datetime(2026, 11, 30, 9, 40, tzinfo=UTC),
            bullets=(
                Bullet(
                    label="decision",
                    text="Keep plain ESM with no build step, because what we ship is what we test.",
                    day=None,
                    first=110,
                    last=118,
                    quote="let's keep it plain ESM so that what we ship is what we test",
                    who="user",
                ),
                Bullet(
                    label="environment",
                    text="The staging port moves to 9090.",
                    day=date(2026, 12, 1),
                    first=96,
                    last=96,
                    quote="staging moves to 9090 tomorrow",
                    who="tool",
                ),
            ),
            first=0,
            last=119,
        ),
        Section(
            at=datetime(2026, 11, 30, 10, 40, tzinfo=UTC),
            bullets=(
                Bullet(
                    "", "**not a label:** kept as it was said", None, 130, 131, "an odd one: ” (user)", "user"
                ),
                Bullet("", "2026-10-01: a text that opens with a day of its own", None, 140, 150),
            ),
            first=120,
            last=188,
        ),
    ),
)


def test_a_note_is_written_as_shown() -> None:
    assert render_note(SHOWN) == golden("note.md")


def test_a_note_reads_as_it_was_written() -> None:
    assert parse_note(golden("note.md")) == SHOWN


def test_one_field_is_one_line() -> None:
    text = golden("note.md")
    note = parse_note(text)
    assert render_note(replace(note, attempts=2)) == text.replace("**Attempts:** 1", "**Attempts:** 2")
    done = replace(note, consolidated=NOW)
    line = "**Consolidated:** 2026-11-30T12:00:00Z\n"
    assert render_note(done) == text.replace("**Attempts", line + "**Attempts")
    assert render_note(replace(done, consolidated=None)) == text


def test_fields_and_lines_of_a_person_survive() -> None:
    text = "\ufeff# Mine\r\n\r\n**Session:** s\r\n**Host:** codex\r\n**Mood:**  good \r\nprose\r\n\r\n## 2026-11-30T12:00:00Z · #0-4\r\nprose\r\n- **a:** b\r\nmore prose"
    note = parse_note(text)
    assert note.extra == (("Mood", "good"),)
    assert render_note(note) == text
    again = render_note(replace(note, last=4))
    assert again == text.replace("codex\r\n", "codex\r\n**Last:** 4\r\n")
    longer = render_note(note.adding(Section(NOW, (Bullet("x", "y", None, 5, 6),), 5, 6)))
    assert longer.endswith(
        "more prose\r\n\r\n## 2026-11-30T12:00:00Z · #5-6\r\n\r\n- **x:** y\r\n  - #5-6 (assistant)\r\n"
    )


def test_one_bullet_is_one_span() -> None:
    text = golden("note.md")
    note = parse_note(text)
    first, *others = note.sections
    bullets = (replace(first.bullets[0], text="New."), *first.bullets[1:])
    changed = replace(note, sections=(replace(first, bullets=bullets), *others))
    assert render_note(changed) == text.replace(first.bullets[0].text, "New.")


def test_a_note_of_an_older_store_opens_and_keeps_its_shape() -> None:
    text = golden("older-note.md")
    note = parse_note(text)
    assert (note.session, note.host, note.last, note.consolidated) == ("0e9c", "dsh", 57, None)
    assert note.captured == datetime(2026, 9, 30, 8, tzinfo=UTC)
    assert [(bullet.label, bullet.text) for bullet in note.bullets] == [
        ("decision", "Use the shared adapter, because both runtimes consume the same contract."),
        ("", "A bullet without a label - with a nested one"),
        ("todo", "ask about the mirror"),
    ]
    assert [section.at for section in note.sections] == [datetime(2026, 9, 30, tzinfo=UTC), note.captured]
    assert {(bullet.first, bullet.last, bullet.who) for bullet in note.bullets} == {(0, 57, "assistant")}
    assert render_note(note) == text
    marked = render_note(replace(note, consolidated=NOW, attempts=1))
    assert marked == text.replace("null", "2026-11-30T12:00:00Z\nAttempts: 1")


def test_unreadable_values_count_as_absent_and_stay() -> None:
    text = f"**Session:** s\n**Last:** {'9' * 5000}\n**Captured:** soon\n**Attempts:** many\n"
    note = parse_note(text)
    assert (note.last, note.captured, note.attempts) == (0, None, 0)
    assert render_note(note) == text


def test_names_are_safe_file_stems() -> None:
    assert (
        note_name("codex", "019ad5f2-1c3d-7e10-9b1c-2d3e4f5a6b7c")
        == "codex_019ad5f2-1c3d-7e10-9b1c-2d3e4f5a6b7c"
    )
    assert note_name("codex", "../../x").startswith("codex_x-")
    assert note_name("codex", "ABC") != note_name("codex", "abc")
    assert note_name("codex", note_name("codex", "../../x").removeprefix("codex_")) != note_name(
        "codex", "../../x"
    )
    assert note_name("a", "b_c") != note_name("a_b", "c")


@given(hostile, hostile)
def test_any_name_is_one_plain_path_part(host: str, session: str) -> None:
    name = note_name(host, session)
    assert name.isascii()
    assert name == name.lower()
    assert len(name) <= 128
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert name[0].isalnum()
    assert name[-1].isalnum()
    assert not is_device_name(name)


odd = st.one_of(hostile, st.sampled_from(["a", "A", "a-b", "a_b", "b", "é", "e\u0301", "a" * 90, "a" * 91]))


@given(odd, odd, odd, odd)
def test_two_sessions_have_two_names(host: str, session: str, host2: str, session2: str) -> None:
    if (host, session) != (host2, session2):
        assert note_name(host, session) != note_name(host2, session2)


@given(lines)
def test_any_file_survives_reading(text: str) -> None:
    assert render_note(parse_note(text)) == text


times = st.integers(0, 4 * 10**9).map(lambda second: datetime.fromtimestamp(second, UTC))
numbers = st.integers(0, 10**9)
labels = st.one_of(st.just(""), st.sampled_from(["decision", "Open end", "préférence", "a-b_c"]))
bullets = st.builds(
    Bullet,
    label=labels,
    text=hostile,
    day=st.none() | st.dates(),
    first=numbers,
    last=numbers,
    quote=hostile,
    who=st.sampled_from(["user", "assistant", "tool"]),
)
sections = st.builds(
    Section, at=times, bullets=st.lists(bullets, max_size=3).map(tuple), first=numbers, last=numbers
)
notes = st.builds(
    Note,
    session=hostile,
    host=hostile,
    workspace=st.sampled_from(["global", "workspace:shop", ""]),
    cwd=hostile,
    first=numbers,
    last=numbers,
    started=st.none() | times,
    captured=st.none() | times,
    consolidated=st.none() | times,
    attempts=st.integers(0, 9),
    needs_review=st.booleans(),
    tool_calls=numbers,
    paths=st.lists(hostile.filter(bool), max_size=4).map(tuple),
    sections=st.lists(sections, max_size=3).map(tuple),
    extra=st.lists(
        st.tuples(st.sampled_from(["Mood", "Model name"]), hostile), max_size=2, unique_by=lambda e: e[0]
    ).map(tuple),
)


def folded(note: Note) -> Note:
    """Say what a note must read back as: every text on one line."""
    parts = tuple(
        replace(part, bullets=tuple(replace(b, text=fold(b.text), quote=fold(b.quote)) for b in part.bullets))
        for part in note.sections
    )
    extra = tuple((label, fold(value)) for label, value in note.extra)
    return replace(
        note,
        session=fold(note.session),
        host=fold(note.host),
        cwd=fold(note.cwd),
        sections=parts,
        extra=extra,
    )


@given(notes)
def test_no_text_forges_a_field_a_section_or_a_bullet(note: Note) -> None:
    text = render_note(note)
    again = parse_note(text)
    assert again == folded(note)
    assert render_note(again) == text


@given(lines, notes)
def test_any_header_takes_any_value(text: str, wanted: Note) -> None:
    note = replace(
        parse_note(text),
        consolidated=wanted.consolidated,
        attempts=wanted.attempts,
        needs_review=wanted.needs_review,
        session=wanted.session,
        paths=wanted.paths,
        last=wanted.last,
    )
    again = parse_note(render_note(note))
    assert (again.consolidated, again.attempts, again.needs_review) == (
        note.consolidated,
        note.attempts,
        note.needs_review,
    )
    assert (again.session, again.paths, again.last) == (fold(note.session), note.paths, note.last)
    assert len(again.sections) == len(note.sections)
