"""What models are told: one text file a purpose and version, `<purpose>.v<number>.txt`, the newest in use.

Beside it may stand `<purpose>.v<number>.gbnf`, the grammar of the replies that it asks for.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"([a-z]+)\.v([0-9]+)\.txt")


@cache
def load(purpose: str) -> str:
    """Return the newest text for a purpose; raises KeyError for one that has none."""
    return files(__name__).joinpath(f"{_newest(purpose)}.txt").read_text(encoding="utf-8")


def grammar(purpose: str, **rules: str) -> str:
    """Return the grammar of the replies to the newest text, in GBNF; `{name}` in it stands for `rules[name]`.

    Raises KeyError for a purpose that has none.
    """
    file = files(__name__).joinpath(f"{_newest(purpose)}.gbnf")
    if not file.is_file():
        raise KeyError(purpose)
    return re.sub(r"\{([a-z]+)\}", lambda name: rules[name[1]], file.read_text(encoding="utf-8"))


def one_of(texts: tuple[str, ...]) -> str:
    """Write a rule that allows these texts alone: quoted, with `|` between them."""
    import json

    return " | ".join(json.dumps(text, ensure_ascii=False) for text in texts)


def _newest(purpose: str) -> str:
    found = {
        int(match[2]): each.name.removesuffix(".txt")
        for each in files(__name__).iterdir()
        if (match := _NAME.fullmatch(each.name)) and match[1] == purpose
    }
    if not found:
        raise KeyError(purpose)
    return found[max(found)]
