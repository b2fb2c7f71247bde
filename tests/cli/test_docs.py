"""The reference says what the program does."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from lamina.interfaces.cli.main import COMMANDS
from lamina.settings.table import TABLE

DOCS = Path(__file__).parents[2] / "docs"
SPEC = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
assert SPEC is not None
assert SPEC.loader is not None
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)


@pytest.mark.parametrize("file", generate.PAGES)
def test_the_generated_pages_are_up_to_date(file):
    assert (DOCS / "reference" / file).read_text(encoding="utf-8") == generate.PAGES[file](), "run make docs"


def test_every_command_and_every_setting_is_in_the_reference():
    commands = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    settings = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    assert all(f"\n### lamina {name}\n" in commands for name in COMMANDS)
    assert all(f"\n| `{setting.key}` |" in settings for setting in TABLE)


def test_the_help_does_not_depend_on_the_terminal(monkeypatch):
    before = generate.commands_page()
    monkeypatch.setenv("COLUMNS", "20")
    assert generate.commands_page() == before
