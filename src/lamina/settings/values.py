"""Where values come from, lowest first.

Defaults < `memory.json` (remote and branch) < `config.toml` < `.lamina.toml` < environment < flags.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from lamina import errors
from lamina.formats.frozen import NamedTuple
from lamina.settings.table import (
    PREFIX,
    REVIEW,
    SETTINGS,
    TABLE,
    Setting,
    nearest,
    parse_value,
    setting_named,
    shown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lamina.store.project import Project

_UNREADABLE = {"capture": "off"}
"""What a setting is while what was asked for can't be read: the careful reading."""
_OTHER_VARIABLES = frozenset({"LAMINA_OFF", "LAMINA_CHILD", "LAMINA_EMBEDDER_KEY_ENV"})


class Value(NamedTuple):
    """A value and where it comes from: `default`, a file, a variable or a flag."""

    value: Any
    origin: str


class Layer(NamedTuple):
    """One source of values, already checked. `origins` differs from `name` where each key has its own."""

    name: str
    values: Mapping[str, Any]
    origins: Mapping[str, str] = {}


class Settings:
    """All values now. `warnings` tells what of the files and variables could not be used."""

    def __init__(
        self, layers: tuple[Layer, ...], *, file: Path, home: Path, warnings: tuple[str, ...] = ()
    ) -> None:
        self.layers = layers
        self.file = file
        """The user's own `config.toml`, whether it exists or not."""
        self.home = home
        self.warnings = warnings

    @classmethod
    def load(
        cls,
        *,
        env: Mapping[str, str],
        home: Path | None = None,
        cwd: Path | None = None,
        flags: Mapping[str, Any] | None = None,
        platform: str = sys.platform,
    ) -> Settings:
        """Read the settings that hold in a folder; without `cwd` those of this machine alone.

        Files and variables with faults give warnings and lower layers count; a wrong flag raises BadSetting.
        """
        home = home or Path(env.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - pathlib would ask again
        file = config_file(env, home, platform=platform)
        user, warnings = _user_layer(file)
        variables, more = _environment_layer(env)
        above = (variables, _flags_layer(flags or {}))
        found = cls((user, *above), file=file, home=home, warnings=(*warnings, *more))
        shared, told = _shared_layer(found.root)
        found = cls((shared, user, *above), file=file, home=home, warnings=(*found.warnings, *told))
        return found.with_project(_project_of(cwd, found.root, home)) if cwd else found

    def with_project(self, project: Project | None) -> Settings:
        """Return the settings with what a `.lamina.toml` may say of them."""
        if project is None:
            return self
        layer, warnings = _project_layer(self, project)
        layers = (*self.layers[:2], layer, *self.layers[-2:])
        return Settings(layers, file=self.file, home=self.home, warnings=(*self.warnings, *warnings))

    def __getitem__(self, key: str) -> Any:
        return self.value(key).value

    def value(self, key: str) -> Value:
        """Return a value with its origin; raises BadSetting for an unknown key."""
        return self._value(setting_named(key))

    def shown(self, key: str) -> str:
        """Return a value as a person may see it: a secret only as set or unset."""
        value = self.value(key).value
        return ("set" if value else "unset") if key == "git_token" else shown(value)

    def __iter__(self) -> Iterator[tuple[Setting, Value]]:
        return ((setting, self._value(setting)) for setting in TABLE)

    def _value(self, setting: Setting) -> Value:
        for layer in reversed(self.layers):
            if setting.key in layer.values:
                return Value(layer.values[setting.key], layer.origins.get(setting.key, layer.name))
        return Value(setting.default, "default")

    @property
    def root(self) -> Path:
        """The store's folder, with `~` resolved."""
        text = str(self["root"])
        return self.home / text[2:] if text.startswith("~/") else self.home if text == "~" else Path(text)


def config_file(env: Mapping[str, str], home: Path, *, platform: str = sys.platform) -> Path:
    """Return the path of the user's `config.toml`: XDG's rule where it is set, else the platform's."""
    folder = env.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(folder):  # noqa: PTH117 - a string, not a path yet
        return Path(folder) / "lamina" / "config.toml"
    if platform.startswith("linux"):
        return home / ".config" / "lamina" / "config.toml"
    from platformdirs import user_config_dir

    return Path(user_config_dir("lamina", appauthor=False)) / "config.toml"


def _project_of(cwd: Path, root: Path, home: Path) -> Project | None:
    """Return the folder's project file with trust decided; the resolver is asked only if there is one."""
    from lamina.store import project, repository

    folder = Path(os.path.realpath(cwd))
    found = project.find_file(folder, home=home, store_root=root, repository=repository.find(folder))
    if found is None:
        return None
    from lamina.store.identity import resolve
    from lamina.store.registry import Registry

    return resolve(cwd, registry=Registry.load(root), env={}, home=home).project


def _user_layer(file: Path) -> tuple[Layer, list[str]]:
    if not os.path.isfile(file):  # noqa: PTH113 - answers False where pathlib raises
        return Layer(str(file), {}), []
    from lamina.store import tomlfile

    found = tomlfile.load(file)
    if found is None:
        return Layer(str(file), {}), []
    values: dict[str, Any] = {}
    warnings = [*found.warnings]
    for key, value in _flat(found.values).items():
        place = f"{file}:{tomlfile.line_of(found.text, key)}"
        setting = SETTINGS.get(key)
        if setting is None:
            warnings.append(f"{place}: {_unknown(key)}")
        elif setting.place in ("project", "session"):
            warnings.append(f"{place}: {key} belongs into a project's .lamina.toml")
        elif setting.place == "environment":
            warnings.append(f"{place}: {key} is not read from a file; set {setting.variable}")
        else:
            values |= _checked(setting, value, place, warnings)
    return Layer(str(file), values), warnings


def _environment_layer(env: Mapping[str, str]) -> tuple[Layer, list[str]]:
    values: dict[str, Any] = {}
    warnings: list[str] = []
    for name, text in env.items():
        if not name.startswith(PREFIX) or not text.strip() or name in _OTHER_VARIABLES:
            continue
        setting = SETTINGS.get(name.removeprefix(PREFIX).lower())
        if setting is not None and setting.variable == name:
            values |= _checked(setting, text, name, warnings)
        elif setting is None and nearest(name.removeprefix(PREFIX)):
            warnings.append(f"{name}: {_unknown(name.removeprefix(PREFIX).lower())}")
    return Layer("environment", values, {key: SETTINGS[key].variable for key in values}), warnings


def _flags_layer(flags: Mapping[str, Any]) -> Layer:
    values = {
        key: parse_value(setting_named(key), value) for key, value in flags.items() if value is not None
    }
    return Layer("flags", values, {key: "--" + key.replace("_", "-") for key in values})


def _shared_layer(root: Path) -> tuple[Layer, list[str]]:
    """Read what the store's own memory.json proposes to a new clone."""
    path = root / "memory.json"
    if not os.path.isfile(path):  # noqa: PTH113 - answers False where pathlib raises
        return Layer("memory.json", {}), []
    from lamina.store import files
    from lamina.store.registry import parse_object

    try:
        git = parse_object(files.read_text(path), str(path)).get("git")
    except errors.LaminaError as problem:
        return Layer("memory.json", {}), [problem.message]
    said = git if isinstance(git, dict) else {}
    pairs = {"git_remote": said.get("remote"), "git_branch": said.get("branch")}
    return Layer(
        "memory.json", {key: value for key, value in pairs.items() if isinstance(value, str) and value}
    ), []


def _project_layer(settings: Settings, project: Project) -> tuple[Layer, list[str]]:
    """Take what a project may say: less is remembered, more is reviewed; all else only once it is trusted."""
    values: dict[str, Any] = {}
    warnings: list[str] = []
    for key, value in project.allowed.items():
        setting = SETTINGS.get(key)
        if setting is None:
            warnings.append(f"{project.path}: {_unknown(key)}")
        else:
            values |= _checked(setting, value, str(project.path), warnings)
    if "exclude" in values:
        values["exclude"] = list(dict.fromkeys((*settings["exclude"], *values["exclude"])))
    if "review" in values and not project.trusted and _laxer(values["review"], settings["review"]):
        warnings.append(f"{project.path}: review = {values.pop('review')!r}: ignored until `lamina trust`")
    return Layer(str(project.path), values), warnings


def _checked(setting: Setting, value: object, place: str, warnings: list[str]) -> dict[str, Any]:
    try:
        return {setting.key: parse_value(setting, value)}
    except errors.BadSetting as problem:
        careful = _UNREADABLE.get(setting.key)
        taken = f"; {careful!r} until then" if careful else ""
        warnings.append(f"{place}: {problem.message}{taken}")
        return {setting.key: careful} if careful else {}


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Read `[git] remote` as `git_remote`: both are what people write."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            found |= {f"{key}_{inner}": item for inner, item in _flat(value).items()}
        else:
            found[key] = value
    return found


def _unknown(key: str) -> str:
    near = nearest(key)
    return f"no setting is called {key!r}" + (f"; did you mean {near!r}?" if near else "")


def _laxer(asked: str, own: str) -> bool:
    return REVIEW.index(asked) < REVIEW.index(own)
