"""The resident process: answers as a cold search would, only faster, and nobody is worse off without it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.embed.endpoint import good, running
from tests.resident.bag import Bag
from tests.resident.running import MEMORIES, QUESTION, Site, answered, asked, until

from lamina import __version__, errors
from lamina.resident import client, line
from lamina.resident.place import NAME, is_private, socket_path
from lamina.resident.server import AT_ONCE, Server


def hits(found):
    return [(hit["id"], hit["score"], hit["parts"]) for hit in found["hits"]]


def raw(server: Server, data: bytes, *, wait_s: float = 5.0) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(wait_s)
        connection.connect(server.path)
        connection.sendall(data)
        return connection.recv(1 << 20)


def test_a_search_is_answered_as_one_in_process_is_by_words_and_vectors(site):
    memory = site.filled()
    own = memory.search(QUESTION, vectors=True)
    memory.close()
    with site.serving() as process:
        assert process.ready["embedder"] == "wordllama-256"
        assert stat.S_IMODE(os.lstat(process.ready["socket"]).st_mode) == 0o600
        assert stat.S_IMODE(Path(process.ready["socket"]).parent.stat().st_mode) == 0o700
        told = site.searched(QUESTION)
        assert hits(told) == hits({"hits": [hit._asdict() for hit in own.hits]})
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert process.stderr.read() == ""
        assert not Path(process.ready["socket"]).exists()
    assert site.search(QUESTION)["engines"] == ["words"]


def test_filters_workspace_and_faults_mean_the_same_through_it(site):
    memory = site.filled()
    memory.remember("Tabs, never spaces", scope="global")
    with site.server(embedder=Bag()):
        assert {hit.scope for hit in answered(memory, "tabs port", filters={"scope": "global"}).hits} == {
            "global"
        }
        assert asked(memory, "tabs", filters={"layer": "nonsense"}) is None
        told = site.lamina("search", "tabs", "--layer", "nonsense")
        assert told.returncode == 2
        assert "nonsense" in told.stderr
        elsewhere = site.lamina("search", "port", "--workspace", "other", "--json")
        assert [hit["scope"] for hit in json.loads(elsewhere.stdout)["hits"]].count("workspace:harbor") == 0


def test_a_process_that_was_killed_leaves_a_socket_that_harms_nobody(site):
    site.filled().close()
    with site.serving() as process:
        process.kill()
        process.wait(10)
        assert Path(process.ready["socket"]).exists()
    start = time.monotonic()
    assert not client.stop(site.memory().standpoint, env=site.env)
    assert time.monotonic() - start < client.ASKED_S / 2
    assert site.search(QUESTION)["engines"] == ["words"]
    with site.serving():
        site.searched(QUESTION)


def test_killed_while_it_embeds_search_answers_and_the_next_one_goes_on(site):
    memory = site.filled()
    for number in range(35):
        memory.remember(f"Fact number {number} about the harbour")
    memory.close()
    database = site.root / "index" / "vectors.db"

    def made():
        if not database.exists():
            return 0
        with contextlib.closing(sqlite3.connect(database)) as db:
            return db.execute("SELECT count(*) FROM vector").fetchone()[0]

    def slow(path, body):
        time.sleep(0.5)
        return good(path, body)

    with running() as endpoint:
        site.env["LAMINA_EMBEDDER"] = f"ollama:mine@{endpoint.url}"
        endpoint.answers[:] = [slow] * 500
        with site.serving() as process:
            until(made)
            process.kill()
            process.wait(10)
        assert 0 < made() < 40
        assert site.search("staging port")["hits"][0]["heading"] == MEMORIES[0]
        assert site.lamina("index", "check").returncode == 0
        endpoint.answers.clear()
        with site.serving():
            until(lambda: made() == 40)
            assert site.searched("staging port")["hits"][0]["heading"] == MEMORIES[0]


def test_a_process_that_hangs_is_not_waited_for(site):
    memory = site.filled()
    with site.serving() as process:
        os.kill(process.pid, signal.SIGSTOP)
        try:
            start = time.monotonic()
            assert asked(memory) is None
            assert client.WITHIN_S <= time.monotonic() - start < client.WITHIN_S + 3
            assert site.search(QUESTION)["engines"] == ["words"]
        finally:
            os.kill(process.pid, signal.SIGCONT)


def test_a_second_process_for_one_store_says_so(site):
    site.filled().close()
    with site.server(embedder=Bag()):
        second = site.lamina("serve")
        assert second.returncode == 3
        assert "already" in second.stderr
        with pytest.raises(errors.Refused):
            Server(site.root, env=site.env).serve()


def test_what_is_written_meanwhile_is_found_and_gets_its_vector(site):
    memory = site.filled()
    embedder = Bag()
    with site.server(embedder=embedder) as server:
        until(lambda: embedder.embedded == len(MEMORIES))
        done = site.lamina("remember", "Postgres listens on 5432")
        assert done.returncode == 0
        found = answered(memory, "postgres")
        assert found.hits[0].heading == "Postgres listens on 5432"
        until(lambda: embedder.embedded == len(MEMORIES) + 1)
        by_hand = next(site.root.glob("workspaces/harbor/semantic/postgres*"))
        by_hand.write_text(by_hand.read_text().replace("Postgres", "MariaDB"))
        assert answered(memory, "mariadb").hits
        until(lambda: "vectors" in answered(memory, "mariadb").hits[0].parts)
        assert server.path == socket_path(site.root, site.env)


def test_garbage_and_clients_that_hang_harm_nobody(site):
    memory = site.filled()
    with site.server(embedder=Bag()) as server:
        hanging = [socket.socket(socket.AF_UNIX) for _ in range(10)]
        for connection in hanging:
            connection.connect(server.path)
            connection.send(b'{"do": ')
        for data in (b"\n", b"\xff\xfe\n", b"[]\n", b"{}\n", b'{"do": "search"}\n', b"[" * 100_000 + b"\n"):
            answer = raw(server, data)
            assert answer == b"" or json.loads(answer)["ok"] is False
        with contextlib.suppress(OSError):  # closed before all was sent
            assert raw(server, b"x" * (line.REQUEST + 100_000)) == b""
        silent = {**memory.standpoint, "do": "search", "query": 7, "lamina": __version__, "protocol": 1}
        assert json.loads(raw(server, json.dumps(silent).encode() + b"\n"))["ok"] in (True, False)
        gone = socket.socket(socket.AF_UNIX)
        gone.connect(server.path)
        gone.close()
        assert answered(memory).hits
        for connection in hanging:
            connection.close()


@pytest.mark.parametrize(
    "data", [b'{"x": ' + b"9" * 5000 + b"}\n", b"\xff\n", b"{]\n", b"[" * 9999 + b"\n", b"7\n"]
)
def test_what_is_no_object_is_a_broken_line(data):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(data)
        with pytest.raises(line.Broken):
            line.receive(theirs, most=line.REQUEST, until=time.monotonic() + 5)


def test_one_too_many_is_sent_away_at_once(site):
    memory = site.filled()
    with site.server(embedder=Bag()) as server:
        held = [socket.socket(socket.AF_UNIX) for _ in range(AT_ONCE)]
        for connection in held:
            connection.connect(server.path)
        start = time.monotonic()
        until(lambda: asked(memory) is None)
        assert time.monotonic() - start < 5
        for connection in held:
            connection.close()
        until(lambda: asked(memory) is not None)


def test_ten_ask_at_once_while_one_writes(site):
    memory = site.filled()
    with site.server(embedder=Bag()):
        answered(memory)

        def ask(number: int):
            return client.ask(
                memory.standpoint, {"do": "search", "query": f"port {number}"}, env=site.env, within_s=20
            )

        with ThreadPoolExecutor(11) as pool:
            writing = pool.submit(lambda: [memory.remember(f"Fact {n} of many") for n in range(5)])
            answers = list(pool.map(ask, range(10)))
        assert len(writing.result()) == 5
        assert all(answer and answer["found"]["hits"] for answer in answers)


@pytest.mark.parametrize(
    "change",
    [{"lamina": "0.0.0"}, {"protocol": 99}, {"root": "/elsewhere"}, {"do": "dance"}],
    ids=["version", "protocol", "store", "question"],
)
def test_what_is_not_for_this_process_is_declined(site, change):
    memory = site.filled()
    with site.server(embedder=Bag()) as server:
        request = {"lamina": __version__, "protocol": 1, **memory.standpoint, "do": "search", "query": "port"}
        assert json.loads(raw(server, json.dumps(request).encode() + b"\n"))["ok"] is True
        answer = json.loads(raw(server, json.dumps(request | change).encode() + b"\n"))
        assert (answer["ok"], answer["lamina"]) == (False, __version__)


def test_a_process_with_another_embedder_is_not_answered_but_another_setting_is_followed(site):
    site.filled().close()
    del site.env["LAMINA_EMBEDDER"]
    assert site.lamina("config", "set", "embedder", "wordllama").returncode == 0
    with site.serving() as process:
        assert process.ready["embedder"] == "wordllama-256"
        assert site.search(QUESTION, LAMINA_EMBEDDER="none")["engines"] == ["words"]
        site.searched(QUESTION)
        assert site.lamina("config", "set", "embedder", "none").returncode == 0
        assert site.search(QUESTION)["engines"] == ["words"]
        assert site.lamina("config", "set", "embedder", "wordllama").returncode == 0
        site.searched(QUESTION)


def test_it_ends_when_nobody_asks_and_when_asked_to(site):
    memory = site.filled()
    with site.serving("--idle", "1s") as process:
        assert process.wait(15) == 0
    with site.serving() as process:
        pong = client.ask(memory.standpoint, {"do": "ping"}, env=site.env, within_s=20)
        assert pong["pid"] == process.pid
        until(lambda: f"process {process.pid}" in site.lamina("status").stdout)
        assert json.loads(site.lamina("serve", "--stop", "--json").stdout) == {"stopped": True}
        assert process.wait(10) == 0
    assert json.loads(site.lamina("serve", "--stop", "--json").stdout) == {"stopped": False}
    assert site.lamina("serve", "--idle", "soon").returncode == 2


def test_without_a_store_there_is_nothing_to_serve(site):
    done = site.lamina("serve")
    assert done.returncode == 1
    assert "no store" in done.stderr
    assert not site.root.exists()


def test_a_failing_embedder_leaves_words(site):
    site.filled().close()
    site.env["LAMINA_EMBEDDER"] = "ollama:nobody@http://127.0.0.1:9"
    with site.serving() as process:
        assert process.ready["problem"]
        assert answered(site.memory(), "port", by=("words",)).hits


def test_the_socket_lies_in_the_store_or_where_its_path_is_short_enough(tmp_path):
    near, far = tmp_path / "s", tmp_path / ("long" * 30)
    assert socket_path(near, {}) == str(near / "state" / NAME)
    there = socket_path(far, {"XDG_RUNTIME_DIR": "/run/user/7"})
    assert there.startswith("/run/user/7/lamina/")
    assert (
        there
        == socket_path(far, {"XDG_RUNTIME_DIR": "/run/user/7"})
        != socket_path(tmp_path / ("x" * 99), {})
    )
    assert len(socket_path(far, {})) < 100


def test_a_store_with_a_long_path_is_served_from_the_runtime_folder(tmp_path):
    folder = tmp_path / ("deep" * 25)
    folder.mkdir()
    site = Site(folder)
    site.env["XDG_RUNTIME_DIR"] = str(tmp_path / "run")
    site.filled().close()
    with site.serving() as process:
        assert process.ready["socket"].startswith(str(tmp_path / "run"))
        site.searched(QUESTION)


def test_a_socket_that_others_could_have_put_there_is_not_asked(site):
    memory = site.filled()
    with site.server(embedder=Bag()) as server:
        assert is_private(server.path)
        folder = Path(server.path).parent
        folder.chmod(0o777)
        assert not is_private(server.path)
        assert asked(memory) is None
        folder.chmod(0o700)
        assert answered(memory).hits
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(server.path)
            assert line.peer(connection) == os.getuid()


def test_it_ends_when_the_store_is_taken_away(site):
    site.filled().close()
    server = Server(site.root, env=site.env, embedder=Bag(), look_s=0.1)
    ready = threading.Event()
    thread = threading.Thread(target=server.serve, args=(lambda _: ready.set(),))
    thread.start()
    assert ready.wait(20)
    site.root.rename(site.home / "away")
    thread.join(20)
    assert not thread.is_alive()


def test_an_embedder_that_is_not_there_is_told_by_its_name(site):
    site.filled().close()
    with site.serving(LAMINA_EMBEDDER="onnx:/nowhere") as process:
        assert "/nowhere" in process.ready["problem"]
        found = site.search("port", "--vectors", LAMINA_EMBEDDER="onnx:/nowhere")
        assert (found["engines"], len(found["notes"])) == (["words"], 1)
        assert "no folder /nowhere" in found["notes"][0]
        assert site.search("port", LAMINA_EMBEDDER="onnx:/nowhere")["notes"] == []
