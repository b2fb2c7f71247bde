"""Every setting: its key, its type, its default and what it means. Pure data and its reading."""

from __future__ import annotations

from collections.abc import Callable

from lamina import errors
from lamina.formats.frozen import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

PREFIX: Final = "LAMINA_"
REVIEW: Final = ("off", "doubtful", "decisions", "all")
"""From lax to strict: a project may only move to the right."""


class Setting(NamedTuple):
    """One setting. `seed` is the name that dsh-memory gave it."""

    key: str
    type: str
    """`text path int seconds bool list routes` (a list or `auto`), or choices split by `|`."""
    default: Any
    meaning: str
    seed: str = ""
    place: str = ""
    """`project` or `environment`: where alone it may stand; `session`: not in the user's file."""

    @property
    def variable(self) -> str:
        """Its environment variable, "" if it has none."""
        return "" if self.place == "project" else PREFIX + self.key.upper()

    @property
    def expected(self) -> str:
        """What a value must be, for messages."""
        return _EXPECTED.get(self.type) or "one of " + ", ".join(
            f'"{choice}"' for choice in self.type.split("|")
        )


_EXPECTED = {
    "text": "a text",
    "path": "a path",
    "int": "a whole number from 0 on",
    "seconds": "seconds, or a text such as 30m, 2h or 1d",
    "bool": "true or false",
    "list": "a list of texts",
    "routes": 'a list of provider/model, or "auto"',
}

TABLE: Final = (
    Setting("root", "path", "~/.lamina", "The store's folder.", "memoryRoot"),
    Setting("workspace", "text", "", "The workspace to use instead of the folder's own.", "", "session"),
    Setting("model", "text", "", "The model for memory work, `provider/model`; empty: none.", "summaryModel"),
    Setting("model_routes", "routes", [], 'More models that may be used, or "auto" for all that are found.'),
    Setting("model_base_url", "text", "", "The address of the model's endpoint, if it is not the vendor's."),
    Setting("model_timeout_s", "seconds", 120, "Time that one model may take to answer."),
    Setting("model_daily_calls", "int", 300, "Model calls a day at most."),
    Setting("model_daily_tokens", "int", 2_000_000, "Model tokens a day at most, in and out."),
    Setting(
        "embedder",
        "text",
        "builtin",
        "What makes vectors: `builtin`, `ollama:MODEL` or another one, or `none` for words only.",
    ),
    Setting(
        "git_remote",
        "text",
        "",
        "The git URL that the store syncs with; empty: this machine only.",
        "gitRemote",
    ),
    Setting("git_branch", "text", "main", "The branch that the store syncs with.", "gitBranch"),
    Setting("git_name", "text", "", "The name on the store's commits; empty: git's own.", "gitName"),
    Setting("git_email", "text", "", "The address on the store's commits; empty: git's own.", "gitEmail"),
    Setting(
        "git_token",
        "text",
        "",
        "A token for the remote, else git's credential helper.",
        "gitToken",
        "environment",
    ),
    Setting("capture", "on|off", "on", "Whether sessions are captured."),
    Setting("exclude", "list", [], "Folders, as patterns, whose sessions are never captured."),
    Setting("review", "|".join(REVIEW), "doubtful", "Which captured entries wait for a person's review."),
    Setting(
        "isolate",
        "worktree",
        "",
        'With "worktree", each linked worktree has its own workspace.',
        "",
        "project",
    ),
    Setting(
        "stage",
        "branch",
        "",
        'With "branch", what is learnt on a branch stays there until merged.',
        "",
        "project",
    ),
    Setting(
        "memory_path", "text", "", "The folder of the project memory, inside the project.", "", "project"
    ),
    Setting(
        "checkpoint", "auto|on|off|store", "auto", "Whether checkpoints are written without being asked for."
    ),
    Setting(
        "record", "on|off", "off", "Whether a session is recorded in its project (memory/) when it ends."
    ),
    Setting("semantic", "text", "builtin", "The semantic core: `builtin`, `env:NAME` or `off`."),
    Setting("cross_workspace", "bool", False, "Whether a search through MCP may span all workspaces."),
    Setting("rerank", "bool", False, "Whether a model may reorder what a search found.", "rerankSearch"),
    Setting(
        "capture_interval_s", "seconds", 300, "Time between captures of one session.", "autoCaptureIntervalMs"
    ),
    Setting(
        "commit_debounce_s", "seconds", 10, "Quiet time before the store is committed.", "commitDebounceMs"
    ),
    Setting("sync_interval_s", "seconds", 3600, "Time between syncs with the remote.", "autoSyncIntervalMs"),
    Setting(
        "refresh_interval_s",
        "seconds",
        86_400,
        "Time between checks of stale entries.",
        "autoRefreshIntervalMs",
    ),
    Setting(
        "history_interval_s",
        "seconds",
        3600,
        "Time between readings of new commits.",
        "autoHistoryIntervalMs",
    ),
    Setting("history_commits", "int", 200, "Commits read in one pass.", "autoHistoryLimit"),
    Setting(
        "consolidate_interval_s", "seconds", 1800, "Time between consolidations.", "autoConsolidateIntervalMs"
    ),
    Setting(
        "consolidate_pending",
        "int",
        3,
        "Notes that wait before one runs by itself.",
        "autoConsolidateMinPending",
    ),
    Setting("consolidate_batch", "int", 6, "Notes in one consolidation.", "autoConsolidateBatchSize"),
    Setting(
        "consolidate_attempts", "int", 3, "Attempts before a note needs a person's review.", "maxAttempts"
    ),
    Setting(
        "consolidate_bytes", "int", 48_000, "Size of a consolidation's prompt.", "consolidateMaxPromptBytes"
    ),
    Setting(
        "consolidate_note_bytes", "int", 8000, "Size of one note in that prompt.", "consolidateMaxDigestBytes"
    ),
    Setting("card_chars", "int", 6000, "Characters of the card in front of a session.", "injectionMaxChars"),
    Setting(
        "card_interval_s", "seconds", 1800, "Time before a changed card is shown again.", "injectionRefreshMs"
    ),
    Setting(
        "recall",
        "bool",
        False,
        "Before an edit or a command, show what memory knows about the file or program.",
    ),
    Setting("nudges", "bool", False, "With a prompt, name the entries that hold most of its rare words."),
    Setting("note_turns", "int", 40, "Turns of the person that one pass may see.", "digestMaxUserTurns"),
    Setting("note_gists", "int", 40, "Answers that one pass may see.", "digestMaxAssistantGists"),
    Setting("note_message_chars", "int", 600, "Characters of each of them.", "digestMaxMessageChars"),
    Setting("note_bytes", "int", 24_000, "Bytes that one pass may see.", "digestMaxBytes"),
    Setting("note_bullets", "int", 12, "Bullets that one pass may keep.", "summaryMaxBullets"),
    Setting(
        "note_signal_chars", "int", 400, "New text below which no model is asked.", "summaryMinSignalChars"
    ),
    Setting(
        "note_attempts",
        "int",
        2,
        "Useless replies before a note is made without a model.",
        "summaryMaxAttempts",
    ),
    Setting("notes_kept", "int", 50, "Consolidated notes that are kept.", "digestKeepCount"),
)
SETTINGS: Final = {setting.key: setting for setting in TABLE}


