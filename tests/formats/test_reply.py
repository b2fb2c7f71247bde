import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.pieces import hostile

from lamina.formats.lines import fold
from lamina.formats.reply import Change, Fact, Reply, is_nothing, parse_refresh, parse_reply

ESM = Fact(
    "codex_4f3a", "workspace:shop", "decisions", 4, "stable", "Build", "Plain ESM, because we ship it."
)
LINE = "- [codex_4f3a | workspace:shop | decisions | 4 | stable] Build :: Plain ESM, because we ship it."


def facts(text: str) -> tuple[Fact, ...]:
    return parse_reply(text).facts


def test_the_protocol() -> None:
    reply = parse_reply(
        f"{LINE}\n"
        "UPDATE [codex_4f3a] shop-sem-0012 :: The port is 9090.\n"
        "SUPERSEDE [codex_4f3a] shop-dec-0003 :: Replaced by the queue.\n"
        "DONE codex_4f3a\n"
        "DONE codex_77\n"
    )
    assert reply == Reply(
        facts=(ESM,),
        done=("codex_4f3a", "codex_77"),
        updates=(Change("codex_4f3a", "shop-sem-0012", "The port is 9090."),),
        supersedes=(Change("codex_4f3a", "shop-dec-0003", "Replaced by the queue."),),
        form="lines",
    )


def test_done_without_facts_is_a_result() -> None:
    reply = parse_reply("DONE codex_4f3a")
    assert (reply.usable, reply.handled, reply.facts) == (True, ("codex_4f3a",), ())


@pytest.mark.parametrize(
    "line",
    [
        LINE[2:],
        LINE.replace("- ", "* ", 1),
        LINE.replace("- ", "  • ", 1),
        LINE.replace("- ", "12. ", 1),
        LINE.replace("- ", "- 3) ", 1),
        LINE.replace("- ", "-\u3000", 1),
        LINE.replace("Build", "**Build**"),
        LINE.replace("Build", "**Build:**"),
        LINE.replace("Build", "`Build`"),
        LINE.replace("- [", "- **[").replace("] Build", "]** Build"),
        "- **" + LINE[2:] + "**",
        f"`{LINE}`",
        LINE.replace("codex_4f3a", "`codex_4f3a`"),
        LINE.replace("codex_4f3a", "<codex_4f3a>"),
        LINE.replace("codex_4f3a", "codex_4f3a.md"),
        LINE.replace("workspace:shop", "workspace: shop"),
        LINE.replace("workspace:shop", "<workspace:shop>"),
        LINE.replace("decisions", "Decision"),
        LINE.replace("| 4 |", "| 4/5 |"),
        LINE.replace("| stable", "|stable"),
        LINE.replace("::", "\uff1a\uff1a"),
        LINE.replace(" :: ", "::"),
        LINE.replace("|", "\uff5c").replace("4", "\uff14", 1).replace("\uff14f3a", "4f3a"),
        LINE.replace("[", "\u3010").replace("]", "\u3011").replace("workspace:", "workspace\uff1a"),
        f"```text\n{LINE}\n```",
        f"Here you are:\n~~~\n{LINE}\n~~~\nHope it helps.",
        f"\ufeff{LINE}\r\n",
        f"prose\r{LINE}\rprose",
    ],
)
def test_marks_punctuation_and_fences_are_forgiven(line: str) -> None:
    assert facts(line) == (ESM,)


@pytest.mark.parametrize(
    ("text", "importance"), [("0", 1), ("9", 5), ("low", 2), ("Normal", 3), ("high", 5), ("", 3), (" 2 ", 2)]
)
def test_importance_is_a_number_or_a_word(text: str, importance: int) -> None:
    assert facts(f"- [n | global | semantic | {text}] T :: x")[0].importance == importance


def test_volatility_is_a_wish_and_importance_may_lack() -> None:
    assert facts("- [n | global | semantic] T :: x") == (Fact("n", "global", "semantic", 3, None, "T", "x"),)
    assert facts("- [n | global | semantic | 2 | sometimes] T :: x")[0].volatility is None


def test_names_of_code_stay_whole() -> None:
    found = facts("- [n | global | semantic | 3] std::vector and __init__.py :: use `a::b` :: **now**")
    assert (found[0].topic, found[0].text) == ("std::vector and __init__.py", "use `a::b` :: **now**")


def test_a_workspace_without_a_key_is_left_to_the_caller() -> None:
    assert facts("- [n | workspace | semantic | 3] T :: x")[0].scope == "workspace:"


