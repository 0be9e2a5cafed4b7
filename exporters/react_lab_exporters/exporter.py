"""An exporter: anything that publishes finished runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from react_lab.trace import Trace

Action = Literal["created", "updated", "unchanged", "kept", "would create", "would update"]


@dataclass(frozen=True)
class Published:
    """Where a run went, and what happened there.

    `kept`: the run has changed since it was published, but the person has edited the note: it stays.
    """

    target: str
    action: Action


class Exporter(Protocol):
    """What `react-lab publish` needs. `to` says where (a folder, a page); each exporter has a default."""

    name: str

    def publish(self, traces: Iterable[Trace], *, to: str = ..., dry_run: bool = False) -> list[Published]:
        """Publish each run once, however often this is called; a dry run only tells what would be done.

        Raises:
            ConfigurationError: the target can't be written.
        """
        ...
