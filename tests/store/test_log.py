from __future__ import annotations

import json
import threading

from tests.store.making import NOW, remember
from tests.store.test_files import limited

from lamina.store import log
from lamina.store.store import Store


def test_the_log_is_json_lines_and_rotates(store: Store) -> None:
    log.log(store.layout, "capture", at=NOW, session="é", n=1, where=store.root)
    path = store.root / "logs/memory.log"
    assert json.loads(path.read_text()) == {
        "time": "2026-11-30T12:00:00Z", "event": "capture", "session": "é", "n": 1, "where": str(store.root),
    }  # fmt: skip
    path.write_bytes(b"x" * log.MAX_LOG_BYTES)
    log.log(store.layout, "next", at=NOW)
    assert path.stat().st_size < 200
    assert (store.root / "logs/memory.log.1").stat().st_size == log.MAX_LOG_BYTES


def test_a_long_line_is_clipped_and_stays_json(store: Store) -> None:
    log.log(store.layout, "x", at=NOW, reply="y" * 100_000, odd="a\ud800b\nc")
    [line] = (store.root / "logs/memory.log").read_text().splitlines()
    assert len(line) < 20_000
    assert json.loads(line)["reply"].endswith("…")


def test_counters_of_many_threads_add_up(store: Store) -> None:
    def work() -> None:
        for _ in range(25):
            log.count(store.layout, {"model.calls": 1, "saved.thin": 2})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log.metrics(store.layout) == {"model.calls": 100, "saved.thin": 200}


def test_damaged_counters_start_anew(store: Store) -> None:
    for text in ("{", "[]", '{"a": "b"}'):
        (store.root / "state/metrics.json").write_text(text)
        assert log.metrics(store.layout) == {}
    log.count(store.layout, {"a": 1})
    assert log.metrics(store.layout) == {"a": 1}


def test_the_activity_feed_is_bounded(store: Store) -> None:
    path = store.root / "state/activity.jsonl"
    path.write_text("".join(f'{{"n": {n}}}\n' for n in range(log.MAX_ACTIVITY_LINES)))
    log.activity(store.layout, "remembered", at=NOW, id="x")
    lines = path.read_text().splitlines()
    assert len(lines) <= log.MAX_ACTIVITY_LINES
    path.write_text(path.read_text() + "damaged\n")
    assert log.recent_activity(store.layout, 3)[-1]["text"] == "remembered"


def test_logging_never_fails(store: Store) -> None:
    with limited(10):
        log.log(store.layout, "x" * 100, at=NOW)
        log.count(store.layout, {"x" * 100: 1})
        log.activity(store.layout, "x" * 100, at=NOW)
    for name in ("logs/memory.log", "state/metrics.json", "state/activity.jsonl"):
        path = store.root / name
        path.unlink(missing_ok=True)
        path.symlink_to(store.root / "memory.json")
    before = (store.root / "memory.json").read_text()
    log.log(store.layout, "x", at=NOW)
    log.activity(store.layout, "x", at=NOW)
    assert (store.root / "memory.json").read_text() == before
    assert log.recent_activity(store.layout) == []


def test_every_write_of_memory_leaves_a_line_of_activity(store: Store) -> None:
    remember(store, "One")
    with store.writing(label="pause", at=NOW) as batch:
        batch.put("state/pause.json", "{}\n")
    [line] = log.recent_activity(store.layout)
    assert line == {
        "time": "2026-11-30T12:00:00Z", "text": "remember", "files": 1, "folders": ["global/semantic"],
    }  # fmt: skip
