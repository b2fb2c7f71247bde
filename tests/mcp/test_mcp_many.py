"""Several at once: clients at one store, long calls beside short ones, and the tick that one of them runs."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from mcp_talk import Server, call, text

from lamina.live.ticking import Ticking
from lamina.memory import Memory

CLIENTS, EACH = 10, 4


def test_ten_clients_at_one_store(tmp_path, project):
    together = threading.Barrier(CLIENTS, timeout=60)

    def client(number):
        with Server(tmp_path, cwd=project) as server:
            server.shake_hands()
            server.ask(call("s", "memory_status"), within_s=60)
            together.wait()
            server.send(
                *(
                    call(
                        turn,
                        "memory_remember",
                        text=f"Berth {number * 10 + turn} takes ships of {turn} metres",
                    )
                    for turn in range(EACH)
                )
            )
            said = [server.answer(turn, within_s=90) for turn in range(EACH)]
            assert "Berth" in text(server.ask(call("q", "memory_search", query="berth"), within_s=60))
            server.ask(call("w", "memory_working", activity=f"berth {number}"), within_s=60)
            assert server.end() == 0
            return [each["result"]["structuredContent"]["id"] for each in said]

    with ThreadPoolExecutor(CLIENTS) as pool:
        ids = [each for some in pool.map(client, range(CLIENTS)) for each in some]
    assert len(set(ids)) == CLIENTS * EACH
    with Memory.open(tmp_path / ".lamina", cwd=project, env={"HOME": str(tmp_path)}) as memory:
        entries, problems = memory.list()
        assert {entry["id"] for entry in entries} == set(ids)
        assert not problems
        assert memory.working()["text"].count("berth") == CLIENTS


def test_one_process_leads_the_tick_and_another_follows_when_it_ends(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    root = str(tmp_path / "store")
    first, second = Ticking(root, tell=print), Ticking(root, tell=print)
    assert not first.once()
    with Memory.open(root, workspace="harbor") as memory:
        memory.remember("The port is 8081")
        assert "commit" in memory.tick(dry_run=True)["ran"]
        assert first.once()
        assert not second.once()
        assert first.once()
        assert memory.tick(dry_run=True)["ran"] == []
    first.stop()
    assert second.once()
    second.stop()
