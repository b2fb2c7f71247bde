"""Runs a real client headless: its own home and project, loopback only, everything ended by process id."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.clients.kinds import CONTEXT, KINDS, Kind, Seat

if TYPE_CHECKING:
    from tests.clients.stub import Asked, Stub

TURN_S = 150.0
"""What a turn may take on a machine with other work."""
_SESSION = re.compile(r'"(?:session_id|thread_id|sessionID|sessionId)"\s*:\s*"([^"]+)"')


class Turn(NamedTuple):
    """One headless run of a client; `session` is "" where it told none."""

    rc: int
    stdout: str
    stderr: str
    session: str
    took: float

    def ok(self) -> Turn:
        """Return itself if the client ended well, else fail with what it said."""
        assert self.rc == 0, (
            f"rc {self.rc} after {self.took:.0f} s\n{self.stderr[-2500:]}\n{self.stdout[-2500:]}"
        )
        return self


class Client:
    """One host's client in a home, a store and a project of its own."""

    def __init__(self, host: str, folder: Path, stub: Stub, programs: Mapping[str, Path]) -> None:
        self.host = host
        self.kind: Kind = KINDS[host]
        self.stub = stub
        self.home, self.project = folder / "home", folder / "work" / "shop"
        self.seat = Seat(self.home, self.project, stub.url, programs)
        self.program = programs[self.kind.needs[0]]
        self.store = self.home / ".lamina"

    @property
    def env(self) -> dict[str, str]:
        """The whole environment of the client and of what it starts."""
        programs = self.seat.programs
        node = [str(programs["node"].parent)] if "node" in programs else []
        plain = {
            "HOME": str(self.home),
            "PATH": ":".join([*node, "/usr/bin", "/bin"]),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "OPENBLAS_NUM_THREADS": "1",
        }
        return plain | self.kind.env(self.seat)

    def seed(self) -> None:
        """Make the home and the project as they were before Lamina."""
        self.home.mkdir(parents=True)
        self.project.mkdir(parents=True)
        (self.project / "a.txt").write_text("hello\n")
        author = ["-c", "user.name=Ann", "-c", "user.email=ann@localhost"]
        for words in (["init", "-q", "."], ["add", "-A"], [*author, "commit", "-q", "-m", "begin"]):
            subprocess.run(["git", *words], cwd=self.project, env=self.env, check=True, timeout=30)
        self.kind.seed(self.seat)

    # -- turns

    def start(self, prompt: str, resume: str = "") -> subprocess.Popen[bytes]:
        """Start a turn in a session of processes of its own."""
        folder = self.home.parent
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            return subprocess.Popen(
                [str(self.program), *self.kind.words(prompt, resume)],
                cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True,
            )  # fmt: skip

    def run(self, prompt: str, resume: str = "", *, limit_s: float = TURN_S) -> Turn:
        """Run one turn; `resume` is the session to go on with. One that takes too long is ended: rc -9."""
        began = time.monotonic()
        process = self.start(prompt, resume)
        try:
            rc = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            kill(process.pid)
            rc = process.wait(10)
        out, err = ((self.home.parent / name).read_text(errors="replace") for name in ("stdout", "stderr"))
        found = _SESSION.search(out)
        return Turn(rc, out, err, found.group(1) if found else resume, time.monotonic() - began)

    def compact(self, session: str) -> Turn:
        """Make the client shorten a conversation; it has gone on with it when this returns."""
        if self.host == "claude-code":
            self.run("/compact", session).ok()
            return self.run("And now? @@plain@@", session)
        with self.large():
            self.run(f"Look once more. @@call {LOOK[self.host]} @@", session).ok()
        return self.run("And now? @@plain@@", session)

    @contextmanager
    def large(self) -> Iterator[None]:
        """Have the stub say that requests are larger than what the client takes."""
        before, self.stub.tokens = self.stub.tokens, CONTEXT + 5_000
        try:
            yield
        finally:
            self.stub.tokens = before

    # -- lamina

    def lamina(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the lamina command as the person of this home."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "lamina", *words],
            cwd=self.project, env=self.env, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"lamina {words}: {done.stdout}\n{done.stderr}"
        return done

    def asked(self, *words: str) -> Any:
        """Run a lamina command and return its JSON."""
        return json.loads(self.lamina(*words, "--json").stdout)

    def install(self) -> None:
        """Install Lamina into this host."""
        self.lamina("install", self.host)

    def entries(self) -> list[dict[str, Any]]:
        """Return every entry of the store, whole."""
        listed = self.asked("list", "--scope", "all", "--limit", "100")["entries"]
        return [self.asked("show", item["id"]) for item in listed]

    def notes(self) -> dict[str, str]:
        """Return the notes of the store: path → text."""
        return {str(path): path.read_text() for path in sorted(self.store.glob("digests/*.md"))}

    # -- processes

    def processes(self) -> dict[int, str]:
        """Return the processes of this home: id → command."""
        return dict(processes_with(f"HOME={self.home}"))

    def ours(self) -> dict[int, str]:
        """Return those of them that are Lamina's."""
        return {
            pid: command
            for pid, command in self.processes().items()
            if "lamina" in command.replace(str(self.home), "") or str(self.store) in command
        }

    def rest(self, *, limit_s: float = 60.0) -> None:
        """Wait until no process of Lamina's is left."""
        wait_for(lambda: not self.ours(), limit_s, lambda: f"still there: {self.ours()}\n{self.log()}")

    def log(self) -> str:
        """Return what the store's log says last, for failures."""
        parts = [
            path.read_text(errors="replace")[-2000:]
            for path in self.store.glob("state/*log*")
            if path.is_file()
        ]
        return "\n".join(parts)

    def end(self) -> None:
        """End whatever still runs in this home."""
        for _ in range(20):
            left = self.processes()
            if not left:
                return
            for pid in left:
                _signal(pid, signal.SIGKILL)
            time.sleep(0.1)


LOOK: Mapping[str, str] = {
    "codex": '(exec_command|shell_command) {"cmd": "ls", "command": "ls"}',
    "gemini": 'run_shell_command {"command": "ls", "description": "list"}',
    "qwen": 'run_shell_command {"command": "ls", "description": "list", "is_background": false}',
    "opencode": 'bash {"command": "ls", "description": "list"}',
    "copilot": 'bash {"command": "ls", "description": "list"}',
    "dsh": 'bash {"command": "ls", "description": "list"}',
}
"""A small call in the turn in which a client is told that the conversation is too long."""


def processes_with(setting: str) -> Iterator[tuple[int, str]]:
    """Yield the processes with this text among their environment, except this one."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if setting.encode() in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                yield int(folder.name), command
        except OSError:
            continue


def kill(pid: int) -> None:
    """End a client that was started in a session of its own, with what it started there."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def wait_for(done: Callable[[], bool], limit_s: float, why: Callable[[], str]) -> None:
    """Wait until something holds; fail with `why` after the limit."""
    end = time.monotonic() + limit_s
    while not done():
        assert time.monotonic() < end, why()
        time.sleep(0.2)


def mentions(requests: list[Asked], word: str) -> bool:
    """Tell whether one of these requests holds a text."""
    return any(word in request.text() for request in requests)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
