"""Talking to the server: a real process at raw lines, and the whole of it inside this process."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

CLIENT = {"name": "test", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": CLIENT,
}


def hello(version="2025-06-18", id=0, **capabilities):
    params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": CLIENT}
    return {"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params}


READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def modern(id, method, **params):
    meta = ENVELOPE | params.pop("_meta", {})
    return request(id, method, _meta=meta, **params)


def call(id, tool, meta=None, /, **arguments):
    params = {"name": tool, "arguments": arguments}
    return request(id, "tools/call", **params, **({"_meta": meta} if meta else {}))


def text(answer):
    return answer["result"]["content"][0]["text"]


def environment(home, **more):
    keep = {"PATH": os.environ["PATH"], "HOME": str(home), "OPENBLAS_NUM_THREADS": "1"}
    return keep | {"PYTHONPATH": os.pathsep.join(sys.path[1:2])} | more


class Talk:
    """Lines out, messages back, by whatever means."""

    def __init__(self):
        self.messages = queue.Queue()
        self.kept = {}
        self.raw = []

    def _hear(self, stream):
        for line in stream:
            self.raw.append(line)
            said = json.loads(line)
            for each in said if isinstance(said, list) else [said]:
                self.messages.put(each)
        self.messages.put(None)

    def send(self, *messages):
        self.write(b"".join(json.dumps(each).encode() + b"\n" for each in messages))

    def answer(self, id, within_s=30.0):
        """Return the answer to a request; others are kept for later."""
        until = time.monotonic() + within_s
        while id not in self.kept:
            said = self.messages.get(timeout=max(0.0, until - time.monotonic()))
            assert said is not None, f"the output ended before {id!r} was answered"
            if "method" in said:
                self.kept[said["method"]] = said
            else:
                self.kept[said["id"]] = said
        return self.kept.pop(id)

    def ask(self, message, within_s=30.0):
        self.send(message)
        return self.answer(message["id"], within_s)

    def shake_hands(self, version="2025-06-18", **capabilities):
        said = self.ask(hello(version, id="hello", **capabilities))
        self.send(READY)
        return said


class Server(Talk):
    """`python -m lamina mcp` as a process."""

    def __init__(self, home, *arguments, cwd=None, **env):
        super().__init__()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lamina", "mcp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd or home,
            env=environment(home, **env),
        )
        self.errors = []
        self.threads = [
            threading.Thread(target=work, args=(stream,), daemon=True)
            for work, stream in ((self._hear, self.process.stdout), (self.errors.extend, self.process.stderr))
        ]
        for thread in self.threads:
            thread.start()

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def cpu_s(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self, within_s=15.0):
        """Close standard input and return the exit code."""
        self.process.stdin.close()
        return self.process.wait(timeout=within_s)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join(5)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()


class Inside(Talk):
    """The front and the server of this process, at pipes."""

    def __init__(self, root, cwd, profile="full"):
        from lamina.interfaces.mcp.bridge import Bridge
        from lamina.interfaces.mcp.front import Front
        from lamina.interfaces.mcp.process import answers
        from lamina.interfaces.mcp.wire import Wire

        super().__init__()
        self._source, self._in = os.pipe()
        out, self._sink = os.pipe()
        self._out = os.fdopen(out, "rb")
        meta = {"cwd": str(cwd)}
        self.meta = meta

        def serve(front):
            return Bridge(front, profile=profile, root=str(root), workspace=None).feed

        self.front = Front(Wire(self._source, self._sink), answers(profile), serve)
        self.ear = threading.Thread(target=self._hear, args=(self._out,), daemon=True)
        self.ear.start()
        self.thread = threading.Thread(target=self.front.run, daemon=True)
        self.thread.start()

    def write(self, data):
        left = memoryview(data)
        while left:
            left = left[os.write(self._in, left) :]

    def close(self):
        os.close(self._in)
        self.thread.join(15)
        os.close(self._sink)
        self.ear.join(15)
        self._out.close()
        os.close(self._source)
