"""The worker: takes the spool, captures what is due, runs the tick, renews the cards, and ends.

One runs at a time: a hook takes the lock before it starts one, and the lock lives as long as the process.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from lamina import errors
from lamina.hosts.base import host_named, live_named
from lamina.live import cards, disk, program, scan, spool
from lamina.live.spool import Waiting
from lamina.memory import Memory
from lamina.memory.reading import utc_now
from lamina.pipeline.redact import redact
from lamina.store import log
from lamina.store.installed import installed
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
    os.set_inheritable(held, False)  # no git that outlives this process may keep the lock
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
        # What one terminal says of models and of capture is for its own sessions, and this serves all.
        self.env = {name: value for name, value in env.items() if _is_for_all(name)}
        self.end = end
        self.home = Path(env.get("HOME") or Path.home())
        self.captured = 0

    def run(self) -> bool:
        """Run every part; one that fails stops no other. Returns whether the spool could be taken."""
        taken = self._try("spool", self._sessions)
        self._try("scan", self._scan)
        self._try("consolidate", self._consolidate)
        self._try("tick", self._tick)
        self._try("cards", self._renew_cards)
        self._try("hooked", self._forget_old)
        self._try("program", self._renew_program)
        return taken

    def _try(self, name: str, job: Callable[[], bool]) -> bool:
        try:
            return job()
        except errors.LaminaError as problem:
            self._log("worker_failed", job=name, reason=problem.message)
        except Exception as problem:  # noqa: BLE001 - nobody sees a worker: whatever it is goes to the log
            self._log("worker_failed", job=name, reason=_where(problem))
        return False

    def _log(self, event: str, **fields: object) -> None:
        told = {name: redact(str(value)).text for name, value in fields.items()}
        log.log(self.layout, event, at=utc_now(), **told)

    # -- the sessions that hooks told of

    def _sessions(self) -> bool:
        """Capture the sessions that are due, until the spool is empty."""
        while True:
            waiting = spool.take(self.layout.state)
            due = [each for each in waiting.values() if self._is_due(each)]
            if not due or time.monotonic() > self.end:
                return True
            for each in due:
                if time.monotonic() > self.end:
                    return True
                if self._is_off():
                    return False  # what waits stays as it is
                waiting[each.key] = self._settled(each)
                spool.save(self.layout.state, waiting)

    def _is_off(self) -> bool:
        """Tell whether nothing may be captured now, whatever the session: paused, or off for this machine."""
        with self._open() as memory:
            return memory.capture_off() is not None

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
        outcome = self._outcome(
            each.host,
            lambda: (self._transcript(each), _is_final(each)),
            each.session,
            workspace=each.workspace or None,
        )
        if outcome == "done":
            if each.ended:
                self._record(each.host, each.session)
            return replace(each, captured=now, tries=0, pressing=False, changed=False)
        if outcome == "waits":
            return replace(each, captured=now, tries=1, pressing=False)
        tries = each.tries + 1
        return replace(each, captured=now, tries=tries, changed=outcome == "passing" or tries < TRIES)

    def _outcome(
        self, host: str, which: Callable[[], tuple[Path, bool]], session: str, *, workspace: str | None = None
    ) -> str:
        """Capture a transcript: `done`, `waits` for a model, `passing` trouble, or `failed`; never raises."""
        reason = ""
        try:
            path, final = which()
            with self._open(workspace) as memory:
                status = str(memory.capture(path, host=host, final=final)["status"])
        except errors.Refused as problem:
            reason, outcome = problem.message, "passing" if self._is_off() else "done"
        except (errors.Busy, errors.UnwritableStore) as problem:
            reason, outcome = problem.message, "passing"
        except errors.LaminaError as problem:
            reason, outcome = problem.message, "failed"
        except Exception as problem:  # noqa: BLE001 - one session must not keep the others from memory
            reason, outcome = _where(problem), "failed"
        else:
            self.captured += status == "captured"
            return "waits" if status == "waiting" else "done"
        told = "capture_refused" if outcome == "done" else "capture_failed"
        self._log(told, host=host, session=session, reason=reason)
        return outcome

    def _record(self, host: str, session: str) -> None:
        """Record a session that has ended in its project, where the settings want that."""

        def job() -> bool:
            with self._open() as memory:
                return memory.record_session(host, session) is not None

        self._try("record", job)

    def _transcript(self, each: Waiting) -> Path:
        """Return the file of a session: the one that was told, else the one whose head names the session."""
        host = host_named(each.host)
        if host is None:
            raise errors.Refused(f"{each.host!r} keeps no transcript that can be read", "nothing to do")
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
        if self._is_off():
            return False
        known = {each.transcript for each in spool.load(self.layout.state).values() if each.changed}
        for found in scan.left_over(self.root, self.home, self.env):
            if time.monotonic() > self.end or self._is_off():
                return False
            if str(found.path) in known:
                continue
            outcome = self._outcome(found.host, lambda each=found: (each.path, each.is_over), found.path.stem)  # type: ignore[misc]
            given_up = outcome == "failed" and found.tries + 1 >= scan.TRIES
            scan.remember(self.root, found, failed=outcome != "done", for_good=given_up)
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

    def _renew_cards(self) -> bool:
        """Make the cards ready for the next sessions."""
        cards.renew(self.root, self.env)
        return True

    def _forget_old(self) -> bool:
        """Drop what the hook kept of sessions that are long over."""
        before = utc_now() - timedelta(seconds=_FORGET_S)
        old = [path for path in (self.layout.state / _HOOKED).glob("*") if _is_older(path, before)]
        left = [path for name in ("*.tmp", "*/*.tmp") for path in self.layout.state.glob(name)]
        hour = utc_now() - timedelta(hours=1)
        for path in [*old, *(path for path in left if _is_older(path, hour))]:
            path.unlink(missing_ok=True)
        return True

    def _renew_program(self) -> bool:
        """Bring the hook's copy up to date where Lamina was upgraded."""
        if installed(self.root) and program.stale(self.root):
            program.write(self.root)
        return True

    @contextmanager
    def _open(self, workspace: str | None = None) -> Iterator[Memory]:
        with Memory.open(self.root, workspace=workspace, cwd=self.root, env=self.env) as memory:
            yield memory


