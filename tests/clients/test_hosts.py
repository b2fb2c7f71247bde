"""Lamina in the real programs: `lamina install HOST`, then headless turns against a stub model.

`make test-hosts` runs these; HOSTS="claude-code codex" chooses. Nothing is set up by hand but what a person has
before Lamina comes: a sign-in and a trusted folder.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.clients.client import Client, Turn, kill, mentions, wait_for
from tests.clients.install import cache_folder, install
from tests.clients.kinds import KINDS
from tests.clients.run import HOSTS, chosen
from tests.clients.script import COMPACTS
from tests.clients.stub import Asked, Stub

pytestmark = pytest.mark.hosts

SEEDED = "The order queue lives in Postgres, because Redis lost jobs twice; ask quokka for access."
TAUGHT = "We decided to keep the wallaby list in SQLite, because one process writes it."
#: Which hosts tell in the payload of a tool's hook that a subagent calls; the others can refuse nothing.
TELLS: Mapping[str, bool] = {
    "claude-code": True,
    "codex": True,
    "gemini": False,
    "qwen": True,
    "opencode": True,
    "copilot": True,
    "dsh": True,
}
#: What a host can't do, by the test that asks for it, and why.
CANNOT: Mapping[tuple[str, str], str] = {}
#: Hosts whose headless sessions end without a word: a short one is captured once it has lain for half an hour.
SILENT_END = frozenset({"qwen"})


class Lived(NamedTuple):
    """A home in which Lamina was installed, and what two sessions there left."""

    client: Client
    first: Turn
    first_asked: list[Asked]
    second: Turn
    second_asked: list[Asked]


def able(host: str, what: str) -> None:
    """Skip what the table says that a host can't do."""
    if reason := CANNOT.get((host, what)):
        pytest.skip(f"{host}: {reason}")


ASKED = [
    pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in chosen(os.environ.get(HOSTS, ""))
]


@pytest.fixture(params=ASKED, scope="module")
def host(request: pytest.FixtureRequest) -> str:
    """Name a host."""
    return str(request.param)


@pytest.fixture(scope="module")
def programs(host: str) -> dict[str, Path]:
    """Return the client's programs; one that can't be installed is a failure."""
    return install(KINDS[host].needs, cache_folder(os.environ))


@pytest.fixture
def client(host: str, programs: dict[str, Path], tmp_path: Path) -> Iterator[Client]:
    """Give a client with an empty home of its own, before Lamina."""
    with Stub() as stub:
        client = Client(host, tmp_path, stub, programs)
        client.seed()
        try:
            yield client
        finally:
            client.end()


