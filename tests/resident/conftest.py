"""Fixtures for what the resident process and the vectors behind it must do."""

from __future__ import annotations

import pytest
from tests.resident.running import Site


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)
