"""What needs the kernel beside the player: change a step and run on from there, publish a run."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import copy
from dataclasses import replace
from importlib.metadata import entry_points
from itertools import count
from pathlib import Path
from typing import Any

import ipywidgets  # type: ignore[import-untyped]

from react_lab.errors import ModelError, ReactLabError
from react_lab.language import Language, interface_language
from react_lab.messages import Reply, ToolCall
from react_lab.models.catalogue import load_model
from react_lab.replay.compare import tell_two
from react_lab.replay.story import story, tell
from react_lab.replay.widget import Player, Shown
from react_lab.replay.words import WORDS
from react_lab.runner import Runner
from react_lab.trace import Trace

WIDE = {"width": "99%"}


class Workbench(ipywidgets.VBox):  # type: ignore[misc]
    """A player with panels: change a step and run on from there, publish. A fork is shown beside its parent.

    `forks` holds the runs that came of it, newest last. A fork that failed is one of them: its trace says why.
    """

    def __init__(self, trace: Trace, agent: Runner, language: Language) -> None:
        self.trace = trace
        self.agent = agent
        self.language = language
        self.words = WORDS[language]
        self.forks: list[Trace] = []
        self.player = Player(tell(story(trace), language), trace, branch=True)
        self.player.on_msg(self._picked)
        self.step = ipywidgets.BoundedIntText(1, min=1, max=max(len(trace.steps), 1), description=self._word("step"))
        self.change = ipywidgets.Dropdown(description=self._word("change"))
        self.text = ipywidgets.Textarea(description=self._word("text"), rows=6, layout=WIDE)
        self.model = ipywidgets.Text(agent.model.name, description=self._word("model"))
        self.run = ipywidgets.Button(description=self._word("run"), button_style="primary", layout={"width": "auto"})
        self.status = ipywidgets.Label()
        self.comparison = ipywidgets.VBox()
        self.step.observe(self._list_changes, "value")
        self.change.observe(self._show_text, "value")
        self.run.on_click(self._run)
        self._list_changes()
        choice = ipywidgets.HBox([self.step, self.change, self.model], layout={"flex_flow": "row wrap"})
        panel = ipywidgets.VBox([choice, self.text, ipywidgets.HBox([self.run, self.status])])
        titles = [self.words["branch_here"], self.words["panel.publish"]]
        self.panel = ipywidgets.Accordion([panel, Publish(trace, language)], titles=titles, selected_index=None)
        super().__init__([self.player, self.panel, self.comparison])

    def _ipython_display_(self) -> None:
        Shown(self._repr_mimebundle_(), self.player)

    def _word(self, name: str) -> str:
        return self.words[f"panel.{name}"]

    def _picked(self, player: Player, message: dict[str, Any], buffers: Any) -> None:
        """The person wants to go on from the step that the player shows."""
        if "branch" in message:
            self.step.value = message["branch"]
            self.panel.selected_index = 0

    def _list_changes(self, event: object = None) -> None:
        """What can be changed at the step."""
        results = self.trace.results_at(self.step.value)
        observations = [
            (self._word("observation").format(number=number + 1, name=result.name), number)
            for number, result in enumerate(results)
        ]
        others = [(self._word(name), name) for name in ("reply", "question", "prompt", "nothing")]
        self.change.options = [*observations, *others]
        self.change.index = 0
        self._show_text()

    def _show_text(self, event: object = None) -> None:
        """The text as it is, to be edited."""
        chosen = self.change.value
        if isinstance(chosen, int):
            self.text.value = self.trace.results_at(self.step.value)[chosen].content
        elif chosen == "question":
            self.text.value = self.trace.question
        elif chosen == "prompt":
            asks = self.trace.find("request", self.step.value)
            self.text.value = self.trace.prompt_at(self.step.value)[0].text if asks else ""
        elif chosen == "reply":
            self.text.value = editable(self.trace.reply_at(self.step.value) or Reply())
        self.text.disabled = chosen == "nothing"

    def _run(self, button: object) -> None:
        self.run.disabled = True
        self.status.value = self._word("running")
        try:
            agent, child = self._fork()
        except (ReactLabError, ValueError) as error:
            self.status.value = str(error)
        else:
            self._carry_out(agent, child)
        finally:
            self.run.disabled = False

    def _fork(self) -> tuple[Runner, Trace]:
        step, chosen, text = self.step.value, self.change.value, self.text.value
        agent, model = self.agent, None
        if self.model.value != agent.model.name:
            agent = with_model(agent, self.model.value)
            model = agent.model.name
        if isinstance(chosen, int):
            return agent, self.trace.fork(step, observation=text, call=chosen, model=model)
        if chosen == "reply":
            reply = edited(self.trace.reply_at(step) or Reply(), text)
            return agent, self.trace.fork(step, reply=reply, model=model)
        changed = {chosen: text} if chosen in ("question", "prompt") else {}
        return agent, self.trace.fork(step, **changed, model=model)

    def _carry_out(self, agent: Runner, child: Trace) -> None:
        """Run the fork on, keep it whatever becomes of it, and show it beside its parent."""
        self.forks.append(child)
        if self.trace.path is not None:
            child.path = child.save(next_to(self.trace.path))
        with suppress(ModelError):  # the trace ends with the error, and is shown
            agent.resume(child)
        outcome = self.words[f"outcome.{child.outcome}"]
        said = self._word("saved" if child.path else "forked")
        self.status.value = said.format(id=child.id, outcome=outcome, path=child.path)
        self.comparison.children = [Player(tell_two(self.trace, child, self.language))]


def editable(reply: Reply) -> str:
    """A reply as a person edits it: its text or, where it has calls, text and calls as JSON."""
    if not reply.tool_calls:
        return reply.text
    calls = [{"name": call.name, "arguments": call.arguments} for call in reply.tool_calls]
    return json.dumps({"text": reply.text, "tool_calls": calls}, ensure_ascii=False, indent=2)


def edited(reply: Reply, text: str) -> Reply:
    """A reply with what the person made of it.

    Raises:
        ValueError: the calls are no longer JSON of the right shape.
    """
    reply = replace(reply, thought="", native=None, usage=None)
    if not reply.tool_calls:
        return replace(reply, text=text)
    try:
        data = json.loads(text)
        calls = [
            ToolCall(f"edited-{number}", call["name"], dict(call["arguments"]))
            for number, call in enumerate(data["tool_calls"], start=1)
        ]
        return replace(reply, text=str(data["text"]), tool_calls=tuple(calls))
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f'no reply: {error!r}; keep {{"text": ..., "tool_calls": [...]}}') from error


def with_model(agent: Runner, name: str) -> Runner:
    """The same agent on another model."""
    other = copy(agent)
    other.model = load_model(name)
    return other


def next_to(path: Path) -> Path:
    """A free name for a fork of the run in that file."""
    names = (path.with_name(f"{path.stem}-fork-{number}{path.suffix}") for number in count(1))
    return next(name for name in names if not name.exists())


PUBLISH_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "template": "Layout",
        "research": "research: answer, findings, sources, steps",
        "experiment": "experiment: a sheet to fill in",
        "publishing": "publishing …",
        "preview": "The page as it would look",
    },
    "zh": {
        "template": "版式",
        "research": "研究：回答、发现、来源、步骤",
        "experiment": "实验：一张待填写的记录表",
        "publishing": "正在发布……",
        "preview": "页面将是这个样子",
    },
}


class Publish(ipywidgets.VBox):  # type: ignore[misc]
    """Publish a run: as a Markdown note, as a web page, to Notion, to whatever exporter is installed."""

    def __init__(self, trace: Trace, lang: str | None = None) -> None:
        self.trace = trace
        self.language = interface_language(lang)
        self.words = PUBLISH_WORDS[self.language]
        words = WORDS[self.language]
        self.exporters = {entry.name: entry for entry in entry_points(group="react_lab.exporters")}
        layouts = [(self.words[name], name) for name in ("research", "experiment")]
        self.target = ipywidgets.Dropdown(options=list(self.exporters), description=words["panel.publish"])
        self.template = ipywidgets.Dropdown(options=layouts, description=self.words["template"])
        self.place = ipywidgets.Text(description=words["panel.to"])
        self.dry_run = ipywidgets.Checkbox(description=words["panel.try"], indent=False)
        self.button = ipywidgets.Button(description=words["panel.publish"], disabled=not self.exporters)
        self.status = ipywidgets.HTML()
        self.preview = ipywidgets.HTML()
        self._tell([] if self.exporters else [words["panel.no_exporters"]])
        self.button.on_click(self._publish)
        choice = ipywidgets.HBox([self.target, self.template, self.place], layout={"flex_flow": "row wrap"})
        super().__init__([choice, ipywidgets.HBox([self.dry_run, self.button]), self.status, self.preview])

    def _publish(self, button: object) -> None:
        self.button.disabled = True
        self.preview.value = ""
        self._tell([self.words["publishing"]])
        try:
            done = [self._show(published) for published in self._published()]
        except (ReactLabError, ValueError) as error:
            self._tell([str(error)])
        else:
            self._tell([line for lines in done for line in lines])
        finally:
            self.button.disabled = False

    def _published(self) -> Iterator[Any]:
        exporter = self.exporters[self.target.value].load()()
        if hasattr(exporter, "on_progress"):
            exporter.on_progress = lambda text: self._tell([f"{self.words['publishing']} {text}"])
        options = {"to": self.place.value} if self.place.value else {}
        return iter(exporter.publish([self.trace], dry_run=self.dry_run.value, template=self.template.value, **options))

    def _show(self, published: Any) -> list[str]:
        """Show the preview, if there is one; give back what there is to tell."""
        if published.preview:
            title, page = self.words["preview"], html.escape(published.preview)
            # No scripts, no origin; what a person clicks opens in a window of its own.
            sandbox = "allow-popups allow-popups-to-escape-sandbox"
            style = "width: 100%; height: 32em; border: 1px solid #8888; resize: vertical"
            self.preview.value = (
                f'<iframe title="{title}" sandbox="{sandbox}" srcdoc="{page}" style="{style}"></iframe>'
            )
        lines: list[str] = published.lines(self.language)
        return lines

    def _tell(self, lines: Iterable[str]) -> None:
        """Lines of text, their addresses as links."""
        self.status.value = "<br>".join(ADDRESS.sub(LINK, html.escape(line)) for line in lines)


ADDRESS = re.compile(r"https?://(?:[^\s&]|&amp;)*[\w/]")  # in a text that is escaped already
LINK = r'<a href="\g<0>" target="_blank" rel="noopener noreferrer" style="text-decoration: underline">\g<0></a>'
