"""The file behind a core: killed, busy, damaged, full, foreign, and used by many at once."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing, suppress
from random import Random

import pytest
from tests.index.standin import Hashed
from tests.semantic.cores import ESM, NOW, PORT, Talk, builtin, fact, is_sound, promote, rows, states

from lamina import errors
from lamina.formats.hashing import content_hash
from lamina.index import core, coredisk
from lamina.pipeline.semantic import Promote, Purge, Record, Supersede

ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
MANY = 400
STORING = """
import resource, signal, sys
from pathlib import Path
from tests.semantic.cores import builtin, fact
size, way = int(sys.argv[2]), sys.argv[3]
if size:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if way == "kill" else signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
print("ready", flush=True)
new = [fact(f"number {n} of many words about gateways") for n in range(400)]
done = builtin(Path(sys.argv[1])).ingest(new)
print({(each.ok, each.error) for each in done})
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors.db"


def start(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def filled(path):
    builtin(path).ingest([fact(ESM), fact(PORT)])
    builtin(path).refine([Promote(content_hash(ESM), 0.8)])


def test_it_is_a_file_for_its_owner_alone_and_nothing_lies_beside_it(path):
    mask = os.umask(0)
    try:
        filled(path)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["vectors.db"]


@pytest.mark.parametrize("size", [1, 700, 4_096, 20_000, 46_000, 70_000, 130_000])
def test_killed_at_a_byte_it_holds_the_old_or_the_new(path, size):
    filled(path)
    code, _, err = finished(start(STORING, path, size, "kill"))
    assert code in (0, -signal.SIGXFSZ), err
    assert Talk(path).found("ESM") == [ESM]
    assert is_sound(path)
    assert len(states(path)) in (2, 2 + MANY)
    assert all(each.ok for each in builtin(path).ingest([fact("one more")]))


def test_killed_at_any_time_it_holds_the_old_or_the_new(path):
    filled(path)
    seen = set()
    for wait in (0.0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.12, 1.0):
        process = start(STORING, path, 0, "")
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)
        process.kill()
        finished(process)
        assert Talk(path).found("ESM") == [ESM]
        assert is_sound(path)
        seen.add(len(states(path)))
        if len(states(path)) > 2:
            path.unlink()
            filled(path)
    assert seen <= {2, 2 + MANY}


@pytest.mark.parametrize("size", [1, 4_096, 20_000, 60_000])
def test_a_full_disk_is_a_failure_and_no_damage(path, size):
    filled(path)
    code, out, err = finished(start(STORING, path, size, "fail"))
    assert (code, out.splitlines()[1]) == (0, "{(False, 'unwritable')}"), (out, err)
    assert is_sound(path)
    assert len(states(path)) == 2
    assert coredisk.broken(path) == ""


def test_ten_processes_at_once_lose_nothing(path):
    script = (
        "import sys; from pathlib import Path; from tests.semantic.cores import *\n"
        "for n in range(8):\n"
        "    done = builtin(Path(sys.argv[1])).ingest([fact(f'{sys.argv[2]} says {n}'), fact('all say this')])\n"
        "    while not all(each.ok for each in done):\n"
        "        assert {each.error for each in done} <= {'', 'busy'}, done\n"
        "        done = builtin(Path(sys.argv[1])).ingest([fact(f'{sys.argv[2]} says {n}'), fact('all say this')])\n"
    )
    running = [start(script, path, n) for n in range(10)]
    assert [finished(each)[0::2] for each in running] == [(0, "")] * 10
    assert len(states(path)) == 81
    assert is_sound(path)


