"""A fresh store for the tests of the store."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.store.making import NOW

from lamina.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True, now=NOW)
