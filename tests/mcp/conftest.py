"""A home with a project in it, and a server that works there."""

from __future__ import annotations

import pytest
from mcp_talk import Server


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "harbor"
    folder.mkdir()
    return folder


@pytest.fixture
def server(tmp_path, project):
    with Server(tmp_path, cwd=project) as started:
        yield started
