"""Sessions of agents: read, captured as notes, consolidated to entries, with a model or without."""

from __future__ import annotations

import os
from pathlib import Path

from lamina.memory.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from lamina.memory.reading import Json


class Sessions(Reading):
    """What makes memory of sessions.

    `model` names the one to ask: a route, `auto` for those that the settings permit, `none`, or nothing for
    what the settings say.
    """

    def has_model(self, model: str | None = None) -> bool:
        """Tell whether there is a model to ask; raises BadSetting for a route that names none."""
        from lamina.memory import distilling

        return distilling.asker_for(self._at, model) is not None

    def capture(
        self,
        path: str | os.PathLike[str],
        *,
        host: str | None = None,
        final: bool = False,
        model: str | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Turn what is new in one transcript into a note.

        With `final` the session has ended: thin notes are kept. `waiting` says that a model could not be
        asked or not be understood: nothing moved, the next capture tries again.
        """
        from lamina.memory import distilling
        from lamina.memory.writing import writable
        from lamina.pipeline import importing

        self._at.capture_allowed()
        asker = distilling.asker_for(self._at, model)
        importing.check([Path(path)], host, transcript=True)
        captured = importing.capture_one(
            writable(self._at, dry_run=dry_run),
            Path(path),
            host=host,
            resolve=self._at.session_workspace,
            now=self._at.clock(),
            final=final,
            limits=self._at.limits(),
            dry_run=dry_run,
            summarise=distilling.summariser(self._at, asker) if asker else None,
        )
        return self._wrote(captured, dry_run=dry_run)

    def import_sessions(
        self,
        paths: Iterable[str | os.PathLike[str]] = (),
        *,
        host: str | None = None,
        model: str | None = None,
        progress: Callable[[Mapping[str, Any]], None] = lambda _: None,
        dry_run: bool = False,
    ) -> Json:
        """Read the transcripts at `paths`, or where the hosts keep them, and consolidate what they gave.

        Incremental: what was read before is not read again. May be killed and started again at any time.
        A model that only the settings name is asked for 20 sessions at most. A dry run says what would be
        read and, under `estimate`, what a model would cost.
        """
        from lamina.memory import distilling
        from lamina.memory.writing import writable
        from lamina.pipeline import importing

        self._at.capture_allowed()
        at, given = self._at, tuple(Path(path) for path in paths)
        asker = distilling.asker_for(at, model)
        if dry_run:
            store = self.store if self.exists else None
            plan = importing.plan_import(
                store, given, host=host, home=at.home, env=at.env, limits=at.limits(), sample=bool(asker)
            )
            sampled = plan.pop("sampled")
            if asker is None:
                return plan
            return plan | {"estimate": distilling.estimate(at, asker, plan["sessions"], sampled)}
        importing.check(given, host)
        summary = importing.import_sessions(
            writable(at),
            given,
            host=host,
            home=at.home,
            env=at.env,
            resolve=at.session_workspace,
            now=at.clock,
            progress=progress,
            limits=at.limits(),
            summarise=distilling.summariser(at, asker) if asker else None,
            most=None if model else distilling.FEW,
            finish=lambda used: distilling.consolidate(at, asker if used else None, limit=None),
        )
        return self._wrote(summary, dry_run=False, whole=True)

    def consolidate(
        self, *, limit: int | None = None, model: str | None = None, dry_run: bool = False
    ) -> Json:
        """Turn waiting notes into entries; equal and forgotten content is left out.

        A dry run with a model asks nothing: it says how many notes would be asked about, in how many calls.
        """
        from lamina.memory import distilling
        from lamina.pipeline.consolidate import Consolidated

        asker = distilling.asker_for(self._at, model)
        if not self.exists:
            return distilling.told(Consolidated())
        done = distilling.consolidate(self._at, asker, limit=limit, dry_run=dry_run)
        return self._wrote(distilling.told(done), dry_run=dry_run)

    def _wrote(self, result: Json, *, dry_run: bool, whole: bool = False) -> Json:
        from lamina.memory.writing import settle

        settle(self._at, dry_run=dry_run, whole=whole)
        return result
