"""`lamina config`: every setting with its value and where the value comes from."""

from __future__ import annotations

from lamina.interfaces.cli.arguments import command, open_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:
    """List the settings or the models, get a setting or set one."""
    parser = command(
        name,
        "Show every setting with its value and where the value comes from, or change one.",
        changes=True,
        examples=(
            "lamina config",
            "lamina config get card_chars",
            "lamina config set capture off --project",
            "lamina config set exclude '~/private/**'",
            "lamina config models",
        ),
    )
    parser.add_argument("--project", action="store_true", help="set it in this project's .lamina.toml")
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "get", "set", "models"),
        default="list",
        help="list is the default; models lists the models that this machine can ask, and which may be asked",
    )
    parser.add_argument("key", nargs="?", metavar="KEY", help="the setting's name")
    parser.add_argument("value", nargs="?", metavar="VALUE", help="its new value")
    options = parser.options(arguments)
    memory = open_memory(options, out)
    if options.action == "list":
        if options.key is not None:
            parser.error("`config list` takes no name; `config get KEY` shows one setting")
        values = memory.config()
        width = max(len(value["key"]) for value in values)
        out.result(
            {"settings": values},
            "\n".join(
                f"{v['key']:<{width}}  {v['value']!s:<24} {out.style(v['origin'], 'dim')}" for v in values
            ),
        )
        return 0
    if options.action == "models":
        if options.key is not None:
            parser.error("`config models` takes no name; `config set model NAME` names a model")
        found = memory.models()
        out.result(found, render_models(found))
        return 0
    if options.key is None:
        parser.error(f"config {options.action} wants the name of a setting")
    if options.action == "get":
        value = memory.config_value(options.key)
        out.result(value, f"{value['value']}")
        return 0
    if options.value is None:
        parser.error("config set wants a name and a value")
    changed = memory.set_config(options.key, options.value, project=options.project, dry_run=options.dry_run)
    verb = "would write" if options.dry_run else "wrote"
    out.result(changed, f"{verb} {options.key} = {changed['value']} to {changed['file']}")
    return 0


def render_models(facts: Mapping[str, Any]) -> str:
    """Return the models for a person to read: which may be asked, how they do, and how to name one."""
    rows = facts["routes"]
    width = max((len(row["route"]) for row in rows), default=0)
    lines = [f"{row['route']:<{width}}  {model_told(row)}" for row in rows] or ["no model is found here"]
    if facts["waiting"]:
        lines.append(f"waiting: {facts['waiting']}")
    if not any(row["permitted"] for row in rows):
        lines.append("none is asked; `lamina config set model PROVIDER/MODEL` names one")
    return "\n".join(lines)


def model_told(row: Mapping[str, Any]) -> str:
    """Return what is known of one model."""
    parts = [
        "may be asked" if row["permitted"] else "not permitted",
        row["problem"] or row["found"],
        "answered last" if row["won"] else "",
        f"asked last until {row['benched_until']}" if row["benched_until"] else "",
    ]
    return " · ".join(filter(None, parts))