def _is_for_all(name: str) -> bool:
    return not name.startswith("LAMINA_") or name == "LAMINA_ROOT" or name.startswith("LAMINA_GIT_")


def _is_older(path: Path, than: datetime) -> bool:
    try:
        return path.stat().st_mtime < than.timestamp()
    except OSError:
        return False


def _is_final(each: Waiting) -> bool:
    """Tell whether what is still thin is to be kept: the session ended, or its host would never tell."""
    host = live_named(each.host)
    return each.ended or (host is not None and not host.hooks.ends)


def wake(root: Path, env: Mapping[str, str]) -> bool:
    """Start a worker beside this process if a session waits for one; tells whether it did.

    For processes that run for hours: a turn that came too early for its session's interval starts none.
    """
    state, now = root / "state", time.time()
    due = any(each.changed and not 0 <= now - each.captured < RETRY_S for each in spool.load(state).values())
    if spool.is_empty(state) and not due:
        return False
    held = disk.take(str(state / LOCK))
    if held is None:
        return False
    try:
        return disk.start((*program.program(root, sys.executable), "worker", str(held)), env, keep=held)
    finally:
        os.close(held)


def _where(problem: Exception) -> str:
    """Say what kind of failure it was and where, never with what text."""
    return f"{type(problem).__name__} at {''.join(traceback.format_tb(problem.__traceback__)[-3:])}"


def _step_back() -> None:
    """Leave the processor to what people wait for."""
    try:
        os.nice(_NICE)
    except (OSError, AttributeError):
        return
