"""Words of the store that a word found nowhere was probably meant to be."""

from __future__ import annotations

import sqlite3

from lamina.index import words

_SHORTEST = 4
_LONG = 8  # letters from which two may be wrong
_LOOKED_AT = 2_000  # words of the store with the same beginning
_MOST = 3


def similar(db: sqlite3.Connection, word: str) -> list[str]:
    """Return words of the index that differ from this one by a letter or two, the closest first.

    The first two letters are taken to be right, or the first and the third to have changed places with the
    second; words that are not plain Latin letters are left alone.
    """
    word = _stem(word) if word.isascii() and word.isalpha() else ""
    if len(word) < _SHORTEST:
        return []
    most = 2 if len(word) >= _LONG else 1
    letters = set(word)
    found: list[tuple[int, str]] = []
    for start in dict.fromkeys((word[:2], word[0] + word[2])):
        sql = "SELECT term FROM vocabulary WHERE term >= ? AND term < ? LIMIT ?"
        for (term,) in db.execute(sql, (start, start + "\U0010ffff", _LOOKED_AT)):
            if abs(len(term) - len(word)) <= most and len(letters.difference(term)) <= most:
                away = _distance(word, term, most)
                if away <= most:
                    found.append((away, term))
    return [term for _, term in sorted(set(found))[:_MOST]]


def _stem(word: str) -> str:
    """Return a word as the index holds it: its stem, by the tokenizer of the index itself."""
    db = sqlite3.connect(":memory:")
    try:
        db.execute(f'CREATE VIRTUAL TABLE one USING fts5 (word, tokenize="{words.TOKENIZER}")')
        db.execute("CREATE VIRTUAL TABLE held USING fts5vocab (one, row)")
        db.execute("INSERT INTO one VALUES (?)", (word,))
        return str(db.execute("SELECT term FROM held").fetchone()[0])
    finally:
        db.close()


def _distance(one: str, other: str, most: int) -> int:
    """Return how many letters to add, drop, change or swap; past `most`, some larger number."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    line = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        older, before, line = before, line, [at]
        for place, right in enumerate(other, 1):
            cost = min(before[place] + 1, line[-1] + 1, before[place - 1] + (letter != right))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == right:
                cost = min(cost, older[place - 2] + 1)
            line.append(cost)
        if min(line) > most:
            return most + 1
    return line[-1]
