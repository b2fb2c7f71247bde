"""What becomes of sessions: facts kept, and what must never come of them, measured on chains of sessions.

The fixtures are sessions with known durable facts and known traps. They are rendered as transcripts, imported
and consolidated day by day, with a model or without, into a store that is thrown away. Strings decide; a
judge model, if one is named, only adds a column.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lamina.evaluation.consolidation import asking, report
from lamina.evaluation.consolidation.cases import Chain, load_chains
from lamina.evaluation.consolidation.judge import judge as judge_store
from lamina.evaluation.consolidation.scene import Scene, staged
from lamina.memory import models
from lamina.memory.distilling import NONE, asker_for

__all__ = ["eval_consolidation", "render_consolidation"]

Json = dict[str, Any]

render_consolidation = report.render


def eval_consolidation(
    model: str = NONE,
    *,
    judge: str | None = None,
    chains: Sequence[Chain] | None = None,
    at_once: bool = False,
    env: Mapping[str, str] | None = None,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> Json:
    """Measure the way from sessions to entries with a model: a route, `auto` for those permitted, or `none`.

    `judge` is the route of a model that is asked whether entries say the facts. `at_once` imports all
    sessions together, as a newcomer does, and not day by day. Settings of models come from `env`; calls are
    counted in the store that is thrown away, within the day's caps. Raises BadSetting for no route, and
    NoModelAnswered where `auto` permits none or the judge can't be reached.
    """
    chains = load_chains() if chains is None else chains
    with staged(os.environ if env is None else env) as scene:
        for route in filter(None, (model, judge)):
            asker_for(scene.opened, route)  # a name that is none is told before the work
        scene.play(chains, model, at_once=at_once, progress=progress)
        return measured(scene, chains, model, judge=judge)


def measured(scene: Scene, chains: Sequence[Chain], model: str, *, judge: str | None = None) -> Json:
    """Return the figures of what stands in a scene's store."""
    judged = judge_store(chains, scene.memory.store.entries())
    result: Json = {"model": model} | report.figures(judged)
    asker = asker_for(scene.opened, judge) if judge else None
    if asker is not None:
        result = report.with_judge(result, judged, asking.asked(asker, judged))
    return result | {"calls": _calls(scene), "waits": list(dict.fromkeys(scene.waits))}


def _calls(scene: Scene) -> Json:
    used = models.state(scene.opened)
    names = ("calls", "tokens_in", "tokens_out", "failed", "empty")
    total = {name: used[name] for name in names}
    purposes = {purpose: {name: use[name] for name in names} for purpose, use in used["by_purpose"].items()}
    return {"n": total.pop("calls"), **total, "by_purpose": purposes}
