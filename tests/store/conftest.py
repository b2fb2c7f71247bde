"""A fresh store for the tests of the store."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.making import NOW

from lamina.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True, now=NOW)


@pytest.fixture
def in_memory(tmp_path: Path) -> Iterator[Path]:
    """A folder where syncing costs little, for tests that write a thousand times."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < 200_000_000:
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(dir=memory, prefix="lamina-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
