"""Tells whether what was said ends an entry. A model's word alone takes nothing out of force.

That a note speaks of an entry's subject is no end of it: whoever says a rule once more confirms it. So
something in the note must deny the entry, give its value another one, or say that something is replaced or
gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from lamina.formats.structure import one_line
from lamina.pipeline import cues
from lamina.pipeline.checks.clauses import NAME, VALUE, Clause, clause
from lamina.pipeline.checks.conflicts import Relation, Statement, relation
from lamina.pipeline.checks.polarity import turned
from lamina.pipeline.statements import sentences

_TURNED = frozenset({Relation.CHANGED, Relation.NEGATED})
_GONE = re.compile(
    r"\b(?:removed?|deleted?|retired?|gone|ended|ends|discontinued|decommissioned|cancell?ed|revoked|obsolete|"
    r"outdated|expired|shut down|moved|changed|entfernt|gelöscht|abgeschafft|abgeschaltet|eingestellt|"
    r"aufgehoben|hinfällig|überholt|umgezogen|geändert|supprimé\w*|abandonné\w*|obsolète\w*|eliminad[oa]s?|"
    r"retirad[oa]s?|cancelad[oa]s?|удал\w+|отмен\w+|устарел\w*)\b|"
    r"删除|取消|下线|废弃|作废|停用|搬家|移除|廃止|削除|撤廃|終了|中止|変更|更新|삭제|제거|폐지|취소|종료|바뀌|바꿔|변경",
    re.IGNORECASE,
)
_HALF, _LEAST = 0.5, 2  # of an entry's words beside its values: what another value must be given to


def ends(said: Sequence[str], old: str, *, day: date) -> bool:
    """Say whether one of the texts puts an end to an entry's text, in whatever words."""
    theirs = [one for _, one in _clauses(old)]
    about = frozenset[str]().union(*(one.content for one in theirs))
    denied = any(one.denies for one in theirs)
    read = [pair for text in said for pair in _clauses(text)]
    return (
        any(_contradicts(text, old, day) for text in said)
        or any(_closes(sentence, one, about, denied=denied) for sentence, one in read)
        or any(_revalues(mine, one) for _, mine in read for one in theirs)
    )


def _contradicts(text: str, old: str, day: date) -> bool:
    new, before = (Statement(each, "", "one", "semantic", day) for each in (text, old))
    return relation(new, before) in _TURNED or turned(text, [old])


def _closes(sentence: str, mine: Clause, about: frozenset[str], *, denied: bool) -> bool:
    """Say whether a sentence about the same tells that something is denied, replaced or gone."""
    if mine.lost & about:
        return True
    if not mine.content & about:
        return False
    return (mine.denies and not denied) or cues.has(cues.REPLACES, sentence) or bool(_GONE.search(sentence))


def _revalues(mine: Clause, theirs: Clause) -> bool:
    """Say whether one clause gives other values to what the other tells of."""
    new, old = _exact(mine), _exact(theirs)
    subject = theirs.content - old
    told = len(subject & mine.content)
    enough = told >= min(_LEAST, len(subject)) and told >= _HALF * len(subject)
    return bool(new and old and subject) and not new & old and enough


def _exact(one: Clause) -> frozenset[str]:
    return frozenset(token.text for token in one.tokens if token.kind in {VALUE, NAME})


def _clauses(text: str) -> Iterator[tuple[str, Clause]]:
    for line in text.split("\n"):
        for part in sentences(one_line(line)):
            found = clause(part)
            if found.content:
                yield part, found