_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


def setting_named(key: str) -> Setting:
    """Return a setting; raises BadSetting with the nearest name for an unknown one."""
    found = SETTINGS.get(key)
    if found is None:
        near = nearest(key)
        raise errors.BadSetting(
            f"no setting is called {key!r}", f"did you mean {near!r}?" if near else "see `lamina config`"
        )
    return found


def nearest(key: str) -> str:
    """Return the setting that somebody may have meant, or ""."""
    for setting in TABLE:
        if key and key in (setting.seed, setting.variable):
            return setting.key
    import difflib

    close = difflib.get_close_matches(key.lower().replace("-", "_"), SETTINGS, n=1, cutoff=0.6)
    return close[0] if close else ""


def parse_value(setting: Setting, value: object) -> Any:
    """Return a value in a setting's type, from TOML, JSON or text; BadSetting says what was expected."""
    reader = _READERS.get(setting.type)
    found = reader(value) if reader else _choice(setting.type.split("|"), value)
    if found is None:
        raise errors.BadSetting(
            f"{setting.key} = {value!r}: expected {setting.expected}", "see `lamina config`"
        )
    return found


def markdown_table() -> str:
    """Return the table of all settings for the documentation."""
    rows = ["| key | environment | in dsh-memory | default | meaning |", "| --- | --- | --- | --- | --- |"]
    for setting in TABLE:
        default = f"`{shown(setting.default)}`" if setting.default != "" else ""
        variable = f"`{setting.variable}`" if setting.variable else "(project only)"
        seed = f"`{setting.seed}`" if setting.seed else ""
        rows.append(f"| `{setting.key}` | {variable} | {seed} | {default} | {setting.meaning} |")
    return "\n".join(rows) + "\n"


def shown(value: object) -> str:
    """Return a value as TOML would write it, a text without quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return str(value)


def is_true(text: str) -> bool:
    """Tell whether a switch in the environment is on: anything but empty, 0, false, no and off."""
    return text.strip().lower() not in ("", *_FALSE)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _seconds(value: object) -> int | None:
    if not isinstance(value, str):
        return _whole(value)
    from lamina.formats.duration import parse_duration

    return parse_duration(value)


def _routes(value: object) -> str | list[str] | None:
    return "auto" if isinstance(value, str) and value.strip() == "auto" else _texts(value)


def _choice(choices: list[str], value: object) -> str | None:
    if isinstance(value, bool) and {"on", "off"} <= set(choices):
        return "on" if value else "off"
    text = value.strip().lower() if isinstance(value, str) else ""
    return text if text in choices else None


def _whole(value: object) -> int | None:
    if isinstance(value, str) and value.strip().isascii() and value.strip().replace("_", "").isdigit():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _truth(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    text = value.strip().lower() if isinstance(value, str) else ""
    return True if text in _TRUE else False if text in _FALSE else None


def _texts(value: object) -> list[str] | None:
    """Read a list; a text is one too: a TOML list, or items split by commas or line ends."""
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            import tomllib

            try:
                value = tomllib.loads(f"value = {value}")["value"]
            except tomllib.TOMLDecodeError:
                return None
        else:
            value = [item.strip() for item in value.replace("\n", ",").split(",") if item.strip()]
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return list(value)
    return None


_READERS: Final[dict[str, Callable[[object], Any]]] = {
    "text": _text,
    "path": _text,
    "int": _whole,
    "seconds": _seconds,
    "bool": _truth,
    "list": _texts,
    "routes": _routes,
}