@pytest.fixture(scope="module")
def lived(host: str, programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """Live through two sessions with Lamina."""
    with Stub() as stub:
        client = Client(host, tmp_path_factory.mktemp(host), stub, programs)
        client.seed()
        try:
            client.lamina("remember", "--layer", "decisions", SEEDED)
            client.install()
            first = client.run(f"{TAUGHT} Say yes.").ok()
            before = stub.asked()
            client.rest()
            if host in SILENT_END:
                an_hour_later(client)
                client.run("Say no. @@plain@@").ok()
                client.rest()
            seen = len(stub.asked())
            second = client.run("What do you know?").ok()
            client.rest()
            yield Lived(client, first, before, second, stub.asked()[seen:])
        finally:
            client.end()


def test_the_card_reaches_the_model_at_the_start(lived: Lived) -> None:
    """What memory holds stands in the first request of a session."""
    assert mentions(lived.first_asked, "quokka")


def test_a_session_becomes_a_note_and_an_entry(lived: Lived) -> None:
    """What the person said is noted with its session, and is an entry that can be shown."""
    notes = lived.client.notes()
    noted = [text for text in notes.values() if "wallaby" in text]
    assert len(noted) == 1, f"{list(notes)}\n{lived.client.log()}"
    assert lived.client.host in noted[0]
    entries = [entry for entry in lived.client.entries() if "wallaby" in entry["text"]]
    assert [entry["id"] for entry in entries] == [entries[0]["id"]], "one entry for one decision"


def test_the_card_is_not_captured_back(lived: Lived) -> None:
    """What Lamina put into a session does not come out of it as something new."""
    told = [entry["id"] for entry in lived.client.entries() if "quokka" in entry["text"]]
    assert len(told) == 1
    assert not [path for path, text in lived.client.notes().items() if "quokka" in text]


def test_a_second_session_sees_what_the_first_taught(lived: Lived) -> None:
    """A session that begins after the worker has ended is told what the one before it decided."""
    assert lived.second.session != lived.first.session
    assert mentions(lived.second_asked, "wallaby")


def test_the_client_searches_and_writes_over_mcp(lived: Lived) -> None:
    """The memory tools are offered, called, and answer."""
    client = lived.client
    seen = len(client.stub.asked())
    fact = "The tapir service listens on port 8431 of the build machine."
    write = client.kind.call("remember", {"text": fact})
    search = client.kind.call("search", {"query": "tapir service port"})
    client.run(f"Use your memory. {write} {search}").ok()
    (entry,) = [entry for entry in client.entries() if "tapir" in entry["text"]]
    ids = [request.text().count(entry["id"]) for request in client.stub.asked()[seen:]]
    assert len(ids) >= 3, "a request for each tool's result"
    wrote, found = sorted(set(ids))[-2:]
    assert found > wrote > 0 or ids.count(found) < len(ids), f"the search told of {entry['id']}: {ids}"


def test_the_card_is_there_after_a_compaction(host: str, client: Client) -> None:
    """A conversation that was shortened goes on with what memory holds."""
    able(host, "compaction")
    client.lamina("remember", "--layer", "decisions", SEEDED)
    client.install()
    first = client.run("Say yes.").ok()
    seen = len(client.stub.asked())
    client.compact(first.session).ok()
    after = client.stub.asked()[seen:]
    shortened = [at for at, request in enumerate(after) if COMPACTS.search(request.text())]
    assert shortened, f"no compaction among {len(after)} requests"
    assert mentions(after[shortened[0] + 1 :], "quokka")
    went_on = [request for request in after if "And now?" in request.text()]
    assert mentions(went_on[:1], "quokka"), "the turn after the compaction has no card"


def test_a_subagent_is_not_captured_and_does_not_write(host: str, client: Client) -> None:
    """A subagent's words become nothing; its write is refused where the host tells who calls."""
    able(host, "subagent")
    client.install()
    write = client.kind.call("remember", {"text": "The bilby cache lies in folder eleven of the depot."})
    part = f"We decided to keep the dingo table, because a part asked for it. {write}"
    wait = f"@@call {WAIT[host]} @@" if host in WAIT else ""
    turn = client.run(f"Have a part done by somebody else. {client.kind.delegate(part)} {wait}").ok()
    theirs = [request for request in client.stub.asked() if _is_own(request, "dingo", "somebody else")]
    assert theirs, "no subagent ran"
    client.rest()
    entries = client.entries()
    assert not [entry for entry in entries if "dingo" in entry["text"]]
    assert not [path for path, text in client.notes().items() if "dingo" in text]
    assert len(client.notes()) <= 1, f"{list(client.notes())} for {turn.session}"
    written = [entry for entry in entries if "bilby" in entry["text"]]
    assert bool(written) is not TELLS[host], "the table of hosts that tell who calls is wrong"
    assert mentions(theirs, "memory_remember refused") is TELLS[host]


def test_a_killed_session_is_captured_by_a_later_worker(host: str, client: Client) -> None:
    """A client that was killed in the middle of a turn told nothing; what was said is found all the same."""
    able(host, "killed")
    client.install()
    process = client.start(f"{TAUGHT} {client.kind.shell}")
    try:
        wait_for(lambda: len(client.stub.asked()) >= 1, 60, lambda: "no request")
        time.sleep(5)
        assert process.poll() is None, "the turn was over too soon"
    finally:
        kill(process.pid)
        process.wait(10)
    client.end()
    an_hour_later(client)
    client.run("What do you know?").ok()
    client.rest()
    assert [entry for entry in client.entries() if "wallaby" in entry["text"]], client.log()


def test_uninstall_restores_the_files_of_the_host(host: str, client: Client) -> None:
    """After an uninstall every file of the home is what it was, to the byte; twice, and after a turn."""
    client.run("Say yes.").ok()
    client.end()
    before = files_of(client)
    client.install()
    installed = files_of(client)
    assert installed != before
    client.install()
    assert files_of(client) == installed, "an install twice is an install once"
    client.lamina("uninstall", host)
    assert files_of(client) == before
    client.install()
    touched = {name for name in installed if installed[name] != before.get(name)}
    client.run("Say yes.").ok()
    client.rest()
    client.lamina("uninstall", host)
    after = files_of(client)
    assert {name: after.get(name) for name in touched} == {name: before.get(name) for name in touched}


@pytest.mark.parametrize("fault", ["no-bin", "no-python", "hangs", "sleeps"])
def test_a_broken_lamina_does_not_disturb_the_turn(host: str, client: Client, fault: str) -> None:
    """Whatever happened to Lamina, the client answers."""
    client.install()
    spoil(client.store / "state" / "bin", fault)
    seen = len(client.stub.asked())
    turn = client.run("Say yes.").ok()
    assert len(client.stub.asked()) > seen
    assert turn.took < 90
    assert "stub reply" in (turn.stdout + str(turn.stderr)).lower()


def test_nothing_of_ours_is_left_a_minute_after(host: str, client: Client) -> None:
    """No hook, server or worker outlives the session for long, one that ended or one that was killed."""
    client.install()
    client.run(f"Use your memory. {client.kind.call('search', {'query': 'port'})}").ok()
    client.rest(limit_s=60)
    process = client.start(f"Wait. {client.kind.shell}")
    try:
        wait_for(lambda: bool(client.ours()), 60, lambda: "Lamina never ran")
        time.sleep(3)
    finally:
        os.kill(process.pid, 9)
        process.wait(10)
    client.rest(limit_s=60)


# -- what the tests do by themselves

#: A client whose subagents work in the background gets a while for them.
WAIT: Mapping[str, str] = {
    "claude-code": 'Bash {"command": "sleep 4", "description": "wait"}',
    "codex": '(exec_command|shell_command) {"cmd": "sleep 9", "command": "sleep 9", "yield_time_ms": 12000}',
}


def _is_own(request: Asked, theirs: str, ours: str) -> bool:
    return theirs in request.text() and ours not in request.text()


def files_of(client: Client) -> dict[str, bytes]:
    """Return the files of the home that a person would call settings: without the store, caches and states."""
    found = {}
    passing = ("node_modules", "cache", "/tmp/", "sessions", "log", "state", "projects", "history", ".db")
    for path in sorted(client.home.rglob("*")):
        name = str(path.relative_to(client.home))
        if path.is_file() and not name.startswith(".lamina/") and not any(word in name for word in passing):
            found[name] = path.read_bytes()
    return found


def an_hour_later(client: Client) -> None:
    """Have an hour pass: everything that was written lies that much further back."""
    file = client.store / "state" / "installed.json"
    known = json.loads(file.read_text())
    for how in known["hosts"].values():
        since = datetime.fromisoformat(how["since"]) - timedelta(hours=2)
        how["since"] = since.strftime("%Y-%m-%dT%H:%M:%SZ")
    file.write_text(json.dumps(known))
    for path in client.home.rglob("opencode.db"):
        with closing(sqlite3.connect(path)) as link, link:
            for table in ("session", "message", "part"):
                link.execute(f"UPDATE {table} SET time_updated = time_updated - 3600000")
    for path in client.home.rglob("*"):
        if path.is_file() and not path.is_relative_to(client.store):
            then = path.stat().st_mtime - 3600
            os.utime(path, (then, then))


def spoil(folder: Path, fault: str) -> None:
    """Break what `lamina install` put there.

    `hangs`: the hook waits inside and has to end itself in time. `sleeps`: it does not, and the host waits for
    as long as it likes (Gemini for as long as the hook runs, whatever its time limit).
    """
    match fault:
        case "no-bin":
            folder.rename(folder.with_name("bin-gone"))
        case "no-python":
            for script in (folder / "hook", folder / "lamina"):
                script.write_text(re.sub("(?m)^python=.*$", "python=/gone/python", script.read_text()))
        case "hangs":
            with (folder / "lamina_hook" / "fast.py").open("a") as file:
                file.write("\nHook.answer = lambda *_: time.sleep(60) or ''\n")
        case "sleeps":
            (folder / "hook").write_text("#!/bin/sh\nsleep 15\n")
