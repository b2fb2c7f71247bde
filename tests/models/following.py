"""Asks a model as whoever counts calls does: what a reply proposes is followed, one request at a time."""

from __future__ import annotations

import time

from lamina.models.base import MAX_WAYS, Model, Prompt, Reply


def followed(model: Model, prompt: Prompt, *, within_s: float = 10.0) -> Reply:
    """Return the last reply; raises ModelFailed as the model does."""
    until = time.monotonic() + within_s
    for _ in range(MAX_WAYS):
        reply = model.ask(prompt, within_s=until - time.monotonic())
        if reply.again is None:
            return reply
        model = reply.again.model
    raise AssertionError("there is always another way")
