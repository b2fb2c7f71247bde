"""The runner of the host tests: installs the clients, leaves the network, and runs the tests.

`python -m tests.clients.run [--hosts "claude-code codex"] [pytest's own arguments]`. A client that can't be
installed is a failure.
"""

from __future__ import annotations

import os
import sys

from tests.clients.install import NotInstalled, cache_folder, install
from tests.clients.kinds import KINDS
from tests.clients.net import main as without_network

HOSTS = "LAMINA_TEST_HOSTS"


def chosen(said: str) -> list[str]:
    """Return the hosts that are named, all if none is; exits when one is unknown."""
    names = said.replace(",", " ").split() or list(KINDS)
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; there are {', '.join(KINDS)}")
    return names


def main(arguments: list[str]) -> None:
    """Install what the hosts chosen need, then become pytest."""
    said = ""
    if arguments[:1] == ["--hosts"]:
        said, arguments = arguments[1], arguments[2:]
    hosts, cache = chosen(said), cache_folder(os.environ)
    needs = list(dict.fromkeys(name for host in hosts for name in KINDS[host].needs))
    print(f"installing {', '.join(needs)} into {cache} unless they are there", flush=True)
    try:
        install(needs, cache)
    except NotInstalled as problem:
        raise SystemExit(f"the clients can't be installed: {problem}") from problem
    os.environ |= {HOSTS: " ".join(hosts), "LAMINA_CLIENTS": str(cache)}
    command = [sys.executable, "-m", "pytest", "-m", "hosts", "tests/clients/test_hosts.py", *arguments]
    without_network(command)


if __name__ == "__main__":
    main(sys.argv[1:])
