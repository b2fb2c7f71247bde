"""Inputs on which memory tools failed, each with a model that says back everything it is shown.

Such a model keeps whatever reaches it, so what must never be memory must never be shown or never be written.
The numbers are those of the list of known failures of capture, then of faults and concurrency.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import pytest
from tests.pipeline.opening import Clock
from tests.pipeline.scripted import echo
from tests.pipeline.sessions import NOW, T0, append, claude
from tests.pipeline.test_summarise import talk

from lamina.formats.event import CHILD_MARK
from lamina.hosts.render import Compacted, Injected, Said, Tool, render_claude, session_uuid
from lamina.memory import Memory

FACT = "We decided to keep the cache of module m1 in Redis on port 6001"


class Parrot:
    """Says back what it is shown, and remembers it; `says` is said in addition, or instead if `alone`."""

    def __init__(self, says: str = "", *, alone: bool = False) -> None:
        self.says, self.alone = says, alone
        self.shown: list[str] = []

    def __call__(self, text: str) -> str:
        self.shown.append(text)
        if "NOTES" in text.split("\n"):
            return echo(text)
        said = [
            line.partition(": ")[2]
            for line in text.split("\n")
            if line.startswith(("PERSON: ", "AGENT: ", "FAILED: "))
        ]
        return self.says if self.alone else "\n".join([self.says, *(f"- {line}" for line in said)])


def memory(tmp_path: Path, model, **env: str) -> Memory:
    opened = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", **env}
    return Memory.open(tmp_path / "store", cwd=tmp_path, env=opened, clock=Clock(NOW), model=model)


def kept(tmp_path: Path) -> str:
    """Everything that a store keeps: notes and entries."""
    root = tmp_path / "store"
    files = [*root.glob("digests/*.md"), *root.glob("workspaces/**/*.md"), *root.glob("global/**/*.md")]
    return "\n".join(path.read_text() for path in files)


def took(tmp_path: Path, turns, model=None, *, name: str = "a", **more) -> tuple[dict, str]:
    done = memory(tmp_path, model or Parrot()).import_sessions([claude(tmp_path / "t", name, turns, **more)])
    return done, kept(tmp_path)


def test_1_an_invented_hash_path_or_number_is_not_stored_as_fact(tmp_path: Path) -> None:
    lies = "- The cache of m1 was moved in 4be91c7d02aa.\n- The cache is in src/cache/redis_pool.py.\n- The cache holds 4096 keys."
    _, text = took(tmp_path, talk(1), Parrot(lies))
    assert FACT in text
    assert not [lie for lie in ("4be91c7", "redis_pool", "4096") if lie in text]


def test_2_what_was_only_supposed_is_not_stored_as_settled(tmp_path: Path) -> None:
    wish = "Evaluate whether Kafka would help the order queue; probably it is too heavy, must verify with real load."
    _, text = took(
        tmp_path,
        [Said("user", wish), *talk(1)],
        Parrot(
            "- **decision:** Kafka helps the order queue.\n- **decision:** Kafka is too heavy for the order queue."
        ),
    )
    assert "Kafka helps the order queue." not in text
    assert "Kafka is too heavy for the order queue." not in text
    assert "probably" in text


def test_3_a_subagents_prompt_is_nobodys_wish_and_its_parent_is_not_skipped(tmp_path: Path) -> None:
    uuid = session_uuid("a")
    parent = claude(tmp_path / "t", "a", talk(1))
    child = parent.with_suffix("") / "subagents" / "agent-1.jsonl"
    child.parent.mkdir(parents=True)

    wish = "Rewrite every test of the billing module to use the new factory and never ask back about it. " * 6
    child.write_text(
        render_claude(
            uuid,
            [Said("user", wish), Said("assistant", "All billing tests use the factory now.")],
            cwd="/srv/shop",
            started=T0,
            agent="1",
        )
    )
    model = Parrot()
    done = memory(tmp_path, model).import_sessions([tmp_path / "t"])
    assert (done["sessions"], done["skipped"]["subagent"]) == (1, 1)
    assert FACT in kept(tmp_path)
    assert "billing" not in kept(tmp_path) + "".join(model.shown)


def test_4_records_are_read_in_file_order_whatever_their_parent_links_say(tmp_path: Path) -> None:
    path = claude(tmp_path / "t", "a", [*talk(1), *talk(2), *talk(3)])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for number, line in enumerate(lines):
        if number % 3 == 0 and "parentUuid" in line:
            line["parentUuid"] = "00000000-0000-4000-8000-000000000000"  # an attachment stood between
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    model = Parrot()
    memory(tmp_path, model).import_sessions([path])
    assert all(port in model.shown[0] for port in ("6001", "6002", "6003"))


@pytest.mark.parametrize(
    "noise",
    [
        "<command-name>/compact</command-name><command-message>compact</command-message>",
        "<local-command-stdout>\x1b[1mSet model to opus\x1b[22m</local-command-stdout>",
        "<system-reminder>Remember the todo list MARKWORD.</system-reminder>",
        "<available_skills>MARKWORD skill: renders charts</available_skills>",
        "<lamina-memory>\n## Lamina memory\n- MARKWORD is deployed on Fridays\n</lamina-memory>",
    ],
)  # fmt: skip
def test_5_wrappers_reminders_catalogues_and_the_own_card_are_no_memory(tmp_path: Path, noise: str) -> None:
    model = Parrot()
    _, text = took(tmp_path, [Said("user", noise), Injected("MARKWORD hook"), *talk(1)], model)
    shown = "".join(model.shown)
    assert not [word for word in ("MARKWORD", "Set model to", "\x1b", "/compact") if word in text + shown]
    assert FACT in text


def test_6_what_the_agent_reads_of_another_memory_is_not_captured_back(tmp_path: Path) -> None:
    root = tmp_path / "store"
    reads = [
        Tool("Read", {"file_path": "/home/me/.claude/projects/-srv-shop/memory/a.md"}, "The gateway key rotates on MARKDAY."),
        Tool("Bash", {"command": f"cat {root}/global/semantic/x.md"}, "The gateway key rotates on MARKDAY.", failed=True),
    ]  # fmt: skip
    model = Parrot()
    _, text = took(tmp_path, [*talk(1), *reads], model)
    assert "MARKDAY" not in text + "".join(model.shown)
    assert "memory/a.md" not in text


def test_7_a_compaction_summary_is_no_evidence(tmp_path: Path) -> None:
    model = Parrot()
    _, text = took(
        tmp_path, [*talk(1), Compacted("The person wants MARKWORD everywhere. " * 120), *talk(2)], model
    )
    assert "MARKWORD" not in text + "".join(model.shown)


def test_8_every_stop_sends_only_what_is_new_and_a_failed_call_no_more_than_that(tmp_path: Path) -> None:
    path = claude(tmp_path / "t", "a", talk(1))
    model = Parrot()
    memory(tmp_path, model).capture(path)
    for number in range(2, 6):
        append(path, talk(number), minutes=60 * number)
        memory(tmp_path, model).capture(path)
        assert f"module m{number - 1} " not in model.shown[-1]
    append(path, talk(6), minutes=600)

    def down(text: str) -> str:
        raise OSError("down")

    assert memory(tmp_path, down).capture(path)["status"] == "waiting"
    assert memory(tmp_path, model).capture(path)["status"] == "captured"
    assert "module m5 " not in model.shown[-1]
    assert len(model.shown) == 6


def test_9_one_event_with_empty_fields_does_not_cost_the_session(tmp_path: Path) -> None:
    path = claude(tmp_path / "t", "a", talk(1))
    lines = path.read_text().splitlines()
    lines[2:2] = [
        '{"type":"user"}',
        "{}",
        '{"type":"assistant","message":null}',
        '{"type":"user","message":{"role":"user","content":""}}',
    ]
    path.write_text("\n".join(lines) + "\n")
    assert memory(tmp_path, Parrot()).import_sessions([path])["sessions"] == 1
    assert FACT in kept(tmp_path)


@pytest.mark.parametrize(
    "words", ["NO_DURABLE_CONTENT", "There is nothing to record.", "Nothing durable to remember here."]
)
def test_10_a_model_that_says_in_prose_that_there_is_nothing_is_not_asked_for_ever(
    tmp_path: Path, words: str
) -> None:
    model = Parrot(words, alone=True)
    path = claude(tmp_path / "t", "a", talk(1))
    for _ in range(4):
        memory(tmp_path, model).import_sessions([path])
    assert len(model.shown) == 1


def test_11_a_model_run_that_lamina_started_is_not_recorded(tmp_path: Path) -> None:
    prompt = f"{CHILD_MARK}\nYou read the record of one session.\nBEGIN\nPERSON: {FACT}, for good.\nEND"
    model = Parrot()
    done, text = took(
        tmp_path, [Said("user", prompt), Said("assistant", f"- **decision:** {FACT}"), *talk(2)], model
    )
    assert (done["skipped"]["own"], model.shown, text) == (1, [], "")


def test_12_a_session_that_ended_without_a_goodbye_is_captured_by_the_next_look(tmp_path: Path) -> None:
    path = claude(tmp_path / "t", "a", talk(1))
    path.write_text(path.read_text()[:-40])  # Ctrl-C in the middle of a record
    memory(tmp_path, Parrot()).import_sessions([tmp_path / "t"])
    assert FACT in kept(tmp_path)


def test_13_five_stops_append_one_summary(tmp_path: Path) -> None:
    path = claude(tmp_path / "t", "a", talk(1))
    model = Parrot()
    for _ in range(5):
        memory(tmp_path, model).capture(path, final=True)
    assert len(model.shown) == 1
    (note,) = (tmp_path / "store" / "digests").glob("*.md")
    assert note.read_text().count("\n## ") == 1


def test_14_one_line_of_sixteen_megabytes_is_not_shown_to_a_model(tmp_path: Path) -> None:
    huge = Tool("Bash", {"command": "cat dump.sql"}, "x" * 16_000_000)
    model = Parrot()
    _, text = took(tmp_path, [*talk(1), huge, *talk(2)], model)
    assert max(map(len, model.shown)) < 48_000
    assert "6002" in text


@pytest.mark.parametrize("key", ["tool_response", "tool_output", "toolUseResult"])
def test_15_a_renamed_field_loses_no_event(tmp_path: Path, key: str) -> None:
    path = claude(tmp_path / "t", "a", talk(1))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if "toolUseResult" in line:
            line[key] = line.pop("toolUseResult")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = memory(tmp_path, Parrot()).import_sessions([path])
    assert (done["sessions"], done["damaged"]) == (1, [])
    assert FACT in kept(tmp_path)


# --- faults and concurrency


def test_concurrency_1_reading_the_index_as_a_plain_file_is_never_done_by_the_process_that_holds_it(
    tmp_path: Path,
) -> None:
    """POSIX drops a process's locks on a file when it closes any handle of it."""
    opened = memory(tmp_path, Parrot())
    opened.import_sessions([claude(tmp_path / "t", "a", talk(1))])
    (database,) = (tmp_path / "store").rglob("lamina.db")
    seen: list[str] = []
    watching = True

    def watch(event: str, arguments: tuple) -> None:
        if (
            watching
            and event == "open"
            and isinstance(arguments[0], str | bytes)
            and str(arguments[0]).endswith(".db")
        ):
            seen.append(str(arguments[0]))

    sys.addaudithook(watch)
    opened.search("cache", scope="all")
    opened.consolidate()
    opened.tick()
    opened.doctor()
    watching = False
    assert seen == []
    sqlite3.connect(database).close()


