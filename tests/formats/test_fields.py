"""Ids, scopes, layers, sources, evidence, days."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.errors import BadKey, UnknownLayer, UnknownScope
from lamina.formats.dates import parse_day, parse_time, render_time
from lamina.formats.evidence import SPEAKERS, Evidence, parse_evidence, quoted, render_evidence
from lamina.formats.ids import EntryId, parse_id
from lamina.formats.layerindex import TopicSummary, render_layer_index
from lamina.formats.layers import LAYERS, TOPIC_LAYERS, layer_named
from lamina.formats.scope import Scope, is_device_name, is_key, parse_scope
from lamina.formats.source import (
    USER,
    DigestRef,
    GitRef,
    OtherRef,
    RecordRef,
    SessionRef,
    from_user,
    parse_sources,
    render_sources,
)

keys = st.from_regex(r"\A[a-z0-9][a-z0-9._-]{0,63}\Z").filter(is_key)


@given(st.one_of(keys, st.just("global")), st.sampled_from(TOPIC_LAYERS), st.integers(0, 10**12))
def test_ids_read_back(key, layer, number):
    entry_id = EntryId(key, layer.abbreviation, number)
    assert parse_id(str(entry_id)) == entry_id
    assert entry_id.layer is layer


@pytest.mark.parametrize(
    ("number", "text"), [(7, "a-sem-0007"), (9999, "a-sem-9999"), (10000, "a-sem-10000")]
)
def test_ids_grow(number, text):
    assert str(EntryId("a", "sem", number)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a-sem",
        "a-xxx-0001",
        "-sem-0001",
        "A-sem-0001",
        "a-sem-٣",
        "../x-sem-0001",
        "con-sem-0001",
        "a-sem-" + "1" * 30,
    ],
)
def test_what_is_no_id(text):
    assert parse_id(text) is None


@pytest.mark.parametrize("key", ["lamina", "a", "0", "a.b_c-d", "x" * 64])
def test_keys(key):
    scope = parse_scope(f"workspace:{key}")
    assert (scope.name, scope.id_key, scope.folder) == (f"workspace:{key}", key, f"workspaces/{key}")


@pytest.mark.parametrize(
    "key",
    [
        "",
        "global",
        "..",
        ".a",
        "-a",
        "A",
        "a/b",
        "a\\b",
        "con",
        "nul.txt",
        "com1",
        "lpt9.x",
        "é",
        "a\n",
        "x" * 65,
        "a.",
    ],
)
def test_what_is_no_key(key):
    assert not is_key(key)
    with pytest.raises(BadKey):
        parse_scope(f"workspace:{key}")


def test_the_global_scope():
    assert parse_scope("global") == Scope(None)
    assert (Scope().name, Scope().id_key, Scope().folder) == ("global", "global", "global")
    for text in ("", "workspace", "Global", "project:x"):
        with pytest.raises(UnknownScope):
            parse_scope(text)


def test_device_names():
    assert all(map(is_device_name, ("con", "CON", "aux.txt", "com¹", "nul.tar.gz", "conin$", "prn .x")))
    assert not any(map(is_device_name, ("console", "com10", "com", "xcon")))


def test_layers():
    assert [layer.name for layer in LAYERS.values()] == [
        "semantic", "episodic", "procedural", "learnings", "decisions", "codebase", "history",
        "state", "working", "junk",
    ]  # fmt: skip
    assert [layer.abbreviation for layer in TOPIC_LAYERS] == "sem epi pro lrn dec cod his".split()
    assert {n for n, layer in LAYERS.items() if not layer.searchable} == {"working", "junk"}
    assert {n for n, layer in LAYERS.items() if layer.workspace_only} == {
        "codebase",
        "history",
        "state",
        "working",
    }
    assert layer_named("Learning").name == "learnings"
    assert layer_named("decision").name == "decisions"
    with pytest.raises(UnknownLayer) as error:
        layer_named("facts")
    assert "semantic" in error.value.hint


REFS = (
    SessionRef("claude-code", "4f3a-99", 120, 188),
    SessionRef("", "old", None, None),
    SessionRef("dsh", "a#b, c%", 0, 0),
    GitRef("abc123"),
    RecordRef("memory/2026-11-30-x, y-memory.md", "2026-11-30T09:00:00Z"),
    DigestRef("digest.md", "decision-adapter"),
    USER,
)


def test_sources_read_back():
    assert parse_sources(render_sources(REFS)) == REFS
    assert render_sources((USER, USER, GitRef("a"))) == "user, git:a"
    assert from_user(REFS)
    assert not from_user(parse_sources("agent, told by user"))


@given(st.text(max_size=40))
def test_any_text_is_a_source(text):
    refs = parse_sources(text)
    assert parse_sources(render_sources(refs)) == tuple(dict.fromkeys(refs)) or "%" in text or "," in text


@given(
    st.text(min_size=1, max_size=20).filter(lambda t: t.strip()), st.integers(0, 10**6), st.integers(0, 10**6)
)
def test_any_session_id_reads_back(session, first, last):
    ref = SessionRef("codex", session, first, last)
    assert parse_sources(render_sources((ref, USER))) == (ref, USER)


def test_source_shapes():
    assert parse_sources("session:codex/a#5") == (SessionRef("codex", "a", 5, 5),)
    assert parse_sources("session:codex/a#x") == (SessionRef("codex", "a#x"),)
    assert parse_sources("said in passing,, git:") == (OtherRef("said in passing"), OtherRef("git:"))
    assert parse_sources("") == ()


@given(st.text(max_size=300), st.sampled_from(("", *SPEAKERS)))
def test_evidence_reads_back(text, who):
    evidence = quoted(text, who)
    assert len(evidence.quote) <= 200
    if evidence.quote:
        assert parse_evidence(render_evidence(evidence)) == evidence
    else:
        assert render_evidence(evidence) == ""


def test_evidence_shapes():
    assert render_evidence(Evidence("a\nb", "user")) == "“a b” (user)"
    assert parse_evidence("“say “hi”” (assistant)") == ("say “hi”", "assistant")
    assert parse_evidence('"x" (Tool)') == ("x", "tool")
    assert parse_evidence("“x (user)” (nobody)") == ("“x (user)” (nobody)", "")
    assert parse_evidence("plain words") == ("plain words", "")
    assert parse_evidence(" ") is None
    assert quoted("word " * 100, "user").quote.endswith("word…")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-11-30", date(2026, 11, 30)),
        (" 2026-11-30 (checked)", date(2026, 11, 30)),
        ("2026-11-30T03:53:00+08:00", date(2026, 11, 29)),
        ("2026-11-30T20:00:00-05:00", date(2026, 12, 1)),
        ("2026-11-30T23:59:59Z", date(2026, 11, 30)),
        ("2026-02-30", None),
        ("2026-W01-1", None),
        ("20261130", None),
        ("2026-11-301", None),
        ("２０２６-11-30", None),
        ("", None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_days(text, day):
    assert parse_day(text) == day


def test_times():
    time = datetime(2026, 11, 30, 9, 0, 0, 999, tzinfo=timezone(timedelta(hours=8)))
    assert render_time(time) == "2026-11-30T01:00:00Z"
    assert parse_time(render_time(time)) == datetime(2026, 11, 30, 1, tzinfo=UTC)
    assert parse_time("2026-11-30T01:00:00") == datetime(2026, 11, 30, 1, tzinfo=UTC)
    assert parse_time("soon") is None
    assert render_time(datetime(7, 1, 2, tzinfo=UTC)) == "0007-01-02T00:00:00Z"


def test_a_layer_index():
    day = date(2026, 9, 30)
    text = render_layer_index(
        layer_named("semantic"),
        [
            TopicSummary("Store root", "store-root", 1, day),
            TopicSummary("A [b] `c`", "a-b-c-1a2b3c", 2, None),
        ],
    )
    assert text == (
        "# Semantic\n\nFacts. Entries live in one file per topic under semantic/.\n\n"
        "- [A \\[b\\] \\`c\\`](semantic/a-b-c-1a2b3c.md) — 2 entries\n"
        "- [Store root](semantic/store-root.md) — 1 entry, updated 2026-09-30\n"
    )


def test_the_index_of_decisions_lists_them():
    text = render_layer_index(
        layer_named("decisions"),
        [TopicSummary("ESM", "esm", 2, date(2026, 9, 30), ("Use ESM", "No\nbundle"))],
    )
    assert text.endswith(
        "- [ESM](decisions/esm.md) — 2 entries, updated 2026-09-30\n  - Use ESM\n  - No bundle\n"
    )
    assert render_layer_index(layer_named("history"), []).count("\n") == 3