def test_a_file_that_is_kept_is_busy_and_then_not(path):
    filled(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # it can be read, but not written
        began = time.monotonic()
        assert [each.error for each in builtin(path).ingest([fact("new")])] == ["busy"]
        assert time.monotonic() - began < 10
        with pytest.raises(errors.CoreUnavailable) as told:
            Talk(path).refine(promote(PORT))
        assert (told.value.exit_code, told.value.damaged) == (4, False)
        assert Talk(path).found("ESM") == [ESM]
        other.execute("COMMIT")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(errors.CoreUnavailable):
            Talk(path).query("ESM")
        assert coredisk.broken(path, wait_s=0.1) == ""
        assert [each.error for each in builtin(path).rebuild([Record(fact(PORT), approved=True)])] == ["busy"]
    assert [each.ok for each in builtin(path).ingest([fact("new")])] == [True]


def test_made_anew_while_others_write_it_is_never_damaged(path):
    filled(path)
    writing = (
        "import sys; from pathlib import Path; from tests.semantic.cores import builtin, fact\n"
        "for n in range(40):\n"
        "    done = builtin(Path(sys.argv[1])).ingest([fact(f'{sys.argv[2]} says {n}')])\n"
        "    assert done[0].error in ('', 'busy'), done\n"
    )
    running = [start(writing, path, n) for n in range(3)]
    while any(each.poll() is None for each in running):
        done = builtin(path).rebuild([Record(fact(ESM), approved=True)])
        assert done[0].error in ("", "busy")
        assert coredisk.broken(path) == ""
    assert [finished(each)[0::2] for each in running] == [(0, "")] * 3
    assert Talk(path).found("ESM") == [ESM]
    assert is_sound(path)
    assert os.listdir(path.parent) == ["vectors.db"]


def test_killed_while_made_anew_it_holds_the_old_or_the_new(path):
    script = (
        "import sys; from pathlib import Path; from tests.semantic.cores import builtin, fact\n"
        "from lamina.pipeline.semantic import Record\n"
        "new = [Record(fact(f'number {n}'), True) for n in range(300)]\n"
        "print('ready', flush=True)\n"
        "while True: builtin(Path(sys.argv[1])).rebuild(new); new.reverse()\n"
    )
    filled(path)
    for wait in (0.0, 0.01, 0.03, 0.05, 0.08, 0.13, 0.21):
        process = start(script, path)
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)
        process.kill()
        finished(process)
        assert is_sound(path)
        assert len(Talk(path).found("ESM number", limit=500)) in (1, 300)
    assert all(each.ok for each in builtin(path).rebuild([Record(fact(ESM), approved=True)]))
    assert os.listdir(path.parent) == ["vectors.db"]


def test_whatever_bytes_are_wrong_it_is_told_and_mended(path):
    facts = [fact(f"number {n} of the gateway's ports") for n in range(60)]
    builtin(path, Hashed()).ingest(facts)
    data, chance = path.read_bytes(), Random(6)
    for _ in range(25):
        wrong = bytearray(data)
        for _ in range(chance.choice([1, 3, 40])):
            at = chance.randrange(len(wrong))
            size = min(chance.choice([1, 4, 64, 4_096]), len(wrong) - at)
            wrong[at : at + size] = chance.randbytes(size)
        path.write_bytes(wrong)
        for ask in (Talk.ingest, Talk.found):
            with suppress(errors.CoreUnavailable):
                ask(Talk(path, Hashed()), "gateway 7")
        builtin(path, Hashed()).ingest([fact("more")])
        builtin(path).refine([Supersede(facts[3].hash), Purge(facts[3].hash)])
        assert all(
            each.ok
            for each in builtin(path, Hashed()).rebuild([Record(each, approved=True) for each in facts])
        )
        assert is_sound(path)
        assert len(Talk(path).found("gateway", limit=100)) == 60


