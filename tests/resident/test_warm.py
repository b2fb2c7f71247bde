"""What a resident process keeps open, and what it lets go."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

from tests.resident.bag import Bag
from tests.resident.running import answered, asked, until

from lamina.resident import client
from lamina.resident.server import Server
from lamina.resident.shared import Shared


def held(name: str, pid: int | str = "self") -> list[str]:
    """Return what a process has open of one name, "(deleted)" where the file is gone; Linux alone tells."""
    found = []
    handles = Path(f"/proc/{pid}/fd")
    for handle in handles.iterdir() if handles.exists() else ():
        with contextlib.suppress(OSError):
            found.append(str(handle.readlink()))
    return [target for target in found if f"/{name}" in target]


def test_what_is_purged_does_not_stay_open_though_nobody_asks(site):
    memory = site.filled()
    password = memory.remember("The word for the old printer is zanzibar")
    memory.close()
    with site.server(embedder=Bag(), look_s=0.1):
        memory = site.memory()
        assert answered(memory, "zanzibar").hits
        memory.forget([password.id], purge=True)
        memory.close()
        until(lambda: not [each for each in held("lamina.db") if "deleted" in each])
        assert not [hit for hit in answered(memory, "zanzibar").hits if "zanzibar" in hit.heading]
        assert answered(memory).hits


def test_a_look_comes_although_somebody_knocks_all_the_time(site):
    site.filled().close()
    memory = site.memory()
    server = Server(site.root, env=site.env, embedder=Bag(), look_s=0.2)
    ready, over = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (server.serve(lambda _: ready.set()), over.set()))
    thread.start()
    assert ready.wait(20)
    site.root.joinpath("memory.json").rename(site.home / "away.json")

    def knocked():
        client.ask(memory.standpoint, {"do": "ping"}, env=site.env)
        return over.is_set()

    until(knocked)
    thread.join(20)


def test_another_embedder_leaves_nothing_of_the_one_before_open(site):
    site.filled().close()
    del site.env["LAMINA_EMBEDDER"]
    config = site.home / ".config" / "lamina" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('embedder = "wordllama"\n')
    with site.serving() as process:
        for name in ["none", "wordllama"] * 4:
            config.write_text(f'embedder = "{name}"\n')
            memory = site.memory()
            until(lambda memory=memory: asked(memory) is not None)
            memory.close()
        # one of questions, one of the thread that makes vectors
        until(lambda: len(held("lamina.db", process.pid)) <= 2)
        assert len(held("vectors.db", process.pid)) <= 2


def test_an_index_closes_when_the_last_one_gives_it_up():
    class Index:
        closed = 0

        def close(self):
            self.closed += 1

    shared = Shared(Index())
    shared.take()
    with shared.taken() as given:
        shared.give_up()
        assert given.closed == 0
    assert given.closed == 1


def test_a_question_at_work_keeps_its_index_while_the_file_is_replaced(site):
    memory = site.filled()
    with site.server(embedder=Bag(), look_s=0.05):
        answers = []
        for _ in range(5):
            worker = threading.Thread(target=lambda: answers.append(asked(memory, vectors=True)))
            worker.start()
            assert site.memory().rebuild_index() is not None
            worker.join(20)
        assert all(answer and answer.hits for answer in answers)
        assert answered(memory).hits
