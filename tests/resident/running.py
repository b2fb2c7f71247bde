"""A store with memories, and resident processes that answer for it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from lamina.memory import Memory
from lamina.pipeline.recall import Found
from lamina.resident import client
from lamina.resident.server import Server

MEMORIES = (
    "The staging port is 8081",
    "We deploy with a rolling update on Fridays",
    "Caching goes through the database and not through Redis",
    "The nightly backup writes to the second disk",
    "Invoices are rounded to whole cents",
)
QUESTION = "which port does staging listen on"


class Site:
    """A person's home with a project and a store."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "harbor"
        self.root = self.home / ".lamina"
        self.home.mkdir()
        self.project.mkdir()
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LAMINA_EMBEDDER": "wordllama",
            "LAMINA_COMMIT_DEBOUNCE_S": "3600",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def memory(self, **env: str) -> Memory:
        return Memory.open(cwd=self.project, env=self.env | env)

    def filled(self) -> Memory:
        memory = self.memory()
        for text in MEMORIES:
            memory.remember(text)
        return memory

    def lamina(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "lamina", *arguments],
            cwd=self.project,
            env=self.env | env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def search(self, *arguments: str, **env: str) -> dict:
        done = self.lamina("search", *arguments, "--json", **env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def searched(self, *arguments: str, by: tuple[str, ...] = ("words", "vectors")) -> dict:
        """Search until `by` answers: on a busy machine a search may not wait for the resident process."""
        found: dict = {}

        def answered() -> bool:
            found.update(self.search(*arguments))
            return found["engines"] == list(by)

        until(answered)
        return found

    @contextlib.contextmanager
    def serving(self, *arguments: str, **env: str):
        """Run `lamina serve` in a process of its own; ends it if the test did not."""
        process = subprocess.Popen(
            [sys.executable, "-m", "lamina", "serve", "--json", *arguments],
            cwd=self.project,
            env=self.env | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            line = process.stdout.readline()
            process.ready = json.loads(line) if line else {}
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.communicate(timeout=20)

    @contextlib.contextmanager
    def server(self, **given):
        """Run a server in a thread of this process."""
        server = Server(self.root, env=self.env, **given)
        ready = threading.Event()
        thread = threading.Thread(target=server.serve, args=(lambda _: ready.set(),))
        thread.start()
        assert ready.wait(20)
        try:
            yield server
        finally:
            server._end()
            thread.join(20)
            assert not thread.is_alive()


def asked(memory: Memory, query: str = QUESTION, **more) -> Found | None:
    """Ask the resident process as `lamina search` does, which waits for a moment only."""
    given = {"limit": 10, "vectors": False, "filters": {}} | more
    return client.search(memory.standpoint, query, env={"HOME": "/nowhere"}, **given)


def answered(
    memory: Memory, query: str = QUESTION, *, by: tuple[str, ...] = ("words", "vectors"), **more
) -> Found:
    """Ask until the resident process answers by all of `by`: on a busy machine it may be late."""
    found: list[Found] = []

    def told() -> bool:
        answer = asked(memory, query, **more)
        found[:] = [answer] if answer is not None and answer.engines == by else []
        return bool(found)

    until(told)
    return found[0]


def until(holds, within_s: float = 20.0) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.05)