def truncated(path):
    os.truncate(path, path.stat().st_size // 2)


def overwritten(path):
    data = bytearray(path.read_bytes())
    data[4_096:] = os.urandom(len(data) - 4_096)
    path.write_bytes(data)


def garbage(path):
    path.write_bytes(b"no database at all\n" * 500)


def foreign(path):
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE theirs (a)")


@pytest.mark.parametrize("damage", [truncated, overwritten, garbage, foreign])
def test_a_damaged_file_is_told_kept_and_made_anew(path, damage):
    filled(path)
    damage(path)
    data = path.read_bytes()
    assert coredisk.broken(path) == "damaged"
    with pytest.raises(errors.CoreUnavailable) as told:
        Talk(path).query("ESM")
    assert (told.value.exit_code, told.value.damaged) == (4, True)
    assert [each.error for each in builtin(path).ingest([fact("new")])] == ["damaged"]
    assert path.read_bytes() == data
    for _ in range(2):
        assert all(each.ok for each in builtin(path).rebuild([Record(fact(ESM), approved=True)]))
    assert Talk(path).found("ESM") == [ESM]
    assert path.with_name("vectors.db.damaged-20261202T100000Z").read_bytes() == data
    assert len(os.listdir(path.parent)) == 2
    path.write_bytes(data)
    builtin(path).rebuild([])
    assert path.with_name("vectors.db.damaged-20261202T100000Z-2").read_bytes() == data


def test_an_empty_file_counts_as_none(path):
    path.touch()
    assert coredisk.broken(path) == "missing"
    assert Talk(path).query("ESM")[1]["results"] == []
    assert path.stat().st_size == 0
    filled(path)
    assert Talk(path).found("ESM") == [ESM]


def test_a_file_of_a_newer_version_is_left_alone(path):
    filled(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    data = path.read_bytes()
    assert coredisk.broken(path) == ""
    with pytest.raises(errors.CoreUnavailable, match="newer"):
        Talk(path).ingest("new")
    assert [each.ok for each in builtin(path).rebuild([Record(fact(ESM), approved=True)])] == [False]
    assert path.read_bytes() == data
    assert os.listdir(path.parent) == ["vectors.db"]


@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "fifo"])
def test_what_is_no_plain_file_is_refused(path, tmp_path, kind):
    theirs = tmp_path / "theirs"
    if kind == "link":
        filled(theirs)
    data = theirs.read_bytes() if theirs.exists() else b""
    match kind:
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case _:
            path.symlink_to(theirs)
    with pytest.raises(errors.UnsafePath):
        Talk(path).ingest("new")
    with pytest.raises(errors.UnsafePath):
        Talk(path).query("new")
    assert {each.error for each in builtin(path).ingest([fact("new")])} == {"unsafe_path"}
    assert {each.error for each in builtin(path).rebuild([Record(fact(ESM), approved=True)])} == {
        "unsafe_path"
    }
    assert path.is_symlink() == (kind in ("link", "dangling"))
    assert (theirs.read_bytes() if theirs.exists() else b"") == data


def test_whoever_has_it_open_while_it_is_made_anew_goes_on_with_the_new_records(path):
    filled(path)
    with core.opened(path, at=NOW) as records:
        assert records.get(content_hash(ESM))
        assert all(each.ok for each in builtin(path).rebuild([Record(fact(PORT), approved=True)]))
        with records.change():
            records.promote(content_hash(PORT), 0.1)
        assert records.get(content_hash(ESM)).status == "purged"
    assert Talk(path).found("ESM port") == [PORT]
    assert is_sound(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_takes_nothing_is_told(path):
    path.parent.chmod(0o500)
    try:
        assert {each.error for each in builtin(path).ingest([fact("new")])} == {"unwritable"}
    finally:
        path.parent.chmod(0o700)


def test_five_thousand_bullets_are_stored_and_found_in_time(path):
    facts = [
        fact(f"Decision {n}: the gateway number {n} listens on port {n}, because it can.")
        for n in range(5_000)
    ]
    began = time.monotonic()
    assert all(each.ok for each in builtin(path, Hashed()).ingest(facts))
    stored = time.monotonic() - began
    assert all(each.ok for each in builtin(path).refine([Promote(each.hash, 0.8) for each in facts]))
    began = time.monotonic()
    assert len(Talk(path).found("gateway 4711")) == 5
    assert stored < 10
    assert time.monotonic() - began < 2
    assert len(rows(path, "SELECT 1 FROM event")) == 10_000


def test_what_cannot_be_stored_fails_alone(path):
    secret = "The key is sk-ant-" + "api03-" + "Zx9" * 30
    wrong = fact(ESM)._replace(hash="0" * 64)
    facts = [fact(PORT), wrong, fact(secret), fact("  "), fact("half \ud800 pair"), fact("long " * 20_000)]
    done = builtin(path).ingest(facts)
    assert [each.error for each in done] == ["", "hash_mismatch", "secret", "blank", "not_text", "too_long"]
    assert [each.hash for each in done] == [each.hash for each in facts]
    assert set(states(path)) == {content_hash(PORT)}
