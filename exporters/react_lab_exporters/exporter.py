"""An exporter: anything that publishes finished runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from react_lab.language import interface_language
from react_lab.trace import Trace
from react_lab_exporters.document import Template

Action = Literal[
    "created",
    "updated",
    "unchanged",
    "kept",
    "failed",
    "would create",
    "would update",
    "would create or update",
]
CHINESE: dict[Action, str] = {
    "created": "已创建",
    "updated": "已更新",
    "unchanged": "没有变化",
    "kept": "保留你改过的笔记",
    "failed": "失败",
    "would create": "将创建",
    "would update": "将更新",
    "would create or update": "将创建或更新",
}


@dataclass(frozen=True)
class Published:
    """Where a run went, and what happened there.

    `kept`: the run has changed since it was published, but the person has edited the note: it stays.
    `would create or update`: only the target itself knows whether it has the run.
    `details`: lines for the person: why it failed, what could not be kept, which requests a dry run would send.
    `preview`: of a dry run, an HTML document that shows the note as it would look, where the target has such a thing.
    """

    target: str
    action: Action
    details: tuple[str, ...] = ()
    preview: str = field(default="", repr=False)

    def lines(self, lang: str | None = None) -> list[str]:
        """What to tell the person, in their language."""
        chinese = interface_language(lang) == "zh"
        told = f"{CHINESE[self.action]}：{self.target}" if chinese else f"{self.action}: {self.target}"
        return [told, *self.details]

    def __str__(self) -> str:
        return "\n    ".join(self.lines())


class Exporter(Protocol):
    """What `react-lab publish` needs. `to` says where (a folder, a database); each exporter has a default.

    An exporter whose notes take long may have an `on_progress` that can be set: it is called with a text such as "2/6".
    """

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
