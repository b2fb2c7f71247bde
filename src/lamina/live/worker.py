"""The worker: takes the spool, captures what is due, runs the tick, renews the cards, and ends.

One runs at a time: a hook takes the lock before it starts one, and the lock lives as long as the process.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from lamina import errors
from lamina.hosts.base import host_named
from lamina.live import cards, disk, scan, spool
from lamina.live.spool import Waiting
from lamina.memory import Memory
from lamina.memory.reading import utc_now
from lamina.store import log, pause
from lamina.store.layout import Layout

LOCK = "locks/worker.lock"
LONG_S = 600.0
"""Seconds after which no further session is begun; what waits is done by the next worker."""
TRIES = 3
RETRY_S = 300.0
_NICE = 5
_FORGET_S = 7 * 86_400
_HOOKED = "hooked"


def work(root: Path, *, env: Mapping[str, str], handle: int | None = None) -> bool:
    """Do what is to be done; with the lock that a hook took as `handle`, else if no other worker runs.

    Returns whether this process was the one. Raises nothing: failures are in the log.
    """
    root = Path(os.path.abspath(root))
    state = root / "state"
    end = time.monotonic() + LONG_S
    held = handle if handle is not None else disk.take(str(state / LOCK))
    if held is None:
        return False
    _step_back()
    while held is not None:
        try:
            done = Worker(root, env, end).run()
        finally:
            os.close(held)
        # A hook may have written and found the lock taken after we looked last: look once more.
        again = done and not spool.is_empty(state) and time.monotonic() < end
        held = disk.take(str(state / LOCK)) if again else None
    return True


class Worker:
    """One run over one store."""

    def __init__(self, root: Path, env: Mapping[str, str], end: float) -> None:
        self.root = root
        self.layout = Layout(root)
        self.env = env
        self.end = end
        self.home = Path(env.get("HOME") or Path.home())
        self.captured = 0

    def run(self) -> bool:
        """Run every part; one that fails stops no other. Returns whether the spool could be taken."""
        taken = self._try("spool", self._sessions)
        if pause.paused(self.root, now=utc_now()) is None:
            self._try("scan", self._scan)
        self._try("consolidate", self._consolidate)
        self._try("tick", self._tick)
        self._try("cards", lambda: bool(cards.renew(self.root, self.env)) or True)
        self._try("hooked", self._forget_old)
        return taken

    def _try(self, name: str, job: Callable[[], bool]) -> bool:
        try:
            return job()
        except errors.LaminaError as problem:
            self._log("worker_failed", job=name, reason=problem.message)
        except Exception as problem:  # noqa: BLE001 - nobody sees a worker: whatever it is goes to the log
            where = "".join(traceback.format_tb(problem.__traceback__)[-3:])
            self._log("worker_failed", job=name, reason=f"{type(problem).__name__} at {where}")
        return False

    def _log(self, event: str, **fields: object) -> None:
        log.log(self.layout, event, at=utc_now(), **fields)

    # -- the sessions that hooks told of

    def _sessions(self) -> bool:
        """Capture the sessions that are due, until the spool is empty."""
        while True:
            waiting = spool.take(self.layout.state)
            if pause.paused(self.root, now=utc_now()) is not None:
                return False
            due = [each for each in waiting.values() if self._is_due(each)]
            if not due or time.monotonic() > self.end:
                return True
            for each in due:
                waiting[each.key] = self._settled(each)
                spool.save(self.layout.state, waiting)

    def _is_due(self, each: Waiting) -> bool:
        if not each.changed:
            return False
        age = time.time() - each.captured
        if each.tries:
            return age >= RETRY_S or age < 0
        return each.pressing or age >= self._interval or age < 0

    @cached_property
    def _interval(self) -> float:
        with self._open() as memory:
            return float(memory.settings["capture_interval_s"])

    def _settled(self, each: Waiting) -> Waiting:
        """Capture one session; returns what is left to do of it."""
        now = time.time()
        done = replace(each, captured=now, tries=0, pressing=False, changed=False)
        failed = replace(each, captured=now, tries=each.tries + 1, changed=each.tries + 1 < TRIES)
        try:
            status = self._capture(each)
        except (errors.Refused, errors.BadTranscript, errors.BadInput, errors.UnreadableFile) as problem:
            self._log("capture_refused", host=each.host, session=each.session, reason=problem.message)
            return done
        except errors.LaminaError as problem:
            self._log("capture_failed", host=each.host, session=each.session, reason=problem.message)
            return failed
        except Exception as problem:  # noqa: BLE001 - one session must not keep the others from memory
            self._log("capture_failed", host=each.host, session=each.session, reason=repr(problem))
            return failed
        return replace(each, captured=now, tries=1, pressing=False) if status == "waiting" else done

    def _capture(self, each: Waiting) -> str:
        path = self._transcript(each)
        with self._open() as memory:
            status = str(memory.capture(path, host=each.host, final=each.ended)["status"])
        self.captured += status == "captured"
        return status

    def _transcript(self, each: Waiting) -> Path:
        """Return the file of a session: the one that was told, else the one whose head names the session."""
        host = host_named(each.host)
        if host is None:
            raise errors.BadInput(f"{each.host!r} keeps no transcript that can be read", "nothing to do")
        told = Path(each.transcript) if each.transcript else None
        if told is not None and host.stamp(told) is not None and host.recognises(told):
            return told
        found = scan.session_file(host, each.session, self.home, self.env)
        if found is None:
            raise errors.NoSuchFile(
                f"there is no transcript of {each.host} session {each.session}", "it is looked for again"
            )
        return found

    # -- sessions that ended without a word

    def _scan(self) -> bool:
        """Look at the folders of the installed hosts for what no hook told of."""
        known = {each.transcript for each in spool.load(self.layout.state).values() if each.changed}
        for found in scan.left_over(self.root, self.home, self.env):
            if time.monotonic() > self.end:
                return False
            if str(found.path) in known:
                continue
            try:
                with self._open() as memory:
                    done = memory.capture(found.path, host=found.host, final=found.is_over)
                self.captured += done["status"] == "captured"
            except errors.LaminaError as problem:
                self._log("capture_failed", host=found.host, file=str(found.path), reason=problem.message)
            scan.remember(self.root, found)
        return True

    # -- the rest

    def _consolidate(self) -> bool:
        """Make entries of new notes at once where that costs no model call: the next session has them.

        With a model they wait for the tick, which asks about several notes at a time.
        """
        if self.captured:
            with self._open() as memory:
                if not memory.has_model():
                    memory.consolidate()
        return True

    def _tick(self) -> bool:
        with self._open() as memory:
            memory.tick()
        return True

    def _forget_old(self) -> bool:
        """Drop what the hook kept of sessions that are long over."""
        before = utc_now() - timedelta(seconds=_FORGET_S)
        for path in (self.layout.state / _HOOKED).glob("*"):
            if path.stat().st_mtime < before.timestamp():
                path.unlink(missing_ok=True)
        return True

    @contextmanager
    def _open(self) -> Iterator[Memory]:
        with Memory.open(self.root, cwd=self.root, env=self.env) as memory:
            yield memory


def _step_back() -> None:
    """Leave the processor to what people wait for."""
    try:
        os.nice(_NICE)
    except (OSError, AttributeError):
        return
