"""The whole way with a model: sessions in, entries out; over real HTTP, killed anywhere, ten at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.models.scripted import Say, scripted
from tests.pipeline.opening import Clock
from tests.pipeline.scripted import echo
from tests.pipeline.sessions import NOW, claude, fill
from tests.pipeline.test_importing import tree
from tests.pipeline.test_summarise import talk

from lamina.memory import Memory

ROOT = Path(__file__).parents[1]


def sessions(folder: Path, count: int) -> Path:
    fill(folder, 0)
    for number in range(count):
        claude(folder, f"s{number}", talk(number), cwd="/srv/shop")
    return folder


def memory(tmp_path: Path, model=echo, **more) -> Memory:
    env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    return Memory.open(tmp_path / "store", cwd=tmp_path, env=env, clock=Clock(NOW), model=model, **more)


def answered(request) -> Say:
    return Say(echo(request.text))


def run(tmp_path: Path, *arguments: str, url: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "home").mkdir(exist_ok=True)
    more = {"LAMINA_MODEL": "custom/test", "LAMINA_MODEL_BASE_URL": url} if url else {}
    return subprocess.run(
        [sys.executable, "-m", "lamina", *arguments, "--root", str(tmp_path / "store")],
        env={"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], **more, **env},
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_sessions_become_entries_through_a_real_endpoint(tmp_path: Path) -> None:
    folder = sessions(tmp_path / "t", 3)
    with scripted(answered) as server:
        done = run(tmp_path, "import", str(folder), "--json", url=server.url)
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout.splitlines()[-1])
        assert (summary["sessions"], summary["model"]["used"]) == (3, True)
        assert summary["entries"] > 5
        assert len(server.requests) == 4  # a summary each, and one consolidation
        run(tmp_path, "import", str(folder), url=server.url)
        assert len(server.requests) == 4
    status = json.loads(run(tmp_path, "status", "--json").stdout)
    assert (status["models"]["calls"], status["notes"]["pending"]) == (4, 0)
    hits = json.loads(run(tmp_path, "search", "cache of module m2", "--scope", "all", "--json").stdout)[
        "hits"
    ]
    assert "6002" in " ".join(hit["heading"] for hit in hits[:3])
    chain = json.loads(run(tmp_path, "why", hits[0]["id"], "--json").stdout)["chain"]
    assert {link["kind"] for link in chain} >= {"entry", "note", "session", "evidence"}


def test_a_dead_endpoint_loses_nothing_and_says_what_to_do(tmp_path: Path) -> None:
    folder = sessions(tmp_path / "t", 3)
    done = run(tmp_path, "import", str(folder), url="http://127.0.0.1:9/v1")
    assert done.returncode == 0
    assert "3 sessions wait for the model" in done.stdout
    assert "lamina import --model none" in done.stdout
    assert not list((tmp_path / "store" / "digests").glob("*.md"))
    with scripted(answered) as server:
        assert "read 3 sessions" in run(tmp_path, "import", str(folder), url=server.url).stdout
    assert json.loads(run(tmp_path, "status", "--json").stdout)["notes"]["pending"] == 0


def test_what_stands_in_the_way_of_memories_is_told_by_the_import(tmp_path: Path) -> None:
    run(tmp_path, "init")
    (tmp_path / "store/workspaces/shop").mkdir(parents=True)
    (tmp_path / "store/workspaces/shop/semantic").write_text("in the way")
    with scripted(answered) as server:
        told = run(tmp_path, "import", str(sessions(tmp_path / "t", 2)), url=server.url).stdout
    assert "not written: " in told
    assert "semantic: is a file, not a folder" in told


def test_a_dead_endpoint_is_asked_once_a_run_and_not_once_a_session(tmp_path: Path) -> None:
    folder = sessions(tmp_path / "t", 6)
    with scripted(Say(status=500, text="down")) as server:
        run(tmp_path, "import", str(folder), url=server.url)
        assert len(server.requests) == 1


def test_more_than_twenty_sessions_need_to_be_asked_for(tmp_path: Path) -> None:
    folder = sessions(tmp_path / "t", 21)
    plan = memory(tmp_path).import_sessions([folder], dry_run=True)
    assert plan["sessions"] == 21
    assert plan["estimate"]["calls"] >= 21
    asked = []

    def counting(text: str) -> str:
        asked.append(text)
        return echo(text)

    done = memory(tmp_path, counting).import_sessions([folder])
    assert (done["model"]["used"], done["model"]["left_out"], asked) == (False, 21, [])
    other = tmp_path / "other"
    other.mkdir()
    done = memory(other, counting).import_sessions([folder], model="auto")
    assert done["model"]["used"]
    assert len(asked) == 21 + 4


def test_the_estimate_is_near_what_is_asked(tmp_path: Path) -> None:
    folder = sessions(tmp_path / "t", 12)
    asked = []

    def counting(text: str) -> str:
        asked.append(text)
        return echo(text)

    guess = memory(tmp_path, counting).import_sessions([folder], dry_run=True)["estimate"]
    memory(tmp_path, counting).import_sessions([folder])
    tokens = sum(map(len, asked)) / 4
    assert abs(guess["calls"] - len(asked)) <= 1
    assert 0.5 * tokens < guess["tokens_in"] < 2 * tokens


def test_a_model_that_talks_nonsense_is_given_up_after_three_sessions(tmp_path: Path) -> None:
    asked = []

    def nonsense(text: str) -> str:
        asked.append(text)
        return "As an AI I like memory."

    folder = sessions(tmp_path / "t", 8)
    done = memory(tmp_path, nonsense).import_sessions([folder])
    assert len(asked) == 5  # twice about each, but once about the third
    assert "could not be used" in done["model"]["waits"]
    assert (done["model"]["needs_review"], done["skipped"]["waiting"]) == (2, 6)
    done = memory(tmp_path).import_sessions([folder])
    assert (done["sessions"], done["skipped"]["waiting"]) == (6, 0)


def test_a_reply_that_can_not_be_written_is_not_paid_again_at_every_tick(tmp_path: Path) -> None:
    opened = memory(tmp_path)
    for path in sorted(sessions(tmp_path / "t", 3).iterdir()):
        opened.capture(path, final=True)
    (tmp_path / "store/workspaces/shop/semantic").write_text("in the way")
    asked = []

    def counting(text: str) -> str:
        asked.append(text)
        return echo(text)

    for _ in range(5):
        memory(tmp_path, counting).tick()
    assert len(asked) == 1
    (tmp_path / "store/workspaces/shop/semantic").unlink()
    assert memory(tmp_path, counting).consolidate()["notes"] == 3


def test_a_model_can_be_left_out_for_one_command(tmp_path: Path) -> None:
    def never(text: str) -> str:
        raise AssertionError

    done = memory(tmp_path, never).import_sessions([sessions(tmp_path / "t", 2)], model="none")
    assert (done["sessions"], done["model"]["used"], done["entries"] > 0) == (2, False, True)


def test_the_tick_consolidates_with_the_model(tmp_path: Path) -> None:
    folder = sessions(tmp_path / "t", 3)
    opened = memory(tmp_path)
    for path in sorted(folder.iterdir()):
        assert opened.capture(path, final=True)["status"] == "captured"
    assert "consolidate" in opened.tick()["ran"]
    assert opened.status()["notes"]["pending"] == 0


CHILD = """\
import os, signal, sys
from datetime import datetime, timezone
from tests.pipeline.scripted import echo
from lamina.memory import Memory

