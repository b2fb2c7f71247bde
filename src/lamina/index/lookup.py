"""Ask the embedded index: which expressions to run, at what cost, in what order the rows come back.

Words that stand almost everywhere say little and cost much: scoring a row takes about 2 µs, walking
past one 0.05 µs (measured on SQLite 3.40). So rare words choose the candidates, frequent ones only
add to the score of rows that are chosen already, and if nothing is rare, all words must stand
together and the newest rows win.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Sequence

from lamina.formats.frozen import NamedTuple
from lamina.index import tables, words
from lamina.index.base import TRUSTS, Query
from lamina.index.words import Term

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RARE = 2_000  # up to this many rows a word may choose candidates
FREQUENT = 10_000  # frequencies are counted up to here; beyond, a word adds nothing to a score
_BUDGET = 1_000  # rows scored for one query, once there are more than RARE
_OPTIONAL = 2
_BEST = 200
_NEWEST = 200
_SCANNED = 5_000  # texts looked through for a part of a word
_SENTENCE = 3
_SOURCES = 20
_AROUND = 1_000
# Shares of a score that go to the neighbours one and two steps away; measured on dialogues by turn.
_NEXT, _AFTER = 0.4, 0.2


class Ranked(NamedTuple):
    """Rows with their score from words and from neighbours, best first; words asked for and left out."""

    rows: Sequence[tuple[int, float, float]]
    terms: tuple[str, ...]
    dropped: tuple[str, ...]


class Lookup:
    """One connection's questions; frequencies are remembered until the index changes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._version = -1
        self._frequencies: dict[str, int] = {}
        self._total = 0

    def rank(self, query: Query) -> Ranked:
        """Return the best rows for a query."""
        terms = words.parse(query.text)
        strong = tuple(term for term in terms if not term.weak)
        self._forget_old()
        filters = Filters(query)
        names = tuple(term.text for term in strong or terms)
        if not terms or not self._total:
            return Ranked((), names, ())
        if strong:
            rows, dropped = self._by_rarity(strong, filters, query.limit)
        else:
            rows, dropped = self._together(terms, filters), ()
        if not rows:
            rows = self._substrings(strong or terms, filters)
        near = self._neighbours(rows, filters, widen=len(strong) >= _SENTENCE)
        ranked = [(row, score, near.pop(row, 0.0)) for row, score in rows.items()]
        ranked += [(row, 0.0, gain) for row, gain in near.items()]
        ranked.sort(key=lambda item: (-item[1] - item[2], -item[0]))
        return Ranked(ranked[: query.limit], names, dropped)

    def _by_rarity(
        self, terms: Sequence[Term], filters: Filters, limit: int
    ) -> tuple[dict[int, float], tuple[str, ...]]:
        chosen, optional, dropped = self._choose(terms)
        if not chosen:
            return self._together(terms, filters), ()
        match = " OR ".join(chosen)
        rows = self._best(match, filters, limit)
        for expression in optional:
            gain = math.log(1 + self._total / (1 + self._frequency(expression)))
            sql = "SELECT rowid FROM words WHERE words MATCH ?"
            for (row,) in self._db.execute(sql, (f"({match}) AND {expression}",)):
                if row in rows:
                    rows[row] += gain
        return rows, dropped

    def _best(self, match: str, filters: Filters, limit: int) -> dict[int, float]:
        """Return the best rows with their scores.

        Filtering a row costs as much as scoring it, so first only the best are filtered, and all of them
        only if that leaves too few.
        """
        best = f" ORDER BY rank, words.rowid DESC LIMIT {_BEST}"
        sql = f"SELECT rowid, rank FROM words WHERE words MATCH ?{filters.days}{best}"  # noqa: S608
        rows = {row: -rank for row, rank in self._db.execute(sql, (match, *filters.day_values))}
        sql = f"SELECT d.row FROM doc d WHERE d.row IN ({','.join('?' * len(rows))}){filters.rest}"  # noqa: S608
        fitting = {row for (row,) in self._db.execute(sql, (*rows, *filters.rest_values))}
        if len(rows) < _BEST or len(fitting) >= limit:
            return {row: score for row, score in rows.items() if row in fitting}
        return {row: -rank for row, rank in self._joined("words.rowid, rank", match, filters, best)}

    def _choose(self, terms: Sequence[Term]) -> tuple[list[str], list[str], tuple[str, ...]]:
        """Return the expressions that find rows, those that only add to a score, and what is left out."""
        found: dict[str, int] = {}
        for term in terms:
            for expression in (term.whole, *term.parts):
                found[expression] = self._frequency(expression)
            if term.prefix and not found[term.whole]:
                found[term.prefix] = self._frequency(term.prefix)
        ordered = sorted((n, expression) for expression, n in found.items() if n)
        chosen: list[str] = []
        budget = _BUDGET if self._total > RARE else RARE * len(ordered)
        for n, expression in ordered:
            if n > RARE or (chosen and (n > budget or 2 * n > self._total)):
                break
            chosen.append(expression)
            budget -= n
        most = FREQUENT if self._total <= RARE else min(FREQUENT, self._total // 3)
        rest = [expression for n, expression in ordered[len(chosen) :] if n <= most]
        dropped = {expression for _, expression in ordered} - set(chosen) - set(rest[:_OPTIONAL])
        left_out = tuple(term.text for term in terms if term.whole in dropped)
        return chosen, rest[:_OPTIONAL], left_out

    def _together(self, terms: Sequence[Term], filters: Filters) -> dict[int, float]:
        """Find the newest rows that hold every term, those with it in the heading first."""
        forms = [term.whole for term in terms if self._frequency(term.whole)]
        if not forms:
            return {}
        match = " AND ".join(forms)
        order = f" ORDER BY words.rowid DESC LIMIT {_NEWEST}"
        rows = {row: 0.5 for (row,) in self._joined("words.rowid", match, filters, order)}
        titled = "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ?"
        for (row,) in self._db.execute(titled, (f"{{heading topic}} : ({match})", min(rows, default=0))):
            if row in rows:
                rows[row] = 1.0
        if not rows and len(terms) > 1 and any(not term.weak for term in terms):
            rarest = min(forms, key=self._frequency)
            rows = {row: 0.25 for (row,) in self._joined("words.rowid", rarest, filters, order)}
        return rows

    def _neighbours(self, rows: dict[int, float], filters: Filters, *, widen: bool) -> dict[int, float]:
        """Give a row a share of its neighbours' scores in the session: answers stand beside questions.

        With `widen`, neighbours that hold no word of the query come in too.
        """
        best = sorted(rows.items(), key=lambda item: (-item[1], -item[0]))[:_SOURCES]
        marks = ",".join("?" * len(best))
        sql = f"SELECT DISTINCT session FROM doc WHERE row IN ({marks}) AND session IS NOT NULL"  # noqa: S608
        sessions = [session for (session,) in self._db.execute(sql, [row for row, _ in best])]
        if not sessions:
            return {}
        marks = ",".join("?" * len(sessions))
        sql = (
            f"SELECT d.session, d.row FROM doc d WHERE d.session IN ({marks})"  # noqa: S608
            f"{filters.on('d.row')} ORDER BY d.session, d.seq, d.row LIMIT {_AROUND}"
        )
        line = self._db.execute(sql, [*sessions, *filters.values]).fetchall()
        near: dict[int, float] = {}
        last = len(line) - 1
        for at, (session, row) in enumerate(line):
            score = rows.get(row)
            if not score:
                continue
            for other, share in ((at - 1, _NEXT), (at + 1, _NEXT), (at - 2, _AFTER), (at + 2, _AFTER)):
                if 0 <= other <= last and line[other][0] == session:
                    neighbour = line[other][1]
                    if widen or neighbour in rows:
                        near[neighbour] = near.get(neighbour, 0.0) + share * score
        return near

    def _substrings(self, terms: Iterable[Term], filters: Filters) -> dict[int, float]:
        """Look for parts of words in the newest documents, when words found nothing."""
        asked = [term for term in terms if len(term.text) > 2 or not term.text.isascii()][:8]
        if not asked or any(_is_run(term.text) and not self._frequency(term.whole) for term in asked):
            return {}  # a run without spaces is found wherever it stands, or it is nowhere
        wanted = [term.text for term in asked]
        likes = " AND ".join("(b.text LIKE ? ESCAPE '\\' OR b.heading LIKE ? ESCAPE '\\')" for _ in wanted)
        patterns = [f"%{_literal(text)}%" for text in wanted for _ in range(2)]
        sql = (
            f"SELECT b.row FROM (SELECT row, heading, text FROM body ORDER BY row DESC LIMIT {_SCANNED}) b "  # noqa: S608
            f"JOIN doc d ON d.row = b.row WHERE {likes}{filters.on('b.row')} "
            f"ORDER BY b.row DESC LIMIT {_NEWEST}"
        )
        return {row: 0.1 for (row,) in self._db.execute(sql, [*patterns, *filters.values])}

    def _joined(self, columns: str, match: str, filters: Filters, order: str) -> list[tuple[Any, ...]]:
        sql = (
            f"SELECT {columns} FROM words CROSS JOIN doc d ON d.row = words.rowid "  # noqa: S608
            f"WHERE words MATCH ?{filters.on('words.rowid')}{order}"
        )
        return self._db.execute(sql, [match, *filters.values]).fetchall()

    def _frequency(self, expression: str) -> int:
        """Return in how many rows an expression stands, at most a little over FREQUENT."""
        if expression not in self._frequencies:
            sql = f"SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT {FREQUENT + 1})"  # noqa: S608
            self._frequencies[expression] = self._db.execute(sql, (expression,)).fetchone()[0]
        return self._frequencies[expression]

    def _forget_old(self) -> None:
        (version,) = self._db.execute("PRAGMA data_version").fetchone()
        version = version * 1_000_003 + self._db.total_changes
        if version != self._version or len(self._frequencies) > 5_000:
            self._version = version
            self._frequencies = {}
            self._total = tables.count(self._db)


def _is_run(text: str) -> bool:
    if text.isascii():
        return False
    from lamina.index import scripts

    return scripts.is_run(text)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


class Filters:
    """A query's filters as SQL: days as a range of row numbers, the rest on the table `doc d`."""

    def __init__(self, query: Query) -> None:
        self.days, self.rest = "", ""
        self.day_values: list[object] = []
        self.rest_values: list[object] = []
        if query.since or query.until:
            self.days += " AND rowid >= ?"
            self.day_values.append(max(tables.row_of(query.since), tables.FIRST_DAY))
        if query.until:
            self.days += " AND rowid < ?"
            self.day_values.append(tables.row_of(query.until) + tables.FIRST_DAY)
        if query.scopes:
            self._within("scope", query.scopes)
        if query.layers:
            self._within("layer", query.layers)
        if not query.trust >= TRUSTS:
            self._within("trust", query.trust)
        if query.branches is not None:
            self._within("branch", {"", *query.branches})
        if query.topic:
            self.rest += " AND (d.topic = ? OR d.file IN (SELECT id FROM file WHERE rel LIKE ? ESCAPE '\\'))"
            self.rest_values += [tables.topic_key(query.topic), f"%/{_literal(query.topic)}.md"]

    @property
    def values(self) -> list[object]:
        """The values of all conditions."""
        return self.day_values + self.rest_values

    def on(self, row: str) -> str:
        """Return all conditions, each with ` AND ` in front, with `row` as the row's number."""
        return self.days.replace("rowid", row) + self.rest

    def _within(self, column: str, allowed: Iterable[str]) -> None:
        chosen = sorted(allowed)
        self.rest += f" AND d.{column} IN ({','.join('?' * len(chosen))})"
        self.rest_values += chosen
