"""Every setting, and where each value comes from. Nothing below this package reads configuration."""

from lamina.settings.table import SETTINGS, Setting, markdown_table, nearest, parse_value, setting_named
from lamina.settings.values import Settings, Value, config_file

__all__ = [
    "SETTINGS",
    "Setting",
    "Settings",
    "Value",
    "config_file",
    "markdown_table",
    "nearest",
    "parse_value",
    "setting_named",
]
