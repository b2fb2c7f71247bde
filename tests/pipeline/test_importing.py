"""Import: every session once, in order, streaming; killed at any moment it ends with the same store."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from tests.pipeline.sessions import NOW, T0, append, bytes_of, claude, codex, fill, opened, resolver, talk

from lamina.errors import BadInput, BadTranscript, NoSuchFile, Refused
from lamina.hosts.render import Said
from lamina.pipeline.importing import capture_one, import_sessions, plan_import
from lamina.store import notes, watermarks
from lamina.store.identity import resolve
from lamina.store.registry import Registry
from lamina.store.store import Store

ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path):
    return opened(tmp_path)


def imported(store, *paths, steps=None, **more):
    return import_sessions(
        store,
        [Path(path) for path in paths],
        home=store.root.parent,
        env=more.pop("env", {}),
        resolve=more.pop("resolve", resolver(store, store.root.parent)),
        now=lambda: NOW,
        progress=(steps if steps is not None else []).append,
        **more,
    )


def text_of(store) -> str:
    return "\n".join(
        path.read_text() for path in sorted(store.root.rglob("*.md")) if "digests" not in path.parts
    )


def test_sessions_become_entries(store, tmp_path):
    fill(tmp_path / "t", 4)
    steps = []
    summary = imported(store, tmp_path / "t", steps=steps)
    assert summary["sessions"] == summary["notes"] == 4
    assert summary["events"] >= 4 * 5
    assert summary["entries"] == len(list(store.entries())) >= 4
    assert summary["damaged"] == []
    assert set(summary["skipped"].values()) == {0}
    assert [step["number"] for step in steps] == [1, 2, 3, 4]
    assert {(step["of"], step["status"], step["host"]) for step in steps} == {(4, "captured", "claude-code")}
    assert {step["note"] for step in steps} == {f"digests/{each.name}.md" for each in notes.notes(store)}
    assert {scope.key for scope in store.scopes()} == {None, "p0", "p1"}
    assert notes.pending(store) == []
    assert "6003" in text_of(store)
    json.dumps(summary)


def test_sessions_are_taken_in_the_order_of_their_beginning(store, tmp_path):
    for number, name in ((3, "a"), (1, "b"), (2, "c")):
        claude(tmp_path / "t", name, talk(number), started=T0 + timedelta(hours=number))
    steps = []
    imported(store, tmp_path / "t", steps=steps)
    dates = [watermarks.load(store, "claude-code", step["session"]).captured for step in steps]
    begun = {note.note.session: note.note.started for note in notes.notes(store)}
    assert len(dates) == 3
    assert [begun[step["session"]] for step in steps] == sorted(begun.values())


def test_a_second_run_reads_only_what_is_new(store, tmp_path):
    paths = fill(tmp_path / "t", 5)
    imported(store, tmp_path / "t")
    before = bytes_of(store.root)
    again = imported(store, tmp_path / "t")
    assert (again["sessions"], again["events"], again["entries"], again["skipped"]["known"]) == (0, 0, 0, 5)
    assert bytes_of(store.root) == before
    append(paths[2], talk(40))
    fill(tmp_path / "t", 1, start=7)
    more = imported(store, tmp_path / "t")
    assert (more["sessions"], more["skipped"]["known"]) == (2, 4)
    assert "6040" in text_of(store)


def test_unchanged_files_are_not_even_opened(store, tmp_path):
    paths = fill(tmp_path / "t", 3)
    imported(store, tmp_path / "t")
    stamps = {path: path.stat() for path in paths}
    for path in paths:
        path.write_bytes(b"x" * stamps[path].st_size)
        os.utime(path, ns=(stamps[path].st_atime_ns, stamps[path].st_mtime_ns))
    again = imported(store, tmp_path / "t")
    assert (again["skipped"]["known"], again["damaged"]) == (3, [])


def test_every_hosts_own_place_is_found(store, tmp_path):
    claude(tmp_path / ".claude/projects/-work-shop", "a", talk(1))
    claude(tmp_path / ".claude/projects/-work-shop/x/subagents", "b", talk(2), agent="abc")
    codex(tmp_path / ".codex/sessions/2026/11/30", "c", talk(3))
    memory = tmp_path / ".claude/projects/-work-shop/memory/a.jsonl"
    memory.parent.mkdir(parents=True)
    shutil.copy(next((tmp_path / ".claude/projects/-work-shop").glob("*.jsonl")), memory)
    summary = imported(store)
    assert (summary["sessions"], summary["skipped"]["subagent"]) == (2, 1)
    again = imported(store, host="codex")
    assert again["skipped"] == dict.fromkeys(again["skipped"], 0) | {"known": 1}
    assert imported(store)["skipped"]["subagent"] == 1


def test_a_token_in_a_remote_reaches_no_byte(store, tmp_path):
    tokens = [
        "gh" + "p_" + hashlib.sha256(name.encode()).hexdigest()[:36] for name in ("user", "path", "name")
    ]
    urls = ("https://bob:{}@x.dev/o/shop.git", "https://x.dev/{}/shop.git", "https://x.dev/o/{}.git")
    for number, (url, token) in enumerate(zip(urls, tokens, strict=True)):
        cwd = f"/gone/place{number}"
        codex(tmp_path / "t", f"s{number}", talk(number), cwd=cwd, remote=url.format(token))

    def workspace(session):
        return resolve(
            session.cwd,
            registry=Registry.load(store.root),
            env={},
            home=tmp_path,
            transcript_remote=session.remote,
        )

    assert imported(store, tmp_path / "t", resolve=workspace)["sessions"] == 3
    held = bytes_of(store.root).decode(errors="replace").lower()
    assert not [token for token in tokens if token.lower() in held]
    assert "x.dev/o/shop" in held


def test_an_unknown_host_is_named(store):
    with pytest.raises(BadInput, match="emacs"):
        imported(store, host="emacs")


def test_one_bad_file_never_stops_the_rest(store, tmp_path):
    folder = tmp_path / "t"
    fill(folder, 2)
    (folder / "junk.jsonl").write_bytes(b"\xff\xfe\x00 nothing")
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "list.json").write_text("[1, 2]")
    (folder / "notes.txt").write_text("not looked at")
    (folder / "dir.jsonl").mkdir()
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.jsonl")
    broken = claude(folder, "broken", talk(9))
    broken.write_text(broken.read_text().replace('"assistant"', "assistant", 1))
    summary = imported(store, folder, tmp_path / "gone")
    assert summary["sessions"] == 3
    named = {Path(each["file"]).name for each in summary["damaged"]}
    assert named == {"junk.jsonl", "empty.jsonl", "list.json", "gone", broken.name}
    assert all(each["reason"] for each in summary["damaged"])


def test_the_only_path_must_exist(store, tmp_path):
    with pytest.raises(NoSuchFile, match="gone"):
        imported(store, tmp_path / "gone")


def test_what_is_skipped_is_counted(store, tmp_path):
    folder = tmp_path / "t"
    claude(folder, "a", [Said("user", "ping"), Said("assistant", "pong")])
    claude(folder, "b", talk(1), agent="abc")
    claude(folder, "c", talk(2), cwd=str(store.root))
    claude(folder, "d", [Said("user", "We use pnpm, not npm."), Said("assistant", "Noted: pnpm it is.")])
    summary = imported(store, folder)
    assert (summary["sessions"], summary["notes"]) == (1, 1)
    assert {why: n for why, n in summary["skipped"].items() if n} == {"trivial": 1, "subagent": 1, "own": 1}
    assert "pnpm" in text_of(store)


def test_a_session_that_may_not_be_captured_is_left_out(store, tmp_path):
    fill(tmp_path / "t", 2)

    def choosy(session):
        if session.cwd.endswith("p1"):
            raise Refused("excluded")
        return resolver(store, tmp_path)(session)

    summary = imported(store, tmp_path / "t", resolve=choosy)
    assert (summary["sessions"], summary["skipped"]["off"]) == (1, 1)
    assert imported(store, tmp_path / "t", resolve=choosy)["skipped"]["off"] == 1


def test_one_session_in_two_files_is_one_note(store, tmp_path):
    first = claude(tmp_path / "t" / "a", "a", talk(1))
    second = tmp_path / "t" / "b" / "copy.jsonl"
    second.parent.mkdir(parents=True)
    shutil.copy(first, second)
    append(second, talk(2))
    summary = imported(store, tmp_path / "t")
    assert (summary["sessions"], summary["notes"]) == (1, 1)
    (found,) = notes.notes(store)
    assert " ".join(bullet.text for bullet in found.note.bullets).count("6001") == 1
    assert imported(store, tmp_path / "t")["skipped"]["known"] == 1


def test_a_plan_reads_heads_and_writes_nothing(store, tmp_path):
    fill(tmp_path / "t", 3)
    claude(tmp_path / "t", "z", talk(9), agent="abc")
    before = bytes_of(store.root)
    plan = plan_import(store, [tmp_path / "t"], home=tmp_path, env={})
    assert (plan["sessions"], plan["skipped"]["subagent"], plan["events"]) == (3, 1, 0)
    assert plan_import(None, [tmp_path / "t"], home=tmp_path, env={})["sessions"] == 3
    assert bytes_of(store.root) == before


def one(store, path, **more):
    return capture_one(store, path, resolve=resolver(store, store.root.parent), now=NOW, final=True, **more)


def test_one_transcript_is_captured_with_its_siblings(store, tmp_path):
    first = claude(tmp_path / "t" / "a", "a", talk(1))
    assert one(store, first)["status"] == "captured"
    second = tmp_path / "t" / "b" / "copy.jsonl"
    second.parent.mkdir(parents=True)
    shutil.copy(first, second)
    append(second, talk(2))
    done = one(store, second)
    assert done["status"] == "captured"
    assert done["events"] < len(second.read_text().splitlines())
    assert one(store, first)["status"] == one(store, second)["status"] == "known"


def test_a_file_of_no_host_is_named(store, tmp_path):
    (tmp_path / "x.jsonl").write_text("{}\n")
    with pytest.raises(BadTranscript, match=r"x\.jsonl"):
        one(store, tmp_path / "x.jsonl")
    with pytest.raises(NoSuchFile):
        one(store, tmp_path / "gone.jsonl")


SCRIPT = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from lamina.pipeline.importing import import_sessions
from lamina.store.store import Store
from tests.pipeline.sessions import NOW, resolver
root, folder = Path(sys.argv[1]), Path(sys.argv[2])
store = Store.open(root, create=True, now=NOW)
print("ready", flush=True)
import_sessions(store, [folder], home=root.parent, env={}, resolve=resolver(store, root.parent), now=lambda: datetime.now(UTC),
                progress=lambda step: print(step["number"], flush=True))
"""


