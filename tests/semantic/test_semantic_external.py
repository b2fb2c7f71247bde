"""A core of another system, driven by its two scripts: what it answers, and every way in which it may fail."""

from __future__ import annotations

import json
import os
import shutil
import time

import pytest
from tests.semantic.cores import ESM, PORT, RETRY, SOURCE, builtin, fact

from lamina.formats.hashing import content_hash
from lamina.models import external as programs
from lamina.pipeline.external import AT_ONCE, External
from lamina.pipeline.semantic import Promote, Purge, Record, Supersede, Update

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")

HEAD = """
import { readFileSync, appendFileSync } from 'node:fs';
const given = JSON.parse(readFileSync(0, 'utf8'));
appendFileSync('asked.jsonl', JSON.stringify(given) + '\\n');
const items = given.items ?? given.operations ?? [given];
const reply = (value) => console.log(JSON.stringify(value));
const taken = (each) => ({ content_hash: each.contentHash ?? each.hash, status: 'candidate', created: true });
"""
GOOD = HEAD + "reply({ ok: true, results: items.map(taken) });"
FACTS = [fact(ESM, item="decision-esm", confidence=0.9), fact(PORT), fact(RETRY)]


class Desk:
    """A folder with the two scripts, and the core that they make."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        self.folder.mkdir()
        self.monkeypatch = monkeypatch
        self.env = {**os.environ, "CORE": str(folder)}

    def core(self, ingest=GOOD, refine=GOOD, within_s=20.0):
        (self.folder / "ingest.mjs").write_text(ingest)
        (self.folder / "refine.mjs").write_text(refine)

        def call(script, request):
            path = self.folder / script
            return programs.call(path, request, env=self.env, variable="CORE", within_s=within_s)

        return External("CORE", self.folder.parent / "vectors.db", call)

    @property
    def asked(self):
        path = self.folder / "asked.jsonl"
        return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return Desk(tmp_path / "core", monkeypatch)


def test_facts_are_sent_as_the_contract_says(desk):
    done = desk.core().ingest(FACTS)
    assert [(each.ok, each.status, each.hash) for each in done] == [
        (True, "candidate", each.hash) for each in FACTS
    ]
    (request,) = desk.asked
    assert request["dbPath"] == str(desk.folder.parent / "vectors.db")
    assert request["items"][0] == {
        "content": ESM,
        "sourceRef": SOURCE,
        "itemId": "decision-esm",
        "kind": "decision",
        "contentHash": content_hash(ESM),
        "confidence": 0.9,
    }
    assert not (desk.folder.parent / "vectors.db").exists()


def test_operations_are_sent_as_the_contract_says(desk):
    hashes = [each.hash for each in FACTS]
    new = "reply({ ok: true, results: items.map((each) => ({ ok: true, status: 'approved' })) });"
    done = desk.core(refine=HEAD + new).refine(
        [
            Promote(hashes[0], 0.9),
            Update(hashes[1], FACTS[2]),
            Supersede(hashes[0], reason="old"),
            Purge(hashes[0]),
        ]
    )
    assert [(each.ok, each.hash) for each in done] == [(True, hashes[n]) for n in (0, 2, 0, 0)]
    assert desk.asked[0]["operations"] == [
        {"type": "promote", "hash": hashes[0], "confidence": 0.9},
        {
            "type": "update",
            "oldHash": hashes[1],
            "content": RETRY,
            "sourceRef": SOURCE,
            "itemId": "",
            "kind": "decision",
            "confidence": 0.8,
        },
        {"type": "supersede", "hash": hashes[0], "reason": "old"},
        {"type": "purge", "hash": hashes[0]},
    ]


def test_words_that_a_shell_would_read_are_only_words(desk):
    said = "Don't run `rm -rf $HOME`; echo \"$(id)\" 'x' \\ && 東京 🎌 \u2028."
    assert desk.core().ingest([fact(said)])[0].ok
    assert desk.asked[0]["content"] == said


def test_many_facts_are_sent_some_hundreds_at_a_time(desk):
    facts = [fact(f"number {n}") for n in range(2 * AT_ONCE + 1)]
    assert all(each.ok for each in desk.core().ingest(facts))
    assert [len(each.get("items", "1")) for each in desk.asked] == [AT_ONCE, AT_ONCE, 1]


SINGLE = HEAD + "reply(given.content ? { ok: true, ...taken(given) } : { ok: false, error: 'no content' });"
SINGLE_BARE = (
    HEAD + "if (!given.content) { console.error('no content'); process.exit(2); } reply(taken(given));"
)


@pytest.mark.parametrize("script", [SINGLE, SINGLE_BARE, SINGLE.replace("ok: false, error", "more")])
def test_a_core_that_knows_one_fact_at_a_time_gets_them_so(desk, script):
    done = desk.core(script).ingest(FACTS)
    assert [each.ok for each in done] == [True] * 3
    assert [each.get("content") for each in desk.asked] == [None, ESM, PORT, RETRY]


WRONG = [
    ("process.exit(7)", "exit_7"),
    ("throw new Error('no database')", "exit_1"),
    ("process.kill(process.pid, 'SIGKILL')", "exit_-9"),
    ("console.log('no json')", "malformed"),
    ("console.log('Connecting …'); reply({ ok: true, results: items.map(taken) })", "malformed"),
    ("reply({ ok: true, results: items.map(taken) }); console.log('bye')", "malformed"),
    ("reply([])", "malformed"),
    ("reply({ ok: true })", "malformed"),
    ("reply({ ok: true, results: [] })", "malformed"),
    ("reply({ ok: true, results: items.map(() => 1) })", "malformed"),
    ("", "malformed"),
    ("reply({ ok: false, error: 'ollama is down' })", "ollama is down"),
    ("reply({ error: { kind: 'embedder', message: 'it is down' } }); process.exitCode = 3", "embedder"),
    ("reply({ results: items.map((e) => ({ ...taken(e), error: 'full' })) }); process.exitCode = 1", "full"),
    ("reply({ results: items.map((e) => ({ ...taken(e), ok: false })) })", "failed"),
    ("reply({ results: items.map((e) => ({ ...taken(e), content_hash: '0' })) })", "hash_mismatch"),
    (
        "reply({ results: items.map((e) => ({ ...taken(e), embedded: false })) }); process.exitCode = 3",
        "embedder",
    ),
    ("reply({ results: items.map(taken) }); process.exitCode = 5", "exit_5"),
    ("console.log('x'.repeat(3_000_000))", "too_much"),
]


@pytest.mark.parametrize(("script", "word"), WRONG)
def test_whatever_goes_wrong_is_what_became_of_the_facts(desk, script, word):
    core = desk.core(HEAD + script, HEAD + script)
    assert [(each.ok, each.error) for each in core.ingest(FACTS)] == [(False, word)] * 3
    done = core.refine([Promote(FACTS[0].hash, 0.8)])
    assert [(each.ok, each.error, each.hash) for each in done] == [(False, word, FACTS[0].hash)]


def test_one_fact_that_fails_leaves_the_others(desk):
    script = "reply({ ok: false, results: items.map((e, n) => n === 1 ? { error: 'full' } : taken(e)) });"
    done = desk.core(HEAD + script + "process.exitCode = 1").ingest(FACTS)
    assert [each.error for each in done] == ["", "full", ""]


def test_a_core_that_takes_too_long_is_ended_with_all_that_it_started(desk):
    script = (
        "import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';"
        "const child = spawn('sleep', ['300'], { stdio: 'inherit' }); writeFileSync('pid', String(child.pid));"
        "setInterval(() => {}, 1000);"
    )
    began = time.monotonic()
    facts = [fact(f"number {n}") for n in range(3 * AT_ONCE)]
    done = desk.core(script, within_s=2.0).ingest(facts)
    assert {each.error for each in done} == {"timeout"}
    assert len(done) == len(facts)
    assert time.monotonic() - began < 12  # it is not asked again for the other parts
    pid = int((desk.folder / "pid").read_text())
    until = time.monotonic() + 5
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_child_that_keeps_the_output_open_holds_nobody_up(desk):
    script = (
        "import { spawn } from 'node:child_process';"
        "spawn('sleep', ['300'], { stdio: 'inherit', detached: false }).unref();"
    )
    began = time.monotonic()
    assert [each.ok for each in desk.core(script + GOOD).ingest(FACTS)] == [True] * 3
    assert time.monotonic() - began < 10


def test_a_core_that_reads_nothing_is_no_trouble(desk):
    big = [fact(f"{n} " + "long words " * 2_000) for n in range(30)]
    assert {each.error for each in desk.core("process.exit(0)").ingest(big)} == {"malformed"}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda desk: (desk.folder / "ingest.mjs").unlink(), "no_script"),
        (
            lambda desk: [(desk.folder / "ingest.mjs").unlink(), (desk.folder / "ingest.mjs").mkdir()],
            "no_script",
        ),
        (lambda desk: desk.env.update(PATH=str(desk.folder)), "node_missing"),
    ],
)
def test_a_core_that_cannot_be_run_is_a_failure(desk, change, word):
    core = desk.core()
    change(desk)
    assert [each.error for each in core.ingest(FACTS)] == [word] * 3


def test_a_script_sees_no_more_of_the_environment_than_it_needs(desk):
    desk.env |= {
        "OLLAMA_HOST": "here",
        "SEMANTIC_MODEL": "small",
        "ANTHROPIC_API_KEY": "no",
        "AWS_SECRET": "no",
    }
    script = (
        "appendFileSync('env.json', JSON.stringify({ ...process.env, cwd: process.cwd() }));"
        + GOOD.replace(HEAD, "")
    )
    assert desk.core(HEAD + script).ingest(FACTS)[0].ok
    env = json.loads((desk.folder / "env.json").read_text())
    assert (env["CORE"], env["OLLAMA_HOST"], env["SEMANTIC_MODEL"]) == (str(desk.folder), "here", "small")
    assert not {"ANTHROPIC_API_KEY", "AWS_SECRET"} & set(env)
    assert env["cwd"] == os.path.realpath(desk.folder)


def test_what_cannot_be_stored_is_not_sent(desk):
    secret = fact("The key is sk-ant-" + "api03-" + "Zx9" * 30)
    done = desk.core().ingest([FACTS[0], secret, FACTS[1]._replace(hash="0" * 64), FACTS[2]])
    assert [each.error for each in done] == ["", "secret", "hash_mismatch", ""]
    assert [each["content"] for each in desk.asked[0]["items"]] == [ESM, RETRY]


def test_making_it_anew_ingests_all_and_approves_what_is_approved(desk):
    done = desk.core().rebuild([Record(FACTS[0], approved=True), Record(FACTS[1], approved=False)])
    assert [each.ok for each in done] == [True, True]
    assert desk.asked[1]["operations"] == [{"type": "promote", "hash": FACTS[0].hash, "confidence": 0.9}]


def test_nothing_to_do_runs_nothing(desk, tmp_path):
    for core in (desk.core(), builtin(tmp_path / "vectors.db")):
        assert (core.ingest([]), core.refine([])) == ([], [])
    assert desk.asked == []
    assert not (tmp_path / "vectors.db").exists()
