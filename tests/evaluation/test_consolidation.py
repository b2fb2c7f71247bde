"""`lamina eval consolidation`: what it counts, and that neither an honest model nor a liar can do harm."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from tests.evaluation.models import honest, liar
from tests.models.scripted import Request, Say, Script, scripted

from lamina.errors import BadInput, BadSetting, NoModelAnswered
from lamina.evaluation.consolidation import eval_consolidation, measured, render_consolidation
from lamina.evaluation.consolidation.cases import (
    Anchors,
    Chain,
    Fact,
    Talk,
    Trap,
    load_chains,
    parse_chains,
)
from lamina.evaluation.consolidation.judge import Remembered, judge_entries, remembered
from lamina.evaluation.consolidation.report import figures
from lamina.evaluation.consolidation.scene import Scene, staged, transcript, uuid_named, waves
from lamina.hosts.tape import Said

CHAINS = load_chains()


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home), "PATH": os.environ["PATH"]}


def chains(*names: str) -> list[Chain]:
    return [each for each in CHAINS if each.name in names]


def run(script: Script, env: dict[str, str], *names: str, **more: object) -> dict:
    with scripted(script) as server:
        asked = env | {"LAMINA_MODEL_BASE_URL": f"{server.url}/v1"}
        return eval_consolidation("custom/scripted", chains=chains(*names) or CHAINS, env=asked, **more)


# --- the fixtures -----------------------------------------------------------------------------------


def test_the_fixtures_hold_what_they_are_to_measure() -> None:
    talks = [talk for chain in CHAINS for talk in chain.talks]
    facts = [fact for chain in CHAINS for fact in chain.facts]
    assert len(talks) >= 24
    assert {chain.language for chain in CHAINS} == {"de", "en", "ja", "ko", "mixed", "zh"}
    assert {talk.host for talk in talks} == {"claude-code", "codex"}
    assert any(talk.of for talk in talks)
    assert sum(bool(fact.until) for fact in facts) >= 8
    assert sum(len(fact.sessions) >= 3 for fact in facts) >= 2


def test_no_trap_catches_what_an_honest_model_would_say() -> None:
    for chain in CHAINS:
        for fact in chain.facts:
            for trap in chain.traps:
                assert not trap.holds(fact.say, f"workspace:{chain.project}"), (fact.say, trap)


def test_every_fact_and_value_is_said_in_its_sessions() -> None:
    for chain in CHAINS:
        for fact in chain.facts:
            said = "\n".join(talk.text for talk in chain.talks if talk.name in fact.sessions)
            assert fact.anchors.hold(said), (chain.name, fact.say)


def test_no_fixture_holds_a_secret_but_its_sessions_do() -> None:
    folder = Path(parse_chains.__code__.co_filename).parent.parent / "sets" / "consolidation"
    files = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.toml"))
    token = next(
        trap.anchors.all[0][0]
        for chain in CHAINS
        for trap in chain.traps
        if trap.kind == "private" and trap.anchors.all[0][0].startswith("gh")
    )
    assert token not in files
    assert any(token in talk.text for chain in CHAINS for talk in chain.talks)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version = 2\nlanguage = 'en'\nchain = []", "version 2"),
        ("language = 'en'\nchain = []", "'version' is missing"),
        ("version = 1\nlanguage = 'en'\n[[chain]]\nname = 'a'\nproject = 'b'\nsession = []\nfacts = []", "facts"),
        ("version = ", "fixture"),
        ("version = 1\nlanguage = 'en'\n[[chain]]\nname = 'a'\nproject = 'b'\nsession = []\n[[chain.trap]]\nkind = 'x'\nall = ['y']", "'x' is not known"),
        ("version = 1\nlanguage = 'en'\n[[chain]]\nname = 'a'\nproject = 'b'\nsession = []\n[[chain.fact]]\nkind = 'x'\nin = ['s1']\nall = ['y']\nlayers = []\nlabel = ''\ntopic = ''\nsay = ''", "'s1' is not known"),
    ],
)  # fmt: skip
def test_a_fixture_that_can_t_be_meant_is_refused(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=re.escape(told)):
        parse_chains(text, "fixture")


def test_the_same_transcripts_come_out_every_time() -> None:
    assert [transcript(chain, talk) for chain in CHAINS for talk in chain.talks] == [
        transcript(chain, talk) for chain in load_chains() for talk in chain.talks
    ]


# --- what is counted --------------------------------------------------------------------------------


def anchors(*said: str) -> Anchors:
    return Anchors(tuple(tuple(each.split("|")) for each in said))


def made(**more: object) -> Fact:
    whole = {
        "kind": "environment", "sessions": ("s1",), "anchors": anchors("port", "8080"), "layers": ("semantic",),
        "scopes": ("workspace",), "label": "environment", "topic": "Port", "say": "The port is 8080.", **more,
    }  # fmt: skip
    return Fact(**whole)  # type: ignore[arg-type]


TALK = Talk("s1", date(2026, 9, 1), "codex", (Said("user", "The port is 8080 now, not 9090."),))
LATER = Talk("s2", date(2026, 9, 2), "codex", (Said("user", "The port is 7070 now."),))
CHAIN = Chain("one", "en", "shop", (TALK, LATER), (made(),), ())


def entry(text: str, **more: object) -> Remembered:
    whole = {
        "id": "shop-sem-0001", "text": text, "scope": "workspace:shop", "layer": "semantic",
        "trust": "approved", "sessions": frozenset(), **more,
    }  # fmt: skip
    return Remembered(**whole)  # type: ignore[arg-type]


class Holding:
    """A chain and entries, judged as a store's would be."""

    def __init__(self, chain: Chain, *entries: Remembered) -> None:
        self.row = figures(judge_entries([chain], entries))


