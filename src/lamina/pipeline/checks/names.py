"""Lists the names in a text that nobody in the material spoke of: such a text is kept as a candidate only."""

from __future__ import annotations

import re

from lamina.pipeline.ground import CODE, URL, Shown, normal, squeezed


def doubts(text: str, material: str | Shown) -> list[str]:
    """List the names in `text` that stand nowhere in the material, in order, each once.

    A name is a word with a capital inside a sentence or inside the word, or a Latin word in an unspaced
    script. It is known if a word of the material begins like it (Postgres, PostgreSQL) or is short for it.
    """
    shown = Shown(material) if isinstance(material, str) else material
    plain = normal(text)
    bare = CODE.sub(" ", URL.sub(" ", plain))
    nouns = _GERMAN.search(bare) is not None  # German writes all of them with capitals
    found = (match[0] for match in _LATIN.finditer(bare) if _is_named(match, bare, nouns=nouns))
    return [name for name in dict.fromkeys(found) if not _is_known(name.lower(), shown)]


def _is_named(match: re.Match[str], text: str, *, nouns: bool) -> bool:
    """Say whether a Latin word is a name by its capitals or by the script around it."""
    word = match[0]
    if word.lower() in _PLAIN_WORDS or any(char.isdigit() for char in word):
        return False
    if re.search(r"[a-z][A-Z]", word):
        return True
    wide = text[max(0, match.start() - 2) : match.start()] + text[match.end() : match.end() + 2]
    if any(char >= "\u3040" for char in wide.strip()):
        return True
    before = text[max(0, match.start() - 3) : match.start()]
    inside = before.endswith(" ") and before.rstrip()[-1:].isalnum()
    return word[0].isupper() and (inside or before.endswith((", ", " ("))) and not nouns


def _is_known(name: str, shown: Shown) -> bool:
    names = {name, squeezed(name), name.removesuffix("s"), *_VARIANTS.get(name, ())}
    if names & (shown.words | shown.names) or (len(name) >= 4 and name[:4] in shown.starts):
        return True
    return shown.holds_folded(name) or any(one in shown.squashed for one in names if len(one) >= 4)


_LATIN = re.compile(
    r"(?<![^\W\u2e80-\U0010ffff])(?<![./@#$-])[A-Za-z][A-Za-z]{1,40}(?:-[A-Za-z]{1,40}){0,4}"
    r"(?![^\W\u2e80-\U0010ffff]|[/@]|\.\w)"
)
_GERMAN = re.compile(
    r"(?<!\w)(?:der|die|das|den|dem|und|ist|wir|nicht|ein|eine|für|mit|auf|wird|läuft|nutzt)(?!\w)"
)
_PLAIN_WORDS = frozenset(
    "i ok api url id ui cpu gpu ram http https json yaml csv xml html css sql tls ssl ssh dns ip tcp "
    "udp cli db os pr ci cd "
    "todo monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august "
    "september october november december english german chinese japanese korean".split()
)
_ALIASES = (
    "js javascript", "ts typescript", "k8s kubernetes", "py python",
    "pg postgres postgresql psql", "gha github actions",
    "gcp google", "aws amazon", "vscode code", "mongo mongodb", "es elasticsearch",
    "tf terraform tensorflow", "golang go",
    "node nodejs", "gh github", "gl gitlab", "rb ruby", "rs rust",
    "wsl windows", "mac macos", "win windows", "np numpy",
)  # fmt: skip
_VARIANTS = {name: frozenset(names.split()) for names in _ALIASES for name in names.split()}
