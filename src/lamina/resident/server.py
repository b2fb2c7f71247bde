"""The resident process: it listens on the store's socket and answers until it is told to end."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina import __version__, errors
from lamina.memory.reading import utc_now
from lamina.resident import line
from lamina.resident.place import is_private, socket_path
from lamina.resident.warm import Elsewhere, Warm
from lamina.store.layout import Layout
from lamina.store.locks import lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from lamina.embed.base import Embedder

Json = dict[str, Any]

AT_ONCE = 64
"""Connections at once; one more is closed, and who asked goes the cold way."""
REQUEST_S = 5.0
ANSWER_S = 10.0
LOOK_S = 5.0
"""How long a client may take to ask and to listen, and how often the process looks whether to end."""


class Server:
    """One store's resident process. `idle_s` ends it after so long without a question."""

    def __init__(
        self,
        root: Path,
        *,
        env: Mapping[str, str],
        clock: Callable[[], datetime] = utc_now,
        idle_s: float | None = None,
        embedder: Embedder | None = None,
        look_s: float = LOOK_S,
    ) -> None:
        self.root = root
        self.path = socket_path(root, env)
        self._env = env
        self._clock = clock
        self._idle_s = idle_s
        self._embedder = embedder
        self._look_s = look_s
        self._asked = time.monotonic()
        self._stop = threading.Event()
        self._slots = threading.BoundedSemaphore(AT_ONCE)

    def serve(self, ready: Callable[[Json], None] = lambda _: None) -> None:
        """Answer until stopped; `ready` hears what stands ready. Raises Refused if another one answers."""
        if not hasattr(socket, "AF_UNIX"):
            raise errors.Refused("this system has no local sockets", "searching works without")
        with _alone(self.root), _ending():
            warm = Warm(self.root, env=self._env, clock=self._clock, embedder=self._embedder)
            try:
                warm.prepare()
                with _listening(self.path) as (listener, own):
                    warm.filler.start()
                    ready({"socket": self.path, "pid": os.getpid(), **warm.state()})
                    self._loop(listener, own, warm)
            except KeyboardInterrupt:
                self._stop.set()
            finally:
                warm.close()

    def stop(self) -> None:
        """End within moments."""
        self._stop.set()

    def _loop(self, listener: socket.socket, own: int, warm: Warm) -> None:
        every = min(self._look_s, self._idle_s or self._look_s)
        look = time.monotonic() + every
        with selectors.DefaultSelector() as waiting:
            waiting.register(listener, selectors.EVENT_READ)
            while not self._stop.is_set():
                if waiting.select(max(0.0, look - time.monotonic())):
                    self._accept(listener, warm)
                if time.monotonic() < look:
                    continue
                if self._is_over(own):
                    return
                warm.look()
                look = time.monotonic() + every

    def _is_over(self, own: int) -> bool:
        """Tell whether nobody asks any more, or nobody can: the socket or the store is gone."""
        if self._idle_s is not None and time.monotonic() - self._asked >= self._idle_s:
            return True
        try:
            return os.lstat(self.path).st_ino != own or not (self.root / "memory.json").exists()
        except OSError:
            return True

    def _accept(self, listener: socket.socket, warm: Warm) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            return  # whoever it was went away
        if not self._slots.acquire(blocking=False):
            connection.close()
            return
        self._asked = time.monotonic()
        threading.Thread(target=self._attend, args=(connection, warm), daemon=True).start()

    def _attend(self, connection: socket.socket, warm: Warm) -> None:
        try:
            with connection, suppress(line.Broken):
                if line.peer(connection) not in (None, os.getuid()):
                    return
                request = line.receive(connection, most=line.REQUEST, until=time.monotonic() + REQUEST_S)
                answer = {"lamina": __version__, **_answer(warm, request)}
                line.send(connection, answer, until=time.monotonic() + ANSWER_S)
                if request.get("do") == "stop":
                    self._end()
        finally:
            self._slots.release()

    def _end(self) -> None:
        """Wake the loop to see that it is to end."""
        self._stop.set()
        with suppress(OSError), socket.socket(socket.AF_UNIX) as knock:
            knock.settimeout(1.0)
            knock.connect(self.path)


def _answer(warm: Warm, request: Json) -> Json:
    """Return what to say; what can't be answered here is declined, and the cold way tells why."""
    try:
        if request.get("do") == "stop":
            return {"ok": True}
        if (request.get("protocol"), request.get("lamina")) != (line.PROTOCOL, __version__):
            return _declined("another version")
        return {"ok": True, **_done(warm, request)}
    except (Elsewhere, errors.LaminaError) as problem:
        return _declined(str(problem))
    except Exception as problem:  # noqa: BLE001 - an edge: one question must not end the process
        return _declined(f"unexpected {type(problem).__name__}: {problem}")


def _done(warm: Warm, request: Json) -> Json:
    match request.get("do"):
        case "ping":
            return {"pid": os.getpid(), **warm.state()}
        case "search":
            found = warm.search(request)
            hits = [
                {**hit._asdict(), "parts": dict(hit.parts), "priors": dict(hit.priors)} for hit in found.hits
            ]
            return {"found": {**found._asdict(), "hits": hits}}
        case other:
            raise Elsewhere(f"no question is called {other!r}")


def _declined(why: str) -> Json:
    return {"ok": False, "declined": why}


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Be the only resident process of a store. Raises Refused."""
    try:
        held = lock(Layout(root).lock("resident"), timeout_s=0)
        with held:
            yield
    except errors.Busy as problem:
        raise errors.Refused(
            f"another resident process answers for {root} already", "use it, or end it: lamina serve --stop"
        ) from problem


@contextmanager
def _ending() -> Iterator[None]:
    """Take SIGTERM for Ctrl-C, where signals are ours to take."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _listening(path: str) -> Iterator[tuple[socket.socket, int]]:
    """Have a socket at `path` that only this user may open, with its file's number; it goes in the end."""
    listener = socket.socket(socket.AF_UNIX)
    with listener:
        try:
            own = _bind(listener, path)
        except OSError as problem:
            reason = problem.strerror or problem
            hint = "searching works without it"
            raise errors.UnwritableStore(f"no socket can be made at {path} ({reason})", hint) from problem
        try:
            yield listener, own
        finally:
            with suppress(OSError):
                if os.lstat(path).st_ino == own:
                    os.unlink(path)  # noqa: PTH108


def _bind(listener: socket.socket, path: str) -> int:
    """Take the place of what a killed process left."""
    folder = os.path.dirname(path)  # noqa: PTH120
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108
    mask = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(mask)
    if not is_private(path):
        os.unlink(path)  # noqa: PTH108
        raise errors.UnsafePath(f"{folder} is open to others", f"chmod 700 {folder}, if it is yours")
    listener.listen(AT_ONCE)
    listener.setblocking(False)
    return os.lstat(path).st_ino