def test_a_fact_is_kept_where_all_anchors_stand_in_one_entry() -> None:
    assert Holding(CHAIN, entry("The PORT is `8080`.")).row["kept"] == 100
    assert Holding(CHAIN, entry("The port is new."), entry("8080 requests")).row["kept"] == 0
    assert Holding(CHAIN, entry("The port is 8080.", trust="superseded")).row["kept"] == 0


def test_a_fact_in_the_wrong_place_is_kept_and_misfiled() -> None:
    own = frozenset({uuid_named(CHAIN, "s1")})
    there = entry("The port is 8080.", layer="decisions", trust="candidate", scope="global", sessions=own)
    row = Holding(CHAIN, there).row
    assert (row["kept"], row["misfiled"]) == (100, {"layer": 1, "scope": 1, "trust": 1})


def test_a_fact_said_in_three_entries_counts_two_duplicates() -> None:
    assert Holding(CHAIN, *[entry("The port is 8080.")] * 3).row["duplicates"] == 2


def test_an_invented_value_is_one_in_whatever_trust() -> None:
    said = "The port is 8080, see `src/made/up.py`."
    for trust in ("approved", "candidate", "superseded"):
        row = Holding(CHAIN, entry(said, trust=trust)).row
        assert (row["inventions"], row["misses"][0]["expected"]) == (1, "src/made/up.py")
    assert Holding(CHAIN, entry("The port is 8080.")).row["inventions"] == 0


def test_an_ended_fact_must_be_out_of_force_and_not_lost() -> None:
    later = made(sessions=("s2",), anchors=anchors("port", "7070"))
    chain = replace(CHAIN, facts=(made(until="s2"), later))

    def ended(*entries: Remembered) -> tuple[int, int, int]:
        row = Holding(chain, *entries).row["ended"]
        return row["rightly"], row["in_force"], row["lost"]

    assert ended(entry("The port is 8080.", trust="superseded")) == (1, 0, 0)
    assert ended(entry("The port is 8080.")) == (0, 1, 0)
    assert ended() == (0, 0, 1)
    assert ended(entry("The port is 7070, no longer 8080.")) == (0, 0, 1)


def test_a_trap_counts_unless_its_doubt_is_kept() -> None:
    trap = Trap("supposed", anchors("Redis"), anchors("maybe|perhaps"))
    chain = replace(CHAIN, traps=(trap,))
    assert Holding(chain, entry("Use Redis.")).row["traps"] == {"n": 1, "fallen": 1, "waiting": 0}
    assert Holding(chain, entry("Use Redis.", trust="candidate")).row["traps"]["waiting"] == 1
    assert Holding(chain, entry("Maybe use Redis.")).row["traps"]["fallen"] == 0
    assert Holding(chain, entry("Use Redis.", trust="superseded")).row["traps"]["fallen"] == 0


def test_a_trap_of_another_project_looks_into_that_project() -> None:
    chain = replace(CHAIN, traps=(Trap("other project", anchors("8080"), anchors(), "workspace:inn"),))
    assert Holding(chain, entry("The port is 8080.")).row["traps"]["fallen"] == 0
    assert Holding(chain, entry("The port is 8080.", scope="workspace:inn")).row["traps"]["fallen"] == 1


# --- the whole way ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> dict:
    home = tmp_path_factory.mktemp("home")
    return eval_consolidation(env={"HOME": str(home), "PATH": os.environ["PATH"]})


def test_without_a_model_nothing_is_asked_invented_or_trapped(without: dict) -> None:
    assert (without["calls"]["n"], without["inventions"], without["traps"]["fallen"]) == (0, 0, 0)
    assert without["kept"] >= 95


def test_the_table_names_languages_kinds_and_what_is_amiss(without: dict) -> None:
    table = render_consolidation(without, misses=True)
    assert all(f"\n{name} " in table for name in (*without["by_language"], *without["by_kind"]))
    assert all(each["what"] in table for each in without["misses"])
    assert "judge" not in table


def test_an_honest_model_keeps_the_facts_and_ends_what_ended(env: dict[str, str]) -> None:
    row = run(honest(CHAINS), env)
    assert row["kept"] >= 95
    assert row["inventions"] == row["traps"]["fallen"] == row["duplicates"] == 0
    assert row["ended"]["rightly"] == row["ended"]["facts"]
    assert row["calls"]["by_purpose"]["summarise"]["calls"] >= 24
    assert row["waits"] == []


