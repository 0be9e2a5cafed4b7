"""What agents and workflows share: a question in, a trace out, and a run that can be gone on with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from react_lab.errors import ModelError
from react_lab.language import language_of
from react_lab.messages import Message
from react_lab.models.base import Model
from react_lab.nodes import NodeTrace, open_node
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Listener, Step, Trace

MAX_QUESTION_CHARS = 20_000


class Runner(ABC):
    """Answers questions with a model and tools, and records how."""

    def __init__(self, model: Model, registry: ToolRegistry) -> None:
        self.model = model
        self.registry = registry

    @abstractmethod
    def system_prompt(self, question: str) -> str:
        """What the model is told before the question, in the question's language."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What a reader of the trace has to know of how it was made."""

    @abstractmethod
    def carry_on(self, trace: Trace) -> Iterator[Step]:
        """The run from where it stands; what is recorded is gone through again without being asked or run."""

    def run(self, question: str, **options: Any) -> Trace:
        """Answer a question; `options` are those of `start`."""
        return self.resume(self.start(question, **options))

    def resume(self, trace: Trace) -> Trace:
        """Go on with a run that was interrupted, or with a fork. What is recorded is not asked or run again."""
        for _ in self.steps(trace):
            pass
        return trace

    def run_within(self, whole: Trace, node: str, question: str, **fields: Any) -> NodeTrace:
        """Answer a question as a node of a workflow, whose trace records it; `fields` go into the node's `run`."""
        part = open_node(whole, node, {**self._head(question), **fields})
        self.resume(part)
        return part

    def steps_within(self, whole: Trace, node: str, question: str, **fields: Any) -> Generator[Step, None, NodeTrace]:
        """`run_within`, step by step as they happen, numbered as in the whole; the value is the node's trace."""
        part = open_node(whole, node, {**self._head(question), **fields})
        for step in self.steps(part):
            yield part.in_whole(step)
        return part

    def start(
        self,
        question: str,
        *,
        history: Sequence[Message] = (),
        save: str | Path | None = None,
        listener: Listener | None = None,
    ) -> Trace:
        """Open the trace of a run; `steps` and `resume` carry it out.

        Args:
            question: What to find out.
            history: Earlier questions and answers of the conversation.
            save: File to write as the run goes; must not exist.
            listener: Called with every event as it is recorded.
        Raises:
            ValueError: the question is empty or too long.
        """
        if not question.strip():
            raise ValueError("the question is empty")
        if len(question) > MAX_QUESTION_CHARS:
            raise ValueError(f"the question has {len(question)} characters; the limit is {MAX_QUESTION_CHARS}")
        return Trace.start(save=save, listener=listener, **self._head(question, history))

    def _head(self, question: str, history: Sequence[Message] = ()) -> dict[str, Any]:
        return {
            "question": question,
            "agent": type(self).__name__,
            "model": self.model.name,
            "settings": self.settings,
            "system": self.system_prompt(question),
            "tools": self.registry.schemas(language=language_of(question)),
            "history": [message.to_dict() for message in history],
        }

    def steps(self, question: str | Trace) -> Iterator[Step]:
        """The run, step by step, as it happens."""
        trace = question if isinstance(question, Trace) else self.start(question)
        try:
            yield from self.carry_on(trace)
        except ModelError as error:
            trace.end("error", reason=str(error))
            raise
        except BaseException as error:
            if not trace.is_over:
                trace.end("interrupted", reason=type(error).__name__)
            raise
