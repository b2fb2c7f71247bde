"""`lamina completion SHELL`: a completion script for bash, zsh or fish."""

from __future__ import annotations

from lamina.interfaces.cli.arguments import command
from lamina.interfaces.cli.main import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.interfaces.cli.output import Output

OPTIONS = ("--root", "--workspace", "--json", "--help")

BASH = """_lamina() {{
  local word=${{COMP_WORDS[COMP_CWORD]}}
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "{names}" -- "$word"))
  elif [ "${{word#-}}" != "$word" ]; then COMPREPLY=($(compgen -W "{options}" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}}
complete -F _lamina lamina
"""

ZSH = """#compdef lamina
_lamina() {{
  local -a commands
  commands=(
{described}
  )
  if (( CURRENT == 2 )); then _describe command commands
  else _arguments '*:file:_files'; compadd -- {options}; fi
}}
compdef _lamina lamina
"""

FISH_COMMAND = "complete -c lamina -n __fish_use_subcommand -f -a {name} -d '{summary}'"


def run(name: str, arguments: list[str], out: Output) -> int:
    """Print the completion script of one shell."""
    parser = command(
        name,
        "Print a completion script for your shell.",
        examples=(
            'eval "$(lamina completion bash)"',
            "lamina completion fish > ~/.config/fish/completions/lamina.fish",
        ),
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")
    options = parser.options(arguments)
    script = render(options.shell)
    out.result({"shell": options.shell, "script": script}, script.rstrip("\n"))
    return 0


def render(shell: str) -> str:
    """Return the completion script of `shell`."""
    names, options = " ".join(COMMANDS), " ".join(OPTIONS)
    summaries = {name: entry.summary.replace("'", "’").replace(":", " ") for name, entry in COMMANDS.items()}
    if shell == "bash":
        return BASH.format(names=names, options=options)
    if shell == "zsh":
        described = "\n".join(f"    '{name}:{summary}'" for name, summary in summaries.items())
        return ZSH.format(described=described, options=options)
    return "\n".join(FISH_COMMAND.format(name=n, summary=s) for n, s in summaries.items()) + "\n"
