from __future__ import annotations

from pathlib import Path

import pytest

from live.standing import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "a home").make()
