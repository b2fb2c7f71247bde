"""Write the pages of docs/reference that are made from the program: the commands and the settings.

`make docs` runs it; a test fails when the pages say something else than the program.
"""

# ruff: noqa: E501, INP001 - pages hold lines of prose; docs is no package

from __future__ import annotations

import contextlib
import io
from itertools import groupby
from pathlib import Path

from lamina.interfaces.cli.main import COMMANDS, main
from lamina.settings.table import markdown_table

REFERENCE = Path(__file__).parent / "reference"
NOTICE = "<!-- made by docs/generate.py; edit the program, then run make docs -->\n"

COMMANDS_INTRO = """
# Commands

Every command takes `--help`, `--json` (one JSON object on standard output, nothing else there), `--root DIR` and
`--workspace KEY`; every command that changes something takes `--dry-run`, which says what would change and changes
no byte. The global options may also stand before the command: `lamina --json search port`.

Results go to standard output, everything else to standard error. Exit codes:

| code | meaning |
| --- | --- |
| 0 | done; also when nothing was found, or it is known already |
| 1 | failed |
| 2 | called wrongly; nothing was done |
| 3 | refused by a rule, or a person must decide |

With `--json`, a failure is `{"error": {"kind", "message", "hint"}}` on standard output, with the same exit code.
Text that begins with a dash is text unless it looks like an option; behind `--` everything is text. A lone `-` means
standard input for `remember`, `decision`, `forget`, `show` and `why`.
`eval "$(lamina completion bash)"` completes commands in the shell.
"""

SETTINGS_INTRO = """
# Settings

`lamina config` lists every setting with its value and where the value comes from. Lowest first, the places are: the
default, `memory.json` of the store (git remote and branch, for new clones), `config.toml` in the platform's config
folder (`~/.config/lamina/` on Linux), `.lamina.toml` of the project, the environment, flags.

`lamina config set KEY VALUE` writes to `config.toml`, with `--project` to `.lamina.toml`. A project's file travels
with its repository, so until `lamina trust` it may only narrow what is remembered.

`LAMINA_OFF=1` switches capture off for one process. Durations are seconds, or texts such as `30m`, `2h`, `1d`.

Today these act: `root`, `workspace`, `embedder`, `capture`, `exclude`, `isolate`, `stage`, `review`, `rerank`,
`cross_workspace`, `commit_debounce_s`, `refresh_interval_s`, `history_interval_s`, `history_commits`, `card_chars`, `notes_kept`, and those that begin with `model`, `note_` and
`consolidate_`. The others are read and checked, and nothing acts on them yet. "In dsh-memory" is the name that the setting had in the program whose stores
Lamina also opens.

"""


def commands_page() -> str:
    """Return the page of all commands, in the groups of `lamina --help`."""
    parts = [NOTICE + COMMANDS_INTRO]
    for group, members in groupby(COMMANDS.items(), key=lambda item: item[1].group):
        parts.append(f"## {group}\n")
        for name, _ in members:
            parts.append(f"### lamina {name}\n\n```text\n{help_of(name)}```\n")
    return "\n".join(parts)


def help_of(name: str) -> str:
    """Return what `lamina NAME --help` prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main([name, "--help"])
    return said.getvalue()


def settings_page() -> str:
    """Return the page of all settings."""
    return NOTICE + SETTINGS_INTRO + markdown_table()


PAGES = {"cli.md": commands_page, "settings.md": settings_page}


if __name__ == "__main__":
    REFERENCE.mkdir(exist_ok=True)
    for file, page in PAGES.items():
        (REFERENCE / file).write_text(page(), encoding="utf-8", newline="")