FIRST = date(2026, 9, 7)


def until(day: date, *, after: bool) -> list[Chain]:
    """Give the chains with their sessions up to a day, or those after it."""
    return [
        replace(each, talks=tuple(talk for talk in each.talks if (talk.day > day) is after))
        for each in CHAINS
    ]


def test_a_liar_invents_nothing_ends_nothing_and_falls_into_no_trap(env: dict[str, str]) -> None:
    now = [honest(CHAINS)]

    def answer(request: Request) -> Say:
        return now[0](request)

    with scripted(answer) as server:
        asked = env | {"LAMINA_MODEL_BASE_URL": f"{server.url}/v1"}
        with staged(asked) as scene:
            scene.play(until(FIRST, after=False), "llamacpp/scripted")
            before = in_force(scene)
            now[0] = liar(CHAINS)
            scene.play(until(FIRST, after=True), "llamacpp/scripted")
            row = measured(scene, CHAINS, "llamacpp/scripted")
            after = in_force(scene)
    assert row["inventions"] == 0
    fallen = [each for each in row["misses"] if each["what"].startswith("trap")]
    assert {each["trust"] for each in fallen} <= {"candidate"}  # nothing but what waits for a person
    assert row["traps"]["fallen"] == row["traps"]["waiting"]
    ended = {before[id_].text.split("\n")[0] for id_ in before.keys() - after.keys()}
    assert ended <= GROUNDED, ended - GROUNDED
    assert len(before) >= 15


GROUNDED = {
    "The booking service must answer on port 7311",
    "Staging runs in eu-west-3",
    "Die Sicherung muss um 02:30 Uhr starten",
    "Use SQLite for the bookings",
    "The harvest lists must go to IndexedDB, not to local storage",
    "Der Flight Controller muss mit 400 Hz laufen, sonst wird der Regelkreis instabil",
}
"""What the later sessions say the end of, so that whoever ends it is right."""


def in_force(scene: Scene) -> dict[str, Remembered]:
    found = map(remembered, scene.memory.store.entries())
    return {each.id: each for each in found if each.in_force}


# --- the judge, and what can't be asked -------------------------------------------------------------


def test_a_judge_adds_a_column_and_changes_no_figure(env: dict[str, str]) -> None:
    def answer(request: Request) -> Say:
        return Say("No." if "make check" in request.text else "Yes, it says so.")

    one = chains("harbor-database")
    plain = eval_consolidation(chains=one, env=env)
    with scripted(answer) as server:
        asked = env | {"LAMINA_MODEL_BASE_URL": f"{server.url}/v1"}
        told = eval_consolidation(chains=one, env=asked, judge="custom/scripted")
        questions = len(server.asked)
    assert 0 < told["judge"] < 100
    assert told["by_kind"]["preference"]["judge"] == 0
    assert told["calls"]["by_purpose"]["judge"]["calls"] == told["calls"]["n"] == questions == told["facts"]
    assert {key: told[key] for key in ("kept", "misses", "traps", "ended")} == {
        key: plain[key] for key in ("kept", "misses", "traps", "ended")
    }
    assert "judge" in render_consolidation(told)


def test_a_name_that_is_no_route_is_told_before_the_work(env: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        eval_consolidation("nowhere", env=env)
    with pytest.raises(NoModelAnswered, match="no model is permitted"):
        eval_consolidation("auto", env=env)


def test_a_model_that_is_not_there_leaves_the_sessions_waiting_and_says_so(env: dict[str, str]) -> None:
    with scripted(Say("out of order", status=503)) as server:
        asked = env | {"LAMINA_MODEL_BASE_URL": f"{server.url}/v1", "LAMINA_MODEL_TIMEOUT_S": "2"}
        one = [replace(each, talks=each.talks[:1]) for each in chains("onsen-yoyaku")]
        row = eval_consolidation("custom/scripted", chains=one, env=asked)
    assert row["waits"]
    assert (row["kept"], row["entries"]["approved"]) == (0, 0)
    assert "waited: " in render_consolidation(row)


def test_nothing_of_the_person_is_read_or_written_but_what_is_said_of_models(env: dict[str, str]) -> None:
    home = Path(env["HOME"])
    more = env | {"LAMINA_REVIEW": "all", "LAMINA_OFF": "1", "LAMINA_ROOT": str(home / "own")}
    one = [replace(each, talks=each.talks[:1]) for each in chains("onsen-yoyaku")]
    row = eval_consolidation(chains=one, env=more)
    assert row["entries"]["approved"] > 0
    assert list(home.iterdir()) == []


def test_all_at_once_is_one_day(env: dict[str, str]) -> None:
    assert len(waves(CHAINS, at_once=True)) == 1
    assert len(waves(CHAINS)) > 10


def test_the_command_prints_the_figures(env: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    from lamina.interfaces.cli.main import main

    assert main(["eval", "consolidation", "--only", "x"]) == 2
    assert main(["eval", "retrieval", "--at-once"]) == 2
    assert "--at-once belongs to `lamina eval consolidation`" in capsys.readouterr().err
