"""Start processes in a closed environment, measure time and peak memory, and end them by their id."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

LOOK_S = 0.01
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "BASIC_MEMORY_AUTO_UPDATE": "false",
    "BASIC_MEMORY_NO_PROMOS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "MEM0_TELEMETRY": "False",
    "POSTHOG_DISABLED": "1",
    "TRANSFORMERS_OFFLINE": "1",
}
# A proxy that nobody answers: whatever would leave this machine fails at once instead of waiting.
SHUT = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
LOOPBACK = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


class ProcessFailed(RuntimeError):
    """A measured process ended badly or took too long; the text is the end of what it said."""


class Ran(NamedTuple):
    """Wall time in seconds, peak memory in MB (the process and its children), what it printed."""

    seconds: float
    peak_mb: float
    out: str


def closed_environment(home: Path, more: Mapping[str, str] = {}, path: Sequence[Path] = ()) -> dict[str, str]:
    """Return variables that keep all that a program writes below `home`, and its calls on this machine."""
    for name in ("", "tmp", "config", "data", "cache", "state", "run"):
        (home / name).mkdir(parents=True, exist_ok=True)
    xdg = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "CACHE", "STATE")}
    base = {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join([*map(str, path), "/usr/local/bin", "/usr/bin", "/bin"]),
        "PYTHONPYCACHEPREFIX": str(home / "cache" / "pycache"),
        "TMPDIR": str(home / "tmp"),
        "XDG_RUNTIME_DIR": str(home / "run"),
    }
    return {**base, **xdg, **QUIET, **SHUT, **LOOPBACK, **more}


def run(command: Sequence[str], env: Mapping[str, str], cwd: Path, limit_s: float = 1800) -> Ran:
    """Run a command to its end; raises ProcessFailed if it fails or exceeds `limit_s`."""
    with (
        (cwd / "out.txt").open("w+", encoding="utf-8") as out,
        (cwd / "err.txt").open("w+", encoding="utf-8") as err,
    ):
        before = time.perf_counter()
        process = _start(command, env, cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            peak = _watch(process, before + limit_s)
        finally:
            end(process)
        spent = time.perf_counter() - before
        said, told = _content(out), _content(err)
    if process.returncode:
        raise ProcessFailed(_last_lines(told or said))
    return Ran(spent, peak, said)


class Worker:
    """A process that answers one JSON line with one JSON line; `with` ends it by its id."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], cwd: Path, name: str = "worker"
    ) -> None:
        self._log = (cwd / f"{name}.err.txt").open("w+", encoding="utf-8")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._log}
        self.started = time.perf_counter()
        self.process = _start(command, env, cwd, **pipes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        end(self.process)
        for stream in (self.process.stdin, self.process.stdout, self._log):
            with contextlib.suppress(OSError):
                stream.close()

    def say(self, message: Mapping[str, Any]) -> None:
        """Send one line."""
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise ProcessFailed(_last_lines(_content(self._log))) from None

    def hear(self, limit_s: float = 300) -> dict[str, Any]:
        """Return the next line as JSON; what is no JSON object is passed over."""
        until = time.monotonic() + limit_s
        while True:
            line = self._line(until)
            if line.lstrip().startswith(b"{"):
                return json.loads(line)

    def ask(self, message: Mapping[str, Any], limit_s: float = 300) -> dict[str, Any]:
        """Send one line and return the answer; an answer with `error` raises ProcessFailed."""
        self.say(message)
        answer = self.hear(limit_s)
        if "error" in answer and "jsonrpc" not in answer:
            raise ProcessFailed(str(answer["error"]))
        return answer

    def peak_mb(self) -> float:
        """Return the peak memory so far, with that of its children."""
        return sum(peaks_of(self.process.pid).values())

    def _line(self, until: float) -> bytes:
        left = until - time.monotonic()
        if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
            raise ProcessFailed("no answer in time")
        line = self.process.stdout.readline()
        if not line:
            raise ProcessFailed(_last_lines(_content(self._log)) or "it ended without an answer")
        return line


def end(process: subprocess.Popen[Any], patience_s: float = 5) -> None:
    """End a process and what it started, politely first; both stand in a group of their own."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    for sign, wait in ((None, 1), (signal.SIGTERM, patience_s), (signal.SIGKILL, patience_s)):
        if sign is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait if process.stdin is not None or sign else 0.01)
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def peaks_of(pid: int) -> dict[int, float]:
    """Return VmHWM in MB of a process and of all below it; ru_maxrss would count the parent before exec."""
    found = {}
    waiting = [pid]
    while waiting:
        each = waiting.pop()
        with contextlib.suppress(OSError, StopIteration):
            status = Path(f"/proc/{each}/status").read_text(encoding="ascii", errors="replace")
            found[each] = next(
                int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")
            )
            waiting += _children(each)
    return found


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            yield from map(int, (task / "children").read_text(encoding="ascii").split())


def _start(command: Sequence[str], env: Mapping[str, str], cwd: Path, **pipes: Any) -> subprocess.Popen[Any]:
    return subprocess.Popen(list(command), env=dict(env), cwd=cwd, start_new_session=True, **pipes)


def _watch(process: subprocess.Popen[Any], until: float) -> float:
    """Wait for the end, looking at the memory meanwhile; return the sum of the peaks in MB."""
    peaks: dict[int, float] = {}
    with _ending(process) as ended:
        while True:
            for pid, peak in peaks_of(process.pid).items():
                peaks[pid] = max(peak, peaks.get(pid, 0))
            if ended(LOOK_S):
                process.wait()
                return sum(peaks.values())
            if time.perf_counter() > until:
                raise ProcessFailed("it took longer than allowed")


@contextlib.contextmanager
def _ending(process: subprocess.Popen[Any]) -> Iterator[Callable[[float], bool]]:
    """Give a function that waits so long, at most, and tells whether the process has ended."""
    if not hasattr(os, "pidfd_open"):

        def poll(wait_s: float) -> bool:
            time.sleep(wait_s / 10)
            return process.poll() is not None

        yield poll
        return
    handle = os.pidfd_open(process.pid)
    try:
        yield lambda wait_s: bool(select.select([handle], [], [], wait_s)[0])
    finally:
        os.close(handle)


def _content(stream: Any) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def _last_lines(text: str, count: int = 4) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-count:])[-600:]
