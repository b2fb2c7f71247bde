"""Grammars that hold a reply to its shape, for llama.cpp: what they allow, and servers that take none."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.following import followed
from tests.models.gbnf import compiled
from tests.models.scripted import Say, scripted
from tests.pipeline.scripted import Script

from lamina.errors import ModelFailed
from lamina.formats.bullet import Bullet
from lamina.formats.note import Note, Section
from lamina.formats.reply import parse_reply
from lamina.formats.summary import parse_summary
from lamina.models.base import Prompt
from lamina.models.choose import model_for
from lamina.pipeline.consolidation.run import consolidate_with
from lamina.pipeline.prompts import grammar, load, one_of
from lamina.store import notes
from lamina.store.store import Store

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
HELD = Prompt("", "ask", grammar='root ::= "DONE a\\n"')
CONSOLIDATE = compiled(
    grammar(
        "consolidate",
        lines="fact | change | done",
        notes=one_of(("claude-code_s-1", "codex_4f3a.b~2")),
        scopes=one_of(("global", "workspace:shop")),
        ids=one_of(("shop-sem-0012", "shop-dec-0003")),
    )
)
SUMMARISE = compiled(grammar("summarise", bullets="12"))
VALID = [
    "- [claude-code_s-1 | workspace:shop | decisions | 4 | stable] Build :: Plain ESM, because …",
    "- [codex_4f3a.b~2 | global | learnings | 5] 日本語の好み :: 返事は短く。🙂 (no, use `X`)",
    "- [claude-code_s-1 | workspace:shop | codebase | 1 | volatile] std::vector of jobs :: See C:\\src\\a.hpp :: it grows",
    "- [claude-code_s-1 | workspace:shop | semantic | 3 | normal] Port: shop :: 8080\tonly — “quoted” | piped [x]",
    "UPDATE [claude-code_s-1] shop-sem-0012 :: The port is 9090.",
    "SUPERSEDE [claude-code_s-1] shop-dec-0003 :: Replaced by the queue.",
    "DONE codex_4f3a.b~2",
]
INVALID = [
    "Sure! Here are the entries:",
    "- [claude-code_s-9 | workspace:shop | decisions | 4 | stable] Build :: a note that was not shown",
    "- [claude-code_s-1 | workspace:docs | decisions | 4 | stable] Build :: a workspace that was not shown",
    "- [claude-code_s-1 | workspace:shop | state | 4 | stable] Build :: no layer for facts",
    "- [claude-code_s-1 | workspace:shop | decisions | 9 | stable] Build :: no such importance",
    "- [claude-code_s-1 | workspace:shop | decisions | 4 | stable] Build without a text",
    "UPDATE [claude-code_s-1] shop-sem-0099 :: an entry that was not shown",
    "DONE",
    '{"facts": []}',
]


def test_every_valid_line_is_allowed_and_read():
    text = "".join(f"{line}\n" for line in VALID)
    assert CONSOLIDATE.fullmatch(text)
    said = parse_reply(text)
    assert (len(said.facts), len(said.updates), len(said.supersedes), len(said.done)) == (4, 1, 1, 1)
    assert said.skipped == ()


@pytest.mark.parametrize("line", INVALID)
def test_what_could_not_be_used_is_not_allowed(line):
    assert not CONSOLIDATE.fullmatch(f"{line}\n")
    assert not CONSOLIDATE.fullmatch("")
    assert not CONSOLIDATE.fullmatch(VALID[0])


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1))
def test_any_text_in_any_script_is_allowed(text):
    text = f"x{text}"
    line = f"- [claude-code_s-1 | global | semantic | 3] Topic :: {text}\n"
    assert CONSOLIDATE.fullmatch(line)
    assert SUMMARISE.fullmatch(f"- **how-to:** {text}\n")


def test_a_summary_may_say_nothing_or_up_to_its_limit():
    labels = ["decision", "preference", "constraint", "correction", "environment", "finding", "fix", "open"]
    assert SUMMARISE.fullmatch("NO_DURABLE_CONTENT\n")
    text = "".join(f"- **{label}:** 2026-01-31: 端口 {at} is used.\n" for at, label in enumerate(labels))
    assert SUMMARISE.fullmatch(text)
    assert [point.label for point in parse_summary(text).points] == labels
    assert SUMMARISE.fullmatch("- **fix:** a\n" * 12)
    assert not SUMMARISE.fullmatch("- **fix:** a\n" * 13)
    assert not SUMMARISE.fullmatch("I read the session.\n")


def test_a_grammar_names_the_labels_and_layers_that_the_prompt_names():
    for purpose, words in (("summarise", "how-to, open"), ("consolidate", "codebase (what")):
        assert words in load(purpose)
    with pytest.raises(KeyError):
        grammar("rerank")


def test_a_consolidation_is_held_to_the_notes_that_are_shown(tmp_path):
    store = Store.open(tmp_path / "store", create=True, now=NOW)
    bullet = Bullet(
        "finding", "The shop's server listens on port 8080.", NOW.date(), 0, 2, "port 8080", "user"
    )
    with store.writing(label="test", at=NOW) as batch:
        for name in ("s-1", "s-2"):
            section = Section(NOW, (bullet,), 0, 4)
            notes.save(
                batch, Note(name, "codex", "workspace:shop", "/w", 0, 4, NOW, NOW, sections=(section,))
            )
    script = Script("DONE codex_s-1\nDONE codex_s-2")
    consolidate_with(store, script, now=NOW, neighbours=lambda: lambda _text, _scope: [])
    ((_, prompt),) = script.asked
    held = compiled(prompt.grammar)
    assert held.fullmatch(
        "- [codex_s-1 | workspace:shop | semantic | 3 | stable] Port :: 8080\nDONE codex_s-2\n"
    )
    assert not held.fullmatch("- [codex_s-3 | workspace:shop | semantic | 3 | stable] Port :: 8080\n")
    assert not held.fullmatch("UPDATE [codex_s-1] none :: without entries there is nothing to change\n")


def asked(route, script, prompt=HELD):
    with scripted(script) as server:
        reply = followed(model_for(route, env={}, base_url=server.url, folder=Path("/nowhere")), prompt)
    return reply, [request.body for request in server.asked]


def test_only_llama_cpp_is_told_of_a_grammar():
    assert asked("llamacpp/m", [Say("DONE a\n")])[1][0]["grammar"] == HELD.grammar
    assert "grammar" not in asked("vllm/m", [Say("DONE a\n")])[1][0]


def test_a_server_that_takes_no_grammar_is_asked_without_it():
    reply, sent = asked("llamacpp/m", [Say("failed to parse grammar", status=400), Say("DONE a")])
    assert (reply.text, ["grammar" in body for body in sent]) == ("DONE a", [True, False])
    with pytest.raises(ModelFailed):
        asked("llamacpp/m", [Say("failed to parse grammar", status=400)] * 2)


def test_a_model_whose_held_reply_was_taken_for_thinking_is_asked_without_the_grammar():
    script = [Say("", reasoning="DONE a\n", usage=(10, 4)), Say("DONE a", reasoning="hm", usage=(10, 6))]
    reply, sent = asked("llamacpp/m", script)
    assert (reply.text, ["grammar" in body for body in sent]) == ("DONE a", [True, False])
    assert (reply.tokens_in, reply.tokens_out, reply.counted) == (10, 6, True)
    silent, sent = asked("llamacpp/m", Say("", reasoning="hm"), Prompt("", "ask"))
    assert (silent.text, len(sent)) == ("", 1)
