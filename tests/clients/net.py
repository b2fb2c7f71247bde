"""Leaves the process with loopback alone, where the machine allows it, so that no client reaches anything else."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys

_NEWNET = 0x40000000  # CLONE_NEWNET
_GETFLAGS, _SETFLAGS = 0x8913, 0x8914  # SIOCGIFFLAGS, SIOCSIFFLAGS
_UP = 1


def alone() -> bool:
    """Move this process into a network of its own with loopback up; return whether that was possible."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEWNET) != 0:
        return False
    _loopback_up()
    return True


def _loopback_up() -> None:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(control, _GETFLAGS, asked))[1]
        fcntl.ioctl(control, _SETFLAGS, struct.pack("16sH14x", b"lo", flags | _UP))


def main(command: list[str]) -> None:
    """Become a command without a network."""
    if not alone():
        print("no network of its own is allowed here: the clients run with the machine's", file=sys.stderr)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