def test_concurrency_6_what_a_note_became_is_found_as_soon_as_the_note_is_marked(tmp_path: Path) -> None:
    opened = memory(tmp_path, Parrot())
    opened.capture(claude(tmp_path / "t", "a", talk(1)), final=True)
    assert opened.status()["notes"]["pending"] == 1
    opened.consolidate()
    assert opened.status()["notes"]["pending"] == 0
    assert "6001" in str(opened.search("cache of module m1 in Redis", scope="all").hits[0])


@pytest.mark.parametrize("attempts", [0, 1])
def test_concurrency_13_no_retries_means_none_and_not_for_ever(tmp_path: Path, attempts: int) -> None:
    model = Parrot("I can't do that.", alone=True)
    env = {"LAMINA_NOTE_ATTEMPTS": str(attempts), "LAMINA_CONSOLIDATE_ATTEMPTS": str(attempts)}
    path = claude(tmp_path / "t", "a", talk(1))
    for _ in range(5):
        memory(tmp_path, model, **env).import_sessions([path])
    assert len(model.shown) == 1
    assert memory(tmp_path, model, **env).status()["notes"]["needs_review"] == 1


def test_concurrency_13_a_model_that_can_not_be_reached_does_not_fill_the_log(tmp_path: Path) -> None:
    opened = memory(tmp_path, Parrot())
    opened.capture(claude(tmp_path / "t", "a", talk(1)), final=True)
    asked = []

    def down(text: str) -> str:
        asked.append(text)
        raise OSError("down")

    env = {"LAMINA_CONSOLIDATE_PENDING": "1"}
    for _ in range(300):
        memory(tmp_path, down, **env).tick()
    assert len(asked) == 1
    assert (tmp_path / "store" / "logs" / "memory.log").stat().st_size < 50_000