BAD = {
    "- [<note> | global or workspace:<key> | <layer> | <importance> | <volatility>?] <topic> :: <text>": "scope",
    "- [n | global | gossip | 3] T :: x": "layer",
    "- [n | global | history | 3] T :: x": "never go to history",
    "- [n | everywhere | semantic | 3] T :: x": "scope",
    "- [n | global | semantic | vital] T :: x": "importance",
    "- [n | global | semantic | 3] :: x": "topic",
    "- [n | global | semantic | 3] T ::": "text",
    "- [n | global | semantic | 3] T :: …": "text",
    "- [n | global | semantic | 3] T x": "::",
    "- [n | global] T :: x": "needs",
    "- [n] T :: x": "needs",
    "- [n | global | semantic | 3 T :: x": "closed",
    "- [two words | global | semantic | 3] T :: x": "note",
    "- [../n | global | semantic | 3] T :: x": "note",
    "DONE": "note",
    "DONE with all of it": "note",
    "UPDATE shop-sem-0001 :: x": "note",
    "UPDATE [n] shop-sem-x :: x": "id",
    "UPDATE [n] ../../x :: x": "id",
    "SUPERSEDE [n] shop-sem-0001": "::",
    "SUPERSEDE [n] shop-sem-0001 :: ": "text",
}


@pytest.mark.parametrize(("line", "reason"), BAD.items())
def test_a_bad_line_costs_itself_and_says_why(line: str, reason: str) -> None:
    reply = parse_reply(f"{LINE}\n{line}\n{LINE}\n")
    assert reply.facts == (ESM, ESM)
    (skipped,) = reply.skipped
    assert (skipped.line, skipped.text) == (2, line.strip())
    assert reason in skipped.reason


def test_prose_is_ignored() -> None:
    prose = (
        "Done reading.\n- [ ] a task\n- [a link](https://example.org)\n> "
        + LINE
        + "\n\nUPDATED\n[1] a footnote\n"
    )
    reply = parse_reply(prose)
    assert (reply.usable, reply.skipped) == (False, ())


# --- cut replies ------------------------------------------------------------------------------------


def test_only_a_cut_reply_loses_its_unfinished_last_line() -> None:
    whole, cut = parse_reply(f"{LINE}\nDONE codex_4f"), parse_reply(f"{LINE}\nDONE codex_4f", cut=True)
    assert whole.done == ("codex_4f",)
    assert (cut.facts, cut.done, len(cut.skipped)) == ((ESM,), (), 1)
    assert parse_reply(f"{LINE}\nDONE codex_4f3a\n", cut=True).done == ("codex_4f3a",)


def test_facts_without_done_count_as_handled_unless_cut() -> None:
    text = f"{LINE}\nUPDATE [b] shop-sem-0001 :: x\nDONE c\n"
    assert parse_reply(text).handled == ("c", "codex_4f3a", "b")
    assert parse_reply(text, cut=True).handled == ("c",)


# --- JSON -------------------------------------------------------------------------------------------

ENTRY = {
    "note": "codex_4f3a",
    "scope": "workspace:shop",
    "layer": "decision",
    "importance": 4,
    "volatility": "stable",
    "topic": "Build",
    "text": "Plain ESM, because we ship it.",
}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"entries": [ENTRY]}),
        json.dumps([ENTRY]),
        json.dumps(ENTRY),
        json.dumps({**ENTRY, "scope": "workspace", "workspace": "shop", "digest": "x"}),
        json.dumps({"facts": [ENTRY]}, indent=2),
        "Sure:\n```json\n" + json.dumps({"entries": [ENTRY]}) + "\n```\nDone.",
        json.dumps({"entries": [ENTRY]})[:-2] + ",]}",
        json.dumps({"entries": [ENTRY]})[:-2] + ", ...], }",
        json.dumps({"entries": [ENTRY]})[:-2] + ', {"note": <note>, "layer": None}]}',
        json.dumps({"entries": [ENTRY]})[:-2] + ', {"note": "n", "layer": "sem',
        "I think {this} is it: " + json.dumps(ENTRY) + " or {that}",
        json.dumps(ENTRY) + "\n" + json.dumps({"x": 1}),
    ],
)
def test_volunteered_json_is_read_repaired_or_salvaged(text: str) -> None:
    reply = parse_reply(text)
    assert (reply.facts, reply.form) == ((ESM,), "json")


def test_json_may_say_everything_that_lines_say() -> None:
    data = {
        "entries": [],
        "updates": [{"note": "n", "id": "shop-sem-0001", "text": "new"}],
        "supersedes": [{"note": "n", "id": "shop-sem-0002", "reason": "old"}],
        "done": ["n", "m"],
    }
    reply = parse_reply(json.dumps(data))
    assert reply.updates == (Change("n", "shop-sem-0001", "new"),)
    assert reply.supersedes == (Change("n", "shop-sem-0002", "old"),)
    assert reply.done == ("n", "m")


