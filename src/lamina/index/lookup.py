"""Ask the embedded index: which expressions to run, at what cost, in what order the rows come back.

Words that stand almost everywhere say little and cost much: scoring a row takes about 2 µs, walking
past one 0.05 µs (measured on SQLite 3.40). So rare words choose the candidates, frequent ones only
add to the score of rows that are chosen already, and if nothing is rare, all words must stand
together and the newest rows win.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence

from lamina.formats.frozen import NamedTuple
from lamina.index import fusion, tables, words
from lamina.index.base import Query
from lamina.index.conditions import Conditions, literal
from lamina.index.words import Term

RARE = 2_000  # up to this many rows a word may choose candidates
FREQUENT = 10_000  # frequencies are counted up to here; beyond, a word adds nothing to a score
_BUDGET = 400  # rows scored for one query, once there are more than RARE
_OPTIONAL = 2
_BEST_OF_FEW = 200  # rows that are filtered and weighed at once in a store of up to RARE rows
_BEST = 60
_NEWEST = 100
_SCANNED = 5_000  # texts looked through for a part of a word
_SENTENCE = 3
_SOURCES = 12
_AROUND = 1_000
_MEANT = 0.6  # of a word is found where one stands that is spelt nearly so
_SHORT = 6  # words of a query that was typed in, in which slips of the fingers are looked for
_SLIPS = 2  # words of it that may be slips
_SURE = 0.13  # likeness below which meaning alone, without any word, finds nothing
_PREFIX = 0.7  # of a word is found where only a longer one stands

Likeness = Callable[[Query, Mapping[str, float], Conditions], Mapping[int, float]]
"""Finds rows by meaning: a query, what each of its words is worth, the filters -> likeness of rows."""


class Ranked(NamedTuple):
    """Rows with their scores, best first; words asked for and left out; what words and signals are worth."""

    rows: Sequence[fusion.Scored]
    terms: tuple[str, ...]
    dropped: tuple[str, ...]
    worth: Mapping[str, float] = {}
    weights: Mapping[str, float] = {}


class _Form(NamedTuple):
    """One expression of a term: how much of the term it stands for, and how many rows hold it."""

    expression: str
    term: int
    part: float
    rows: int


_WHOLE = _Form("", 0, 1.0, 1)  # what a row holds that has all words, or all parts of words


class _Found(NamedTuple):
    """What the words gave: scores, masks of found forms, and lengths by row."""

    scores: Mapping[int, float]
    masks: Mapping[int, int]
    lengths: Mapping[int, int]
    forms: Sequence[_Form]
    dropped: tuple[str, ...]


class Lookup:
    """One connection's questions; frequencies are remembered until the index changes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._version = -1
        self._frequencies: dict[str, int] = {}
        self._slips: dict[str, list[str]] = {}
        self._total = 0

    def rank(self, query: Query, alike: Likeness | None = None) -> Ranked:
        """Return the best rows for a query, by its words and, if `alike` is given, by its meaning."""
        terms = words.parse(query.text)
        strong = tuple(term for term in terms if not term.weak)
        asked = strong or terms
        self._forget_old()
        names = tuple(term.text for term in asked)
        if not self._total or not terms:
            return Ranked((), names, ())
        conditions = Conditions(query)
        forms = self._forms(asked)
        worth = {number: self._worth(number, forms) for number in range(len(asked))}
        found = self._by_words(asked, forms, conditions, query.limit, any_strong=bool(strong))
        values = {term.text: worth[number] for number, term in enumerate(asked)}
        alike_rows: Mapping[int, float] = {}
        if alike is not None:
            alike_rows = alike(query, values, conditions)
            if not found.scores:
                alike_rows = {row: value for row, value in alike_rows.items() if value >= _SURE}
        line, beside = self._line(found.scores, alike_rows, conditions)
        lengths = {**beside, **found.lengths}
        lengths |= self._lengths(row for row in alike_rows if row not in lengths)
        signals = fusion.Signals(found.scores, found.masks, alike_rows, lengths, line)
        share = fusion.coverage((form.term, form.part, worth[form.term]) for form in found.forms)
        ranked = fusion.fuse(signals, share, widen=len(strong) >= _SENTENCE, limit=query.limit)
        weights = (fusion.BOTH if alike_rows else fusion.WORDS)._asdict()
        return Ranked(ranked, names, found.dropped, values, weights)

    # -- words

    def _forms(self, terms: Sequence[Term]) -> list[_Form]:
        """Return what can be looked for: each term whole, in parts, and as a beginning if nothing else."""
        forms: dict[str, _Form] = {}
        slips = _SLIPS if len(terms) <= _SHORT else 0
        for number, term in enumerate(terms):
            looser = [(part, 1 / len(term.parts)) for part in term.parts]
            for expression, part in ((term.whole, 1.0), *looser):
                forms.setdefault(expression, _Form(expression, number, part, self._frequency(expression)))
            if term.prefix and not forms[term.whole].rows:
                found = self._frequency(term.prefix)
                forms.setdefault(term.prefix, _Form(term.prefix, number, _PREFIX, found))
                if not found and slips:
                    slips -= 1
                    for meant in self._meant(term.text):
                        forms.setdefault(meant, _Form(meant, number, _MEANT, self._frequency(meant)))
        return list(forms.values())

    def _meant(self, word: str) -> list[str]:
        """Return expressions for words of the store that one found nowhere was probably meant to be."""
        if word not in self._slips:
            from lamina.index.spelling import similar

            stems = similar(self._db, word)
            tried = ((f'"{stem}{ending}"' for ending in ("", "e", "s", "y")) for stem in stems)
            found = (next((each for each in several if self._frequency(each)), "") for several in tried)
            self._slips[word] = [each for each in found if each]
        return self._slips[word]

    def _worth(self, number: int, forms: Iterable[_Form]) -> float:
        """Return how rare a term is: the logarithm of rows per row with it."""
        rows = [form.rows for form in forms if form.term == number and form.rows]
        return math.log(1 + self._total / (1 + min(rows, default=0)))

    def _by_words(
        self,
        terms: Sequence[Term],
        forms: Sequence[_Form],
        conditions: Conditions,
        limit: int,
        *,
        any_strong: bool,
    ) -> _Found:
        chosen, optional, dropped = self._choose(forms) if any_strong else ([], [], set())
        names = tuple(terms[form.term].text for form in dropped if form.part == 1)
        if not terms:
            return _Found({}, {}, {}, (), ())
        if chosen:
            found = self._score(chosen, optional, conditions, limit)
            if found.scores:
                return found._replace(dropped=names)
            # What the rare words stand in, the filters took away: then the next ones choose.
            rest = [form for form in forms if form.rows and form not in chosen]
            chosen, optional, dropped = self._choose(rest)
            found = self._score(chosen, optional, conditions, limit) if chosen else found
            if found.scores:
                return found._replace(
                    dropped=tuple(terms[form.term].text for form in dropped if form.part == 1)
                )
            names = ()
        rows = self._together(terms, conditions)
        if not rows:
            rows = self._substrings(terms, conditions)
        return _Found(rows, dict.fromkeys(rows, 1), self._lengths(rows), [_WHOLE], names if rows else ())

    def _choose(self, forms: Sequence[_Form]) -> tuple[list[_Form], list[_Form], set[_Form]]:
        """Return the forms that find rows, those that only add to a score, and what is left out."""
        ordered = sorted((form for form in forms if form.rows), key=lambda form: (form.rows, form.expression))
        chosen: list[_Form] = []
        budget = _BUDGET if self._total > RARE else RARE * len(ordered)
        for form in ordered:
            common = 2 * form.rows > self._total
            if form.rows > RARE or (chosen and (form.rows > budget or common)):
                break
            chosen.append(form)
            budget -= form.rows
        most = FREQUENT if self._total <= RARE else min(FREQUENT, self._total // 3)
        optional = [form for form in ordered[len(chosen) :] if form.rows <= most][:_OPTIONAL]
        return chosen, optional, set(ordered) - set(chosen) - set(optional)

    def _score(
        self, chosen: Sequence[_Form], optional: Sequence[_Form], conditions: Conditions, limit: int
    ) -> _Found:
        """Score the rows that hold a chosen form; their BM25 is the sum over the forms."""
        scores: dict[int, float] = {}
        masks: dict[int, int] = {}
        sql = f"SELECT rowid, rank FROM words WHERE words MATCH ?{conditions.days}"  # noqa: S608
        for bit, form in enumerate(chosen):
            for row, rank in self._db.execute(sql, (form.expression, *conditions.day_values)):
                scores[row] = scores.get(row, 0.0) - rank
                masks[row] = masks.get(row, 0) | 1 << bit
        match = " OR ".join(form.expression for form in chosen)
        for bit, form in enumerate(optional, len(chosen)):
            gain = math.log(1 + self._total / (1 + form.rows))
            sql = "SELECT rowid FROM words WHERE words MATCH ?"
            for (row,) in self._db.execute(sql, (f"({match}) AND {form.expression}",)):
                if row in scores:
                    scores[row] += gain
                    masks[row] |= 1 << bit
        fitting = self._fitting(scores, conditions, limit)
        kept = {row: scores[row] for row in fitting}
        return _Found(kept, masks, fitting, [*chosen, *optional], ())

    def _fitting(self, scores: Mapping[int, float], conditions: Conditions, limit: int) -> dict[int, int]:
        """Return the best rows that the filters let through, with their lengths.

        Filtering a row costs as much as scoring it, so the best are looked at first.
        """
        ordered = sorted(scores, key=lambda row: (-scores[row], -row))
        fitting: dict[int, int] = {}
        best = _BEST if self._total > RARE else _BEST_OF_FEW
        for start in range(0, len(ordered), best):
            part = ordered[start : start + best]
            marks = ",".join("?" * len(part))
            sql = f"SELECT d.row, d.length FROM doc d WHERE d.row IN ({marks}){conditions.rest}"  # noqa: S608
            fitting.update(self._db.execute(sql, (*part, *conditions.rest_values)))
            if len(fitting) >= limit:
                break
        return fitting

    def _lengths(self, rows: Iterable[int]) -> dict[int, int]:
        """Return the lengths of rows, at most of some hundred."""
        some = list(rows)[: 2 * _BEST]
        sql = f"SELECT row, length FROM doc WHERE row IN ({','.join('?' * len(some))})"  # noqa: S608
        return dict(self._db.execute(sql, some))

    def _together(self, terms: Sequence[Term], conditions: Conditions) -> dict[int, float]:
        """Find the newest rows that hold every term, those with it in the heading first."""
        forms = [term.whole for term in terms if self._frequency(term.whole)]
        if not forms:
            return {}
        match = " AND ".join(forms)
        rows = dict.fromkeys(self._newest(match, conditions), 0.5)
        titled = "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ?"
        for (row,) in self._db.execute(titled, (f"{{heading topic}} : ({match})", min(rows, default=0))):
            if row in rows:
                rows[row] = 1.0
        if not rows and len(terms) > 1 and any(not term.weak for term in terms):
            rarest = min(forms, key=self._frequency)
            rows = dict.fromkeys(self._newest(rarest, conditions), 0.25)
        return rows

    def _newest(self, match: str, conditions: Conditions) -> list[int]:
        sql = (
            "SELECT words.rowid FROM words CROSS JOIN doc d ON d.row = words.rowid WHERE words MATCH ?"  # noqa: S608
            f"{conditions.on('words.rowid')} ORDER BY words.rowid DESC LIMIT {_NEWEST}"
        )
        return [row for (row,) in self._db.execute(sql, [match, *conditions.values])]

    def _substrings(self, terms: Iterable[Term], conditions: Conditions) -> dict[int, float]:
        """Look for parts of words in the newest documents, when words found nothing."""
        asked = [term for term in terms if len(term.text) > 2 or not term.text.isascii()][:8]
        if not asked or any(_is_run(term.text) and not self._frequency(term.whole) for term in asked):
            return {}  # a run without spaces is found wherever it stands, or it is nowhere
        wanted = [term.text for term in asked]
        likes = " AND ".join("(b.text LIKE ? ESCAPE '\\' OR b.heading LIKE ? ESCAPE '\\')" for _ in wanted)
        patterns = [f"%{literal(text)}%" for text in wanted for _ in range(2)]
        sql = (
            f"SELECT b.row FROM (SELECT row, heading, text FROM body ORDER BY row DESC LIMIT {_SCANNED}) b "  # noqa: S608
            f"JOIN doc d ON d.row = b.row WHERE {likes}{conditions.on('b.row')} "
            f"ORDER BY b.row DESC LIMIT {_NEWEST}"
        )
        return {row: 0.1 for (row,) in self._db.execute(sql, [*patterns, *conditions.values])}

    # -- around

    def _line(
        self, scores: Mapping[int, float], alike: Mapping[int, float], conditions: Conditions
    ) -> tuple[fusion.Line, dict[int, int]]:
        """Return what stands around the best rows in their sessions, in order, and the lengths.

        A stretch without any gap counts as a session: what is farther away has no say.
        """
        best = max(scores.values(), default=0.0) or 1.0
        likest = max(alike.values(), default=0.0) or 1.0
        rough = {row: score / best for row, score in scores.items()}
        for row, value in alike.items():
            rough[row] = rough.get(row, 0.0) + value / likest
        sources = sorted(rough, key=lambda row: (-rough[row], -row))[:_SOURCES]
        marks = ",".join("?" * len(sources))
        sql = f"SELECT DISTINCT session FROM doc WHERE row IN ({marks}) AND session IS NOT NULL"  # noqa: S608
        sessions = [session for (session,) in self._db.execute(sql, sources)]
        if not sessions:
            return fusion.Line((), ()), {}
        marks = ",".join("?" * len(sessions))
        sql = (
            "SELECT row, session FROM doc INDEXED BY doc_session "  # noqa: S608
            f"WHERE session IN ({marks}) ORDER BY session, seq, row LIMIT {_AROUND}"
        )
        found = self._db.execute(sql, sessions).fetchall()
        near = _beside([row in rough for row, _ in found])
        lengths = self._visible([found[at][0] for at in near if found[at][0] not in rough], conditions)
        rows: list[int] = []
        runs: list[str] = []
        last = (-2, "")
        for at in near:
            row, session = found[at]
            if row not in lengths and row not in rough:
                continue
            rows.append(row)
            runs.append(runs[-1] if last == (at - 1, session) else str(at))
            last = (at, session)
        return fusion.Line(rows, runs), lengths

    def _visible(self, rows: Sequence[int], conditions: Conditions) -> dict[int, int]:
        """Return those of some rows that the filters let through, with their lengths."""
        sql = f"SELECT d.row, d.length FROM doc d WHERE d.row IN ({','.join('?' * len(rows))})"  # noqa: S608
        return dict(self._db.execute(f"{sql}{conditions.on('d.row')}", [*rows, *conditions.values]))

    # -- frequencies

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
            self._slips = {}
            self._total = tables.count(self._db)


def _beside(found: Sequence[bool]) -> list[int]:
    """Return the places up to two steps away from a place that was found."""
    wanted = bytearray(len(found) + 4)
    for at, is_found in enumerate(found):
        if is_found:
            wanted[at : at + 5] = b"\1\1\1\1\1"
    return [at for at in range(len(found)) if wanted[at + 2]]


def _is_run(text: str) -> bool:
    if text.isascii():
        return False
    from lamina.index import scripts

    return scripts.is_run(text)
