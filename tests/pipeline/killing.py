"""Ends a process of its own at a step of its work: what the runners of the tests of kills share."""

import os
import resource
import signal
import sys

STEPS = ("os.rename", "os.remove", "os.chmod", "ctypes.call_function", "core.before", "core.after")


def killed_at(wanted: int, size: int) -> None:
    """Kill this process at the step after `wanted`, or (unless 0) at a write beyond `size` bytes."""
    seen: list[str] = []

    def step(event, args):
        writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        if event in STEPS or writes:
            seen.append(event)
            if len(seen) > wanted:
                os.kill(os.getpid(), signal.SIGKILL)

    if size:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    sys.addaudithook(step)