root, folder, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
seen = 0

def step(event, _arguments):
    global seen
    if event in ("os.rename", "os.remove", "os.link"):
        seen += 1
        if seen == last:
            os.kill(os.getpid(), signal.SIGKILL)

def model(text):
    step("os.rename", ())
    answer = echo(text)
    step("os.rename", ())
    return answer

clock = lambda: datetime(2026, 12, 1, 12, tzinfo=timezone.utc)
memory = Memory.open(root, cwd=folder, env={"HOME": folder, "PATH": os.environ["PATH"]}, clock=clock, model=model)
sys.addaudithook(step)
memory.import_sessions([folder])
print(seen)
"""


def child(root: Path, folder: Path, last: int) -> subprocess.CompletedProcess[str]:
    env = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": os.environ["PATH"], "HOME": str(folder)}
    arguments = [sys.executable, "-c", CHILD, str(root), str(folder), str(last)]
    return subprocess.run(arguments, env=env, capture_output=True, text=True, check=False, timeout=120)


def lasting(root: Path) -> dict[str, str]:
    counted = ("state/usage", "state/models", "state/attempts", "state/ids", "state/.lamina-")
    return {rel: text for rel, text in tree(root).items() if not rel.startswith(counted)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[Path, dict[str, str], int]:
    base = tmp_path_factory.mktemp("whole")
    folder = sessions(base / "t", 4)
    done = child(base / "store", folder, 0)
    assert done.returncode == 0, done.stderr
    return folder, lasting(base / "store"), int(done.stdout)


@pytest.mark.parametrize("part", [each / 16 for each in range(1, 16)])
def test_killed_between_any_two_steps_a_rerun_ends_with_the_same_store(
    tmp_path: Path, whole, part: float
) -> None:
    folder, wanted, steps = whole
    killed = child(tmp_path / "store", folder, max(1, round(part * steps)))
    # How many steps a run has depends a little on the clock (caches are stamped), so the last may not come.
    assert killed.returncode == -signal.SIGKILL or (part > 0.7 and killed.returncode == 0)
    done = child(tmp_path / "store", folder, 0)
    assert done.returncode == 0, done.stderr
    assert lasting(tmp_path / "store") == wanted


def test_ten_at_once_ask_and_write_as_one(tmp_path: Path, whole) -> None:
    folder, wanted, _ = whole
    env = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": os.environ["PATH"], "HOME": str(folder)}
    arguments = [sys.executable, "-c", CHILD, str(tmp_path / "store"), str(folder), "0"]
    running = [subprocess.Popen(arguments, env=env, stderr=subprocess.PIPE, text=True) for _ in range(10)]
    for process in running:
        _, problem = process.communicate(timeout=180)
        assert process.returncode == 0, problem
    entries = [text for rel, text in lasting(tmp_path / "store").items() if "/semantic/" in rel]
    assert sorted(entries) == sorted(text for rel, text in wanted.items() if "/semantic/" in rel)
    status = Memory.open(tmp_path / "store", env={"HOME": str(tmp_path)}).status()
    assert status["models"]["calls"] == 5  # a summary each, one consolidation: nothing was paid twice
