"""A conversation in the terminal: questions, answers, and a few commands."""

from __future__ import annotations

import sys
from collections.abc import Callable

from react_lab.console import LiveView, complain
from react_lab.errors import ConfigurationError, ModelError
from react_lab.language import Language
from react_lab.messages import Message
from react_lab.runner import Runner
from react_lab.trace import Trace

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "help": "/reset      forget the conversation\n/trace      show the last run, step by step\n"
        "/tools      show the tools, as the model sees them\n/model NAME go on with another model\nquit, exit  leave",
        "reset": "The conversation starts anew.",
        "no trace": "nothing has been asked yet",
        "unknown": "unknown command {}; /help lists them",
        "model": "Talking with {}; the conversation goes on.",
    },
    "zh": {
        "help": "/reset      忘掉之前的对话\n/trace      逐步显示上一次运行\n"
        "/tools      显示模型看到的工具\n/model 名称 换一个模型继续\nquit、exit  离开",
        "reset": "对话重新开始。",
        "no trace": "还没有提过问题",
        "unknown": "未知命令 {}；/help 列出全部命令",
        "model": "正在与 {} 对话，之前的内容保留。",
    },
}


class Chat:
    """Answers line after line; each question is a run of its own, with the questions and answers before it.

    Args:
        make_runner: A runner for the name of a model; None stands for the usual one.
        run: Carries out a run before the person's eyes, and gives back its trace.
    """

    def __init__(
        self,
        model: str | None,
        make_runner: Callable[[str | None], Runner],
        run: Callable[[Runner, str, list[Message], LiveView], Trace],
        language: Language,
    ) -> None:
        self.make_runner = make_runner
        self.run = run
        self.language = language
        self.words = WORDS[language]
        self.runner = make_runner(model)
        self.history: list[Message] = []
        self.last: Trace | None = None

    def answer(self, line: str) -> None:
        """Answer a question or obey a command; what goes wrong is told, and the conversation goes on."""
        try:
            if line.startswith("/"):
                self.obey(line)
            else:
                self.ask(line)
        except (ConfigurationError, ModelError, ValueError) as error:
            complain(str(error))

    def ask(self, question: str) -> None:
        view = LiveView(self.language, self.runner.model.name)
        self.last = self.run(self.runner, question, self.history, view)
        view.finish(self.last)
        if self.last.answer is not None:
            self.history += [Message("user", question), Message("assistant", self.last.answer)]
        elif self.last.outcome != "interrupted":
            complain(view.words["no answer"].format(self.last.outcome, self.last.reason))

    def obey(self, line: str) -> None:
        command, _, rest = line.partition(" ")
        match command:
            case "/help":
                print(self.words["help"])
            case "/reset":
                self.history.clear()
                print(self.words["reset"])
            case "/trace" if self.last is not None:
                from react_lab.replay.terminal import print_trace  # prompt_toolkit takes long to import

                print_trace(self.last, sys.stdout, lang=self.language)
            case "/trace":
                complain(self.words["no trace"])
            case "/tools":
                print(self.runner.registry.describe(self.language))
            case "/model":
                self.runner = self.make_runner(rest.strip() or None)
                print(self.words["model"].format(self.runner.model.name))
            case _:
                complain(self.words["unknown"].format(command))
