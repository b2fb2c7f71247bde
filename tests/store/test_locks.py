from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lamina import errors
from lamina.store import locks

HOLDER = """
import sys, time
from pathlib import Path
from lamina.store.locks import lock
with lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_holder_waits_and_then_is_told_which_lock(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "store.lock"
    with locks.lock(path):
        assert locks.is_held(path)
        began = time.monotonic()
        with pytest.raises(errors.Busy, match=r"store\.lock"), locks.lock(path, timeout_s=0.2):
            pass
        assert time.monotonic() - began >= 0.2
    assert not locks.is_held(path)
    with locks.lock(path, timeout_s=0):
        pass


def test_shared_holders_do_not_exclude_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with (
        locks.lock(path, shared=True),
        locks.lock(path, shared=True, timeout_s=0),
        pytest.raises(errors.Busy),
        locks.lock(path, timeout_s=0),
    ):
        pass


def test_threads_exclude_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    inside, most = [], []

    def work() -> None:
        for _ in range(20):
            with locks.lock(path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 80


def test_a_killed_holder_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, env=env()
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert locks.is_held(path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with locks.lock(path, timeout_s=1):
        pass


def test_a_lock_file_deleted_under_a_waiter_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    done = []

    def wait() -> None:
        with locks.lock(path, timeout_s=5):
            done.append(path.stat().st_ino)

    with locks.lock(path):
        waiter = threading.Thread(target=wait)
        waiter.start()
        time.sleep(0.05)
        path.unlink()
        path.touch()
        now = path.stat().st_ino
    waiter.join()
    assert done == [now]


def test_a_link_as_lock_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(errors.UnwritableStore), locks.lock(tmp_path / "a.lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_a_disk_without_locks_gets_one_in_the_temporary_folder(tmp_path: Path) -> None:
    """Network disks may refuse flock; the code runs in a process of its own with one that does."""
    code = (
        "import errno, fcntl, os, sys\n"
        "from pathlib import Path\n"
        "from lamina.store import locks\n"
        "real = fcntl.flock\n"
        "def flock(handle, how):\n"
        "    if 'store' in os.readlink(f'/proc/self/fd/{handle}'):\n"
        "        raise OSError(errno.ENOLCK, 'no locks here')\n"
        "    real(handle, how)\n"
        "fcntl.flock = flock\n"
        "path = Path(sys.argv[1])\n"
        "with locks.lock(path):\n"
        "    print(locks.is_held(path))\n"
        "print(locks.is_held(path))\n"
    )
    temporary = tmp_path / "t"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "store" / "a.lock"],
        env={**env(), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "False"]
    assert [path.name.startswith("lamina-locks-") for path in temporary.iterdir()] == [True]