def started(root: Path, folder: Path) -> subprocess.Popen[str]:
    env = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": os.environ["PATH"], "HOME": str(root.parent)}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(root), str(folder)], stdout=subprocess.PIPE, text=True, env=env
    )


_TIME = re.compile(r"20\d\d-\d\d-\d\dT[0-9:.]+(?:Z|\+00:00)")
_UID = re.compile(r'"uid": "[0-9a-f]{32}"')


def tree(root: Path) -> dict[str, str]:
    """What a store holds, without the times of capture, what is derived and what only counts."""
    found = {}
    for path in sorted(root.rglob("*")):
        rel = path.relative_to(root).as_posix()
        if path.is_file() and not rel.startswith(
            (
                ".git/",
                "index/",
                "logs/",
                "state/journal",
                "state/metrics",
                "state/activity",
                "state/ledger",
                "state/dirty",
                "state/locks",
                "state/staging",
            )
        ):
            lines = [
                line
                for line in path.read_text().splitlines()
                if not line.startswith(("**Captured:**", "**Consolidated:**"))
            ]
            if rel.startswith("state/sessions"):
                lines = [line for line in lines if '"captured"' not in line]
            text = _UID.sub("", "\n".join(lines))
            found[rel] = _TIME.sub("", text) if rel.endswith((".json", ".jsonl")) else text
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder of sessions, and the store of an import that nobody disturbed."""
    base = tmp_path_factory.mktemp("whole")
    paths = fill(base / "t", 14)
    second = base / "t" / "again.jsonl"
    shutil.copy(paths[3], second)
    append(second, talk(30))
    with started(base / "store", base / "t") as process:
        assert process.wait(60) == 0
    return base / "t", tree(base / "store")


@pytest.mark.parametrize("moment", ["ready", 1, 3, 6, 9, 12, 14, 0.03, 0.1])
def test_killed_and_started_again_it_ends_with_the_same_store(tmp_path, whole, moment):
    folder, wanted = whole
    root = tmp_path / "store"
    with started(root, folder) as process:
        for line in process.stdout:
            if line.strip() == str(moment) or (isinstance(moment, float) and line.strip() == "14"):
                break
        time.sleep(moment if isinstance(moment, float) else 0.004)
        process.send_signal(signal.SIGKILL)
    with started(root, folder) as process:
        assert process.wait(60) == 0
    assert tree(root) == wanted
    Store.open(root)


PEAK = """\
from pathlib import Path
status = Path("/proc/self/status")  # ru_maxrss of a child begins with its parent's
peak = int(status.read_text().split("VmHWM:")[1].split()[0]) if status.exists() else resource.getrusage(0).ru_maxrss
"""


def test_memory_stays_bounded_for_a_file_of_any_size(tmp_path):
    turns = [turn for number in range(60) for turn in talk(number)]
    path = claude(tmp_path / "t", "a", turns)
    lines = path.read_text().splitlines(keepends=True)
    record = next(json.loads(line) for line in lines if '"tool_result"' in line)
    with path.open("a") as file:
        for number in range(900):
            record["uuid"] = f"{number:08d}"
            record["message"]["content"][0] |= {
                "content": f"line {number}\n" * 5_000,
                "tool_use_id": f"toolu_{number}",
            }
            file.write(json.dumps(record) + "\n")
        file.writelines(line.replace('"uuid":"', '"uuid":"9') for line in lines[2:])
    assert path.stat().st_size > 45_000_000
    code = SCRIPT + "\nimport resource\n" + PEAK + "print('peak', peak // 1024)\n"
    env = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    out = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "store"), str(tmp_path / "t")],
        capture_output=True,
        text=True,
        check=True,
        env=env,
    )
    assert int(out.stdout.split()[-1]) < 200
