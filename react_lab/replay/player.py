"""What a notebook calls: step through a run, put two side by side, watch one as it happens, publish one."""

from __future__ import annotations

from typing import Any

from react_lab.language import interface_language
from react_lab.replay.compare import tell_two
from react_lab.replay.live import Watch
from react_lab.replay.panels import Publish, Workbench
from react_lab.replay.story import story, tell
from react_lab.replay.widget import Player
from react_lab.runner import Runner
from react_lab.trace import Trace


def replay(trace: Trace, *, agent: Runner | None = None, lang: str | None = None) -> Player | Workbench:
    """Show a run in the notebook.

    Args:
        trace: The run; what is added to it later is not shown.
        agent: Who runs on from a step that the person has changed; without one nothing can be changed.
        lang: Language of the controls, `en` or `zh`; by default that of the person's settings.
    """
    language = interface_language(lang)
    if agent is not None:
        return Workbench(trace, agent, language)
    return Player(tell(story(trace), language), trace)


def compare(a: Trace, b: Trace, *, lang: str | None = None) -> Player:
    """Show two runs side by side in the notebook, from their first difference on."""
    return Player(tell_two(a, b, interface_language(lang)))


def watch(
    agent: Runner, question: str, *, lang: str | None = None, paused: bool = False, ask: bool = False, **options: Any
) -> Watch:
    """Run an agent and show the run as it happens. The cell is done at once; the run goes on.

    Args:
        agent: Who answers.
        question: What to find out.
        lang: Language of the controls, `en` or `zh`; by default that of the person's settings.
        paused: Whether to wait for the person before the first step.
        ask: Whether to ask the person before each call of a tool.
        options: Those of `agent.start`, such as `save`.
    """
    return Watch(agent, question, interface_language(lang), paused=paused, ask=ask, **options)


def publish(trace: Trace, *, lang: str | None = None) -> Publish:
    """Publish a run from the notebook: as a Markdown note, a web page, to Notion, by whatever exporter is installed.

    Args:
        trace: The run.
        lang: Language of the controls, `en` or `zh`; by default that of the person's settings.
    """
    return Publish(trace, lang)