def test_json_is_not_looked_at_beside_a_valid_line() -> None:
    reply = parse_reply(json.dumps(ENTRY) + "\nDONE n\n")
    assert (reply.facts, reply.done, reply.form) == ((), ("n",), "lines")


def test_a_bad_object_costs_itself() -> None:
    reply = parse_reply(json.dumps([{**ENTRY, "layer": "gossip"}, ENTRY]))
    assert reply.facts == (ESM,)
    assert [each.reason for each in reply.skipped] == ["unknown layer"]


# --- refresh ----------------------------------------------------------------------------------------


def test_a_refresh_speaks_of_ids_alone() -> None:
    reply = parse_refresh(
        "- KEEP shop-sem-0001\nUPDATE `shop-sem-0002` :: new\nSUPERSEDE shop-sem-0003 :: gone\nKEEP that\n"
        + LINE
    )
    assert reply.keeps == ("shop-sem-0001",)
    assert reply.updates == (Change("", "shop-sem-0002", "new"),)
    assert reply.supersedes == (Change("", "shop-sem-0003", "gone"),)
    assert (reply.facts, len(reply.skipped)) == ((), 1)


# --- nothing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "NO_DURABLE_CONTENT",
        " `NO_DURABLE_CONTENT`.\n",
        "**NO_DURABLE_CONTENT**",
        "no durable content",
        "```\nNO_DURABLE_CONTENT\n```",
        "Only greetings were exchanged.\n\nNO_DURABLE_CONTENT",
        "NO_DURABLE_CONTENT - only greetings.",
        "Nothing to record.",
        "There is nothing durable to record in this session.",
    ],
)
def test_a_conclusion_of_nothing_is_recognised(text: str) -> None:
    assert is_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "- **decision:** x\nNO_DURABLE_CONTENT",
        "- The token NO_DURABLE_CONTENT ends a summary\n- **fix:** y",
        "I could not read the session.",
        "Nothing works with port 8080 and the team agreed to move.",
    ],
)
def test_failures_and_bullets_are_no_conclusion(text: str) -> None:
    assert not is_nothing(text)


# --- laws -------------------------------------------------------------------------------------------

words = st.one_of(hostile, st.sampled_from(["a :: b", "x]", "[y | z]", "DONE n", LINE]))
texts = words.map(fold).filter(lambda text: bool(text.strip("*_`\"'.… ")))
topics = st.sampled_from(["Build", "std::vector", "漢字", "a | b", "[x] y"])
written = st.builds(
    Fact,
    note=st.sampled_from(["codex_4f3a", "n"]),
    scope=st.sampled_from(["global", "workspace:shop"]),
    layer=st.sampled_from(["semantic", "episodic", "procedural", "learnings", "decisions", "codebase"]),
    importance=st.integers(1, 5),
    volatility=st.sampled_from([None, "stable", "normal", "volatile"]),
    topic=topics,
    text=texts,
)


def line_of(fact: Fact) -> str:
    cells = [fact.note, fact.scope, fact.layer, str(fact.importance)] + (
        [fact.volatility] if fact.volatility else []
    )
    return f"- [{' | '.join(cells)}] {fact.topic} :: {fact.text}"


@given(st.lists(written, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n", "\nprose\n\n"]))
def test_facts_read_back_whatever_their_text(found: list[Fact], gap: str) -> None:
    reply = parse_reply(gap.join(map(line_of, found)))
    assert (reply.facts, reply.skipped, reply.done) == (tuple(found), (), ())


@given(st.lists(words, max_size=6).map("\n".join), st.booleans())
def test_no_reply_fails(text: str, cut: bool) -> None:
    reply = parse_reply(text, cut)
    assert reply.usable == bool(reply.facts or reply.done or reply.updates or reply.supersedes)
    assert parse_refresh(text, cut).facts == ()
    assert isinstance(is_nothing(text), bool)


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "- ",
        "{",
        '"\\',
        '{"a":',
        "[|",
        "DONE ",
        "`",
        "**",
        "::",
        "[a|b|c] ",
        "\r",
        ", ",
        "{}",
        "no ",
        "nothing new ",
        "<",
        "\n- [",
        "…",
    ],
)
def test_hostile_replies_cost_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    start = time.process_time()
    for each in (text, "[" + text, text + "{", '{"x": ' + text, "- [" + text + "] T :: x"):
        parse_reply(each)
        is_nothing(each)
    assert time.process_time() - start < 5
