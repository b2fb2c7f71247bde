"""`lamina config`: every setting with its value and where the value comes from."""

from __future__ import annotations

from lamina.interfaces.cli.arguments import command, open_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:
    """List the settings, get one or set one."""
    parser = command(
        name,
        "Show every setting with its value and where the value comes from, or change one.",
        changes=True,
        examples=(
            "lamina config",
            "lamina config get card_chars",
            "lamina config set capture off --project",
            "lamina config set exclude '~/private/**'",
        ),
    )
    parser.add_argument("--project", action="store_true", help="set it in this project's .lamina.toml")
    parser.add_argument(
        "action", nargs="?", choices=("list", "get", "set"), default="list", help="list is the default"
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
