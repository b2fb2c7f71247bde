"""Counts what was found, and shows it as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from lamina.evaluation.consolidation.judge import IN_FORCE, Judged, Remembered, Verdict

Json = dict[str, Any]
_COLUMNS = ("facts", "kept", "duplicates", "layer", "scope", "trust", "ended", "rightly", "traps", "fallen")
_SHOWN = 110


def figures(judged: Judged) -> Json:
    """Return the figures of all, by language and by kind of fact; `traps` by kind of trap."""
    entries = Counter(each.trust for each in judged.entries)
    kinds = sorted({each.fact.kind for each in judged.verdicts})
    languages = sorted({chain.language for chain in judged.chains})
    return {
        "chains": len(judged.chains),
        "sessions": sum(len(chain.talks) for chain in judged.chains),
        "entries": {trust: entries[trust] for trust in (*IN_FORCE, "superseded")},
        "inventions": len(judged.invented),
        **_row(judged.verdicts),
        **_traps(judged),
        "by_language": {
            each: _row([one for one in judged.verdicts if one.chain.language == each])
            | _traps(judged, language=each)
            for each in languages
        },
        "by_kind": {each: _row([one for one in judged.verdicts if one.fact.kind == each]) for each in kinds},
        "by_trap": {
            each: _traps(judged, kind=each)
            for each in sorted({trap.kind for chain in judged.chains for trap in chain.traps})
        },
        "misses": list(misses(judged)),
    }


def _row(verdicts: Sequence[Verdict]) -> Json:
    lasting = [each for each in verdicts if not each.ended]
    ended = [each for each in verdicts if each.ended]
    kept = sum(bool(each.entries) for each in lasting)
    amiss = Counter(name for each in lasting for name in each.misfiled)
    return {
        "facts": len(lasting),
        "kept": round(100 * kept / len(lasting), 1) if lasting else None,
        "duplicates": sum(each.duplicates for each in lasting),
        "misfiled": {name: amiss[name] for name in ("layer", "scope", "trust")},
        "ended": {
            "facts": len(ended),
            "rightly": sum(each.kept and not each.old for each in ended),
            "in_force": sum(bool(each.old) for each in ended),
            "lost": sum(not each.kept and not each.old for each in ended),
        },
    }


def _traps(judged: Judged, *, language: str = "", kind: str = "") -> Json:
    """Count traps, those fallen into, and of these the ones that only candidates stand in."""
    meant = [
        (chain.name, trap)
        for chain in judged.chains
        for trap in chain.traps
        if chain.language == (language or chain.language) and trap.kind == (kind or trap.kind)
    ]
    trusts: dict[tuple[str, Any], set[str]] = {}
    for each in judged.fallen:
        trusts.setdefault((each.chain.name, each.trap), set()).add(each.entry.trust)
    hit = [trusts[each] for each in meant if each in trusts]
    waiting = sum("approved" not in each for each in hit)
    return {"traps": {"n": len(meant), "fallen": len(hit), "waiting": waiting}}


def misses(judged: Judged) -> Iterator[Json]:
    """List each thing that is not as it should be."""
    for each in judged.invented:
        yield _miss("invention", each.entry, ", ".join(each.values))
    for fell in judged.fallen:
        kind = fell.trap.kind
        yield _miss(f"trap: {kind}", fell.entry, " + ".join(map("|".join, fell.trap.anchors.all)))
    for verdict in judged.verdicts:
        yield from _missed(verdict)


def _missed(each: Verdict) -> Iterator[Json]:
    told = f"{each.chain.name}: {each.fact.say}"
    if each.ended:
        for old in each.old:
            yield _miss("still in force", old, told)
        if not each.old and not each.kept:
            yield {"what": "ended, and nowhere kept", "expected": told}
        return
    if not each.entries:
        yield {"what": "not kept", "expected": told}
    for name in each.misfiled:
        assert each.best is not None
        expected = {"layer": each.fact.layers, "scope": each.fact.scopes, "trust": (each.fact.trust,)}[name]
        yield _miss(f"{name} not {' or '.join(expected)}", each.best, told)
    if each.duplicates:
        for one in each.entries:
            yield _miss("said more than once", one, told)


def _miss(what: str, entry: Remembered, expected: str) -> Json:
    return {
        "what": what,
        "expected": expected,
        "id": entry.id,
        "scope": entry.scope,
        "layer": entry.layer,
        "trust": entry.trust,
        "text": entry.text,
    }


def render(result: Mapping[str, Any], *, misses: bool = False) -> str:
    """Return the figures as a table; with `misses` also each thing that is not as it should be."""
    rows = [("all", result), *result["by_language"].items(), *result["by_kind"].items()]
    judged = "judge" in result
    columns = (*_COLUMNS, *(("judge",) if judged else ()))
    width = max(len(name) for name, _ in rows)
    entries = result["entries"]
    lines = [
        f"{result['sessions']} sessions in {result['chains']} chains, model: {result['model']}",
        ", ".join(f"{count} {trust}" for trust, count in entries.items()),
        "",
        "  ".join([" " * width, *(f"{name:>10}" for name in columns)]),
    ]
    for name, row in rows:
        cells = [*_cells(row), *([_cell(row.get("judge"))] if judged else [])]
        lines.append("  ".join([f"{name:{width}}", *(f"{cell:>10}" for cell in cells)]))
    lines += ["", *_below(result)]
    if misses:
        lines += ["", *_listed(result["misses"])]
    return "\n".join(lines)


def _cells(row: Mapping[str, Any]) -> list[str]:
    amiss, ended, traps = row["misfiled"], row["ended"], row.get("traps", {})
    found: list[Any] = [row["facts"], row["kept"], row["duplicates"], *amiss.values()]
    found += [ended["facts"], ended["rightly"], traps.get("n"), traps.get("fallen")]
    return list(map(_cell, found))


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def _below(result: Mapping[str, Any]) -> Iterator[str]:
    ended, traps = result["ended"], result["traps"]
    yield f"inventions: {result['inventions']}"
    yield f"ended facts: {ended['in_force']} still in force, {ended['lost']} nowhere kept"
    kinds = [
        f"{kind} {row['traps']['fallen']}/{row['traps']['n']}" for kind, row in result["by_trap"].items()
    ]
    yield f"traps: {', '.join(kinds)}; {traps['waiting']} of those fallen into wait for a person's review"
    calls = result["calls"]
    yield f"model: {calls['n']} calls, {calls['tokens_in']} tokens in, {calls['tokens_out']} out"
    for why in result["waits"]:
        yield f"waited: {why}"


def _listed(found: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for each in found:
        yield f"{each['what']}: {each['expected']}"
        if "id" in each:
            text = " ".join(each["text"].split())
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            yield f"    [{each['id']}] {each['scope']} {each['layer']} {each['trust']}: {shown}"


def with_judge(result: Json, judged: Judged, said: Mapping[int, bool | None]) -> Json:
    """Add what a judge said of each lasting fact (by its place): the share in percent that it found said."""
    lasting = [(at, each) for at, each in enumerate(judged.verdicts) if not each.ended]

    def share(fits: Callable[[Verdict], bool]) -> float | None:
        chosen = [said.get(at) for at, each in lasting if fits(each)]
        return round(100 * sum(one is True for one in chosen) / len(chosen), 1) if chosen else None

    for language, row in result["by_language"].items():
        row["judge"] = share(lambda each, language=language: each.chain.language == language)  # type: ignore[misc]
    for kind, row in result["by_kind"].items():
        row["judge"] = share(lambda each, kind=kind: each.fact.kind == kind)  # type: ignore[misc]
    return result | {"judge": share(lambda _: True)}
