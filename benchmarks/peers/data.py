"""The sets that are searched: Lamina's own, and released ones that are on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers.environments import ROOT
from lamina.evaluation import corpora as loaders
from lamina.evaluation.corpora import Corpus

OWN = ROOT / "src" / "lamina" / "evaluation" / "sets" / "coding"
OWN_TITLE = "Lamina's own set"
KINDS = {
    "locomo": ("LoCoMo", "FILE", loaders.load_locomo),
    "beam": ("BEAM", "FOLDER", loaders.load_beam),
    "longmemeval": ("LongMemEval", "FILE", loaders.load_longmemeval),
    "set": ("Set", "FOLDER", loaders.load_set),
}


class Data(NamedTuple):
    """One set: corpora that are searched one by one, turns as gold."""

    title: str
    corpora: Sequence[Corpus]

    def line(self) -> str:
        """Say what is searched."""
        turns = sum(len(corpus.units) for corpus in self.corpora)
        questions = sum(len(corpus.questions) for corpus in self.corpora)
        several = f"{len(self.corpora)} corpora searched one by one, " if len(self.corpora) > 1 else ""
        return f"{several}{turns:,} turns, {questions:,} questions."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add an option for each kind of data."""
    parser.add_argument("--own", action="store_true", help="Lamina's own set (default if no other is named)")
    for name, (title, what, _) in KINDS.items():
        parser.add_argument(f"--{name}", metavar=what, type=Path, help=f"{title} data on this machine")
    parser.add_argument("--questions", metavar="N", type=int, help="take so many of each set, spread evenly")


def load(options: argparse.Namespace) -> list[Data]:
    """Read what was asked for."""
    named = [(KINDS[name], getattr(options, name)) for name in KINDS]
    found = [(title, loader(path)) for (title, _, loader), path in named if path is not None]
    if options.own or not found:
        found.insert(0, (OWN_TITLE, loaders.load_set(OWN)))
    return [Data(title, sampled(by_turn(corpora), options.questions)) for title, corpora in found]


def by_turn(corpora: Sequence[Corpus]) -> list[Corpus]:
    """Let turns be gold where sessions are; questions without a gold turn that exists are left out."""
    turned = []
    for corpus in corpora:
        there = {unit.id for unit in corpus.units}
        questions = [each._replace(gold=(each.turns or each.gold) & there) for each in corpus.questions]
        turned.append(corpus._replace(questions=tuple(each for each in questions if each.gold)))
    return turned


def sampled(corpora: Sequence[Corpus], count: int | None) -> list[Corpus]:
    """Keep `count` questions, spread evenly over all corpora; corpora without questions are left out."""
    places = [(at, question) for at, corpus in enumerate(corpora) for question in corpus.questions]
    if count and count < len(places):
        places = [places[number * len(places) // count] for number in range(count)]
    kept = [
        corpus._replace(questions=tuple(question for where, question in places if where == at))
        for at, corpus in enumerate(corpora)
    ]
    return [corpus for corpus in kept if corpus.questions]
