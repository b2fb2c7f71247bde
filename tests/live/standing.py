"""A store with the hook command in it, and hosts that call it as the real ones do: by a shell."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lamina.hosts.setup import Where
from lamina.live import disk, program
from lamina.memory import Memory

SOURCES = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Machine:
    """A home with a store and a project; every process gets this environment and nothing else."""

    home: Path

    @property
    def root(self) -> Path:
        return self.home / "store"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def project(self) -> Path:
        return self.home / "My Project"

    @property
    def env(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCES),
            "LAMINA_ROOT": str(self.root),
            "LANG": "C",
        }

    def make(self) -> Machine:
        self.project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.project)], check=True, env=self.env)
        with self.memory() as memory:
            memory.init()
        program.write(self.root)
        return self

    def memory(self, cwd: Path | None = None) -> Memory:
        return Memory.open(self.root, cwd=cwd or self.project, env=self.env)

    def command(self, host: str, event: str) -> str:
        where = Where(self.home, self.env, program.hook(self.root), program.lamina(self.root), self.state)
        return where.command(host, event)

    def hook(
        self,
        event: str,
        payload: dict[str, Any] | bytes,
        *,
        host: str = "claude-code",
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Call the hook through a shell, as a host does."""
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return subprocess.run(
            ["sh", "-c", self.command(host, event)],
            input=raw,
            capture_output=True,
            check=False,
            timeout=30,
            env=self.env | (env or {}),
            cwd=cwd or self.home,
        )

    def payload(self, session: str = "11111111-2222-4333-8444-555555555555", **more: Any) -> dict[str, Any]:
        return {
            "session_id": session,
            "transcript_path": str(self.transcript(session)),
            "cwd": str(self.project),
            **more,
        }

    def transcript(self, session: str) -> Path:
        return self.home / ".claude" / "projects" / "-project" / f"{session}.jsonl"

    def context(self, done: subprocess.CompletedProcess[bytes]) -> str:
        """Return what the model would be shown."""
        if not done.stdout:
            return ""
        text = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        assert isinstance(text, str)
        return text

    def spooled(self) -> list[dict[str, str]]:
        path = self.state / "spool.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def settle(self, seconds: float = 60) -> None:
        """Wait until no process of this store is left."""
        end = time.monotonic() + seconds
        while self.processes() or not self._is_free():
            assert time.monotonic() < end, self.processes()
            time.sleep(0.1)

    def _is_free(self) -> bool:
        """Tell whether no worker holds the lock: one that is being started has no name of its own yet."""
        lock = self.state / "locks" / "worker.lock"
        if not lock.exists():
            return True
        handle = disk.take(str(lock))
        if handle is not None:
            os.close(handle)
        return handle is not None

    def processes(self) -> list[str]:
        """Return the command lines of the running processes that name this store."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            if path.parent.name == str(os.getpid()):
                continue
            try:
                line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if str(self.root) in line:
                found.append(line)
        return found

    def log(self) -> list[dict[str, Any]]:
        path = self.root / "logs" / "memory.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
