"""An exporter: anything that publishes finished runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from react_lab.trace import Trace
from react_lab_exporters.document import Template

Action = Literal["created", "updated", "unchanged", "kept", "failed", "would create", "would update"]


@dataclass(frozen=True)
class Published:
    """Where a run went, and what happened there.

    `kept`: the run has changed since it was published, but the person has edited the note: it stays.
    `details`: lines for the person: why it failed, what could not be kept, which requests a dry run would send.
    """

    target: str
    action: Action
    details: tuple[str, ...] = ()


class Exporter(Protocol):
    """What `react-lab publish` needs. `to` says where (a folder, a database); each exporter has a default."""

    name: str

    def publish(
        self, traces: Iterable[Trace], *, to: str = ..., dry_run: bool = False, template: Template = "research"
    ) -> Iterator[Published]:
        """Publish each run once, however often this is called, and tell of each as it is done.

        A dry run only tells what would be done. A run that fails does not keep the others from being published.

        Raises:
            ConfigurationError: the target can't be written.
        """
        ...
