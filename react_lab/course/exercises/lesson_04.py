"""Lesson 04: the prompt, one turn, the loop with its step limit, and the guard against going round in circles."""
# ruff: noqa: E501 - texts for people are easier to read unbroken

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from react_lab import text_react
from react_lab.course.exercise import Exercise, Quiz, Sentence, Wrong, both
from react_lab.course.expect import Difference, Literal, Raised, expect, expect_run, on_purpose
from react_lab.errors import ModelError
from react_lab.language import Language, interface_language
from react_lab.messages import ToolCall
from react_lab.models.scripted import ScriptedModel
from react_lab.text_react import LABEL, parse_reply
from react_lab.tools.base import tool
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Trace

LESSON = "04_loop"

# -- ours: what the lesson goes on with until the learner's own is done ------------------------------------------


def language_here() -> Language:
    """The notebook's, or the person's where no notebook runs."""
    try:
        from react_lab.course.desk import notebook_language

        return notebook_language()
    except ImportError:
        return interface_language()


def system_prompt(registry: ToolRegistry) -> str:
    """Everything that a model has to be told before the question."""
    language = language_here()
    parts = (text_react.RULES[language], registry.describe(language), text_react.FORMAT["call", language])
    return "\n\n".join(parts)


def take_turn(text: str, registry: ToolRegistry) -> tuple[str | None, str]:
    """The answer that a reply gives, or None and what the model is told next."""
    parsed, language = parse_reply(text), language_here()
    if parsed.answer is not None:
        return parsed.answer, ""
    if parsed.error is not None:
        head, tail = text_react.REMINDER[language]
        return None, head + parsed.error + tail + text_react.FORMAT["call", language]
    seen = [registry.execute(action.name, action.argument) for action in parsed.actions]  # type: ignore[arg-type]
    return None, "\n".join(text_react.OBSERVATION[language] + content for content in seen)


# -- loop-prompt -------------------------------------------------------------------------------------------------


@tool
def tide(harbour: str, hour: int = 12) -> str:
    """Tell how high the sea stands. It knows harbours, not beaches."""
    return f"{harbour} at {hour}: 2.4 metres"


PROMPT_DOING = "system_prompt(ToolRegistry([tide]))"


def shown_turns(prompt: str) -> list[str]:
    """What a prompt shows as an action or an answer: from each such label to the next one, or to an empty line."""
    labels = [match for match in LABEL.finditer(prompt) if match.lastgroup in ("action", "answer")]
    ends = [*(match.start() for match in labels[1:]), len(prompt)]
    return [prompt[label.start() : end].split("\n\n")[0].strip() for label, end in zip(labels, ends, strict=False)]


def check_prompt(names: Mapping[str, Any]) -> None:
    """It tells of the tools that it is given, and shows both kinds of turn in forms that the reader reads."""
    prompt = names["system_prompt"](ToolRegistry([tide]))
    if not isinstance(prompt, str):
        raise Difference("no-text", PROMPT_DOING, Literal("a text"), prompt)
    missing = {
        "tide": "fixed-tools" if "calculator" in prompt else "no-tools",
        "harbour": "names-only",
        "not beaches": "names-only",
    }
    for part, symptom in missing.items():
        if part not in prompt:
            raise Difference(symptom, PROMPT_DOING, Literal(f"… {part} …"), prompt)
    shown = [(text, parse_reply(text)) for text in shown_turns(prompt)]
    for text, read in shown:
        if read.error is not None:
            raise Difference("unreadable", f"parse_reply({text!r})", Literal("an action or an answer"), read.error)
    if not any(read.actions for _, read in shown):
        raise Difference("no-call", PROMPT_DOING, Literal('… Action: tool_name({"parameter": "value"}) …'), prompt)
    if not any(read.answer for _, read in shown):
        raise Difference("no-answer", PROMPT_DOING, Literal("… Final Answer: the answer …"), prompt)


STARTER_PROMPT = """
def system_prompt(registry):
    # en: Your turn: after the rules come the tools, then both forms of a turn. Put empty lines between them.
    # zh: 轮到你了：规则后面是工具，然后是两种写法。各部分之间空一行。
    return rules
"""
PROMPT_RIGHT = """
def system_prompt(registry):
    return "\\n\\n".join([rules, registry.describe(language), call_form, answer_form])
"""


def prompt_of(parts: str) -> str:
    return PROMPT_RIGHT.replace("rules, registry.describe(language), call_form, answer_form", parts)


LOOP_PROMPT = Exercise(
    id="loop-prompt",
    lesson=LESSON,
    part="react_lab.course.exercises.lesson_04:system_prompt",
    check=check_prompt,
    starter=STARTER_PROMPT,
    solution=PROMPT_RIGHT,
    alternates=(
        '''
def system_prompt(registry):
    return f"""{rules}

{registry.describe(language)}

{call_form}

{answer_form}"""
''',
        """
def system_prompt(registry):
    prompt = rules
    for part in (call_form, answer_form, registry.describe()):
        prompt += "\\n\\n" + part
    return prompt
""",
    ),
    wrong=(
        Wrong(
            "no-text",
            "def system_prompt(registry):\n    print(rules, registry.describe(language), call_form, answer_form)\n",
            both(
                "The prompt was printed and then lost: the function gives back no text. Join the parts and return them.",
                "提示词打印出来就没了：函数没有返回文字。把各部分连起来，用 return 返回。",
            ),
        ),
        Wrong(
            "no-tools",
            prompt_of("rules, call_form, answer_form"),
            both(
                "The model is told how to call a tool, but not which tools there are. It would make up names.",
                "告诉了模型怎样调用工具，却没说有哪些工具。它会自己编名字。",
            ),
        ),
        Wrong(
            "names-only",
            prompt_of('rules, ", ".join(registry.list_tools()), call_form, answer_form'),
            both(
                "The names alone don't say when to use a tool, nor what to put into it. registry.describe tells both.",
                "光有名字，模型不知道什么时候用、要填什么。registry.describe 两样都会写出来。",
            ),
        ),
        Wrong(
            "fixed-tools",
            prompt_of("rules, standard_tools().describe(language), call_form, answer_form").replace(
                "def ", "from react_lab.tools.standard import standard_tools\n\n\ndef "
            ),
            both(
                "These are other tools than the ones that were handed in. Ask the registry that came as the argument: "
                "else the prompt and what can really be run drift apart.",
                "这不是传进来的那些工具。要问作为参数传入的 registry，否则提示词里写的和真正能运行的会对不上。",
            ),
        ),
        Wrong(
            "no-answer",
            prompt_of("rules, registry.describe(language), call_form"),
            both(
                "The model reads how to act, but never how to finish. Show it the second form, too.",
                "模型读到了怎样行动，却不知道怎样结束。第二种写法也要给它看。",
            ),
        ),
        Wrong(
            "no-call",
            prompt_of("rules, registry.describe(language), answer_form"),
            both(
                "The model reads how to finish, but not how to act: it would answer at once, from memory. Show it the "
                "first form, too.",
                "模型只知道怎样结束，不知道怎样行动：它会凭记忆马上作答。第一种写法也要给它看。",
            ),
        ),
        Wrong(
            "unreadable",
            prompt_of('rules, registry.describe(language), "Action: tool_name, input: value", answer_form'),
            both(
                "A model writes what it is shown, and our own reader refuses this form. Use call_form as it is.",
                "模型会照着给它看的样子写，而这种写法我们自己的解析器都读不了。请原样使用 call_form。",
            ),
        ),
    ),
    hints=(
        both(
            "Imagine that you get this text and nothing else. Could you call a tool with it? Could you end?",
            "设想你只拿到这段文字：你能靠它调用工具吗？能结束吗？",
        ),
        both(
            "Four texts have to be joined: rules, registry.describe(language), call_form and answer_form.",
            "要连起来的有四段：rules、registry.describe(language)、call_form 和 answer_form。",
        ),
        both('return "\\n\\n".join([rules, ..., ..., ...])', 'return "\\n\\n".join([rules, ..., ..., ...])'),
    ),
)

# -- loop-turn ---------------------------------------------------------------------------------------------------


@tool
def double(number: int) -> int:
    """Double a whole number."""
    return 2 * number


ANSWERS = "Thought: I know it.\nFinal Answer: 42"
CALLS = 'Thought: I need it twice.\nAction: double({"number": 21})'
CALLS_TWO = 'Thought: Both.\nAction: [double({"number": 4}), double({"number": 50})]'
CALLS_NONE = 'Thought: Halve it.\nAction: halve({"number": 2})'
UNREADABLE = "I think that I should double it."


def is_observation(told: str) -> bool:
    label = LABEL.match(told)
    return bool(label and label.lastgroup == "observation")


def check_turn(names: Mapping[str, Any]) -> None:
    """An answer ends it; an action is run and its result told; a reply that can't be read brings a reminder."""
    take_turn, read = names["take_turn"], names.get("parse_reply", parse_reply)
    registry = ToolRegistry([double])

    def turn(text: str) -> tuple[str, Any, Any]:
        doing, got = f"take_turn({text!r}, registry)", on_purpose(take_turn, text, registry)
        if not (isinstance(got, tuple) and len(got) == 2):
            symptom = "stops" if isinstance(got, Raised) else "no-pair"
            raise Difference(symptom, doing, Literal("(answer, told)"), got)
        return doing, *got

    doing, answer, _ = turn(ANSWERS)
    expect(f"{doing}[0]", answer, "42", otherwise="no-answer")
    doing, answer, told = turn(CALLS)
    wanted = Literal("(None, 'Observation: 42')")
    if answer is not None:
        raise Difference("answers-too-soon", doing, wanted, (answer, told))
    if "42" not in str(told):
        raise Difference("not-run", doing, wanted, (answer, told))
    if not is_observation(str(told)):
        raise Difference("no-label", doing, wanted, (answer, told))
    if len(read(CALLS_TWO).actions) == 2:  # the learner's own reader may know one action a turn
        doing, answer, told = turn(CALLS_TWO)
        if not all(number in str(told) for number in ("8", "100")):
            raise Difference(
                "first-only", doing, Literal("(None, 'Observation: 8\\nObservation: 100')"), (answer, told)
            )
    check_reminder(turn, str(read(UNREADABLE).error))
    doing, answer, told = turn(CALLS_NONE)
    if "halve" not in str(told) or "double" not in str(told):
        wanted = Literal("(None, \"Observation: Error: unknown tool 'halve'; the tools are: double\")")
        raise Difference("other-error", doing, wanted, (answer, told))


def check_reminder(turn: Callable[[str], tuple[str, Any, Any]], why: str) -> None:
    doing, answer, told = turn(UNREADABLE)
    wanted = Literal(f"(None, 'Your reply could not be read: {why} … Action: …')")
    if answer is not None:
        raise Difference("error-as-answer", doing, wanted, (answer, told))
    if not told:
        raise Difference("silent", doing, wanted, (answer, told))
    if why not in str(told):
        raise Difference("says-not-why", doing, wanted, (answer, told))
    if not any(parse_reply(text).actions for text in shown_turns(str(told))):
        raise Difference("no-form", doing, wanted, (answer, told))


STARTER_TURN = """
def take_turn(text, registry):
    parsed = parse_reply(text)
    # en: 1. an answer: the run is over, there is nothing to tell
    # zh: 1. 有答案：运行结束，没有什么要告诉模型的
    if parsed.answer is not None:
        return parsed.answer, ""
    # en: 2. your turn: parsed.error is not None. No answer; tell the model why, and both forms once more
    # zh: 2. 轮到你了：parsed.error 不是 None。没有答案；告诉模型原因，再给它看一遍两种写法

    # en: 3. your turn: run every action of parsed.actions. No answer; tell the model each observation
    # zh: 3. 轮到你了：运行 parsed.actions 里的每一个行动。没有答案；把每个观察结果告诉模型

    return None, ""
"""
REMIND = """    if parsed.error is not None:
        return None, "\\n\\n".join([sorry + parsed.error, call_form, answer_form])
"""
OBSERVE = """    seen = [registry.execute(action.name, action.argument) for action in parsed.actions]
    return None, "\\n".join(observation + content for content in seen)
"""
BEGIN = """
def take_turn(text, registry):
    parsed = parse_reply(text)
    if parsed.answer is not None:
        return parsed.answer, ""
"""
TURN_RIGHT = BEGIN + REMIND + OBSERVE

LOOP_TURN = Exercise(
    id="loop-turn",
    lesson=LESSON,
    part="react_lab.course.exercises.lesson_04:take_turn",
    check=check_turn,
    starter=STARTER_TURN,
    solution=TURN_RIGHT,
    alternates=(
        """
def take_turn(text, registry):
    parsed = parse_reply(text)
    if parsed.actions:
        told = ""
        for action in parsed.actions:
            told += f"{observation}{registry.execute(action.name, action.argument)}\\n"
        return None, told.strip()
    if parsed.error:
        return None, f"{sorry}{parsed.error}\\n\\n{call_form}\\n\\n{answer_form}"
    return parsed.answer, None
""",
        """
def tell(action, registry):
    return observation + registry.execute(action.name, action.argument)


def take_turn(text, registry):
    parsed = parse_reply(text)
    told = [tell(action, registry) for action in parsed.actions]
    if parsed.error is not None:
        told = [sorry, parsed.error, "", call_form, "", answer_form]
    return parsed.answer, "\\n".join(told)
""",
    ),
    wrong=(
        Wrong(
            "no-pair",
            BEGIN + REMIND + OBSERVE.replace("return None, ", "return "),
            both(
                "The loop needs two things from each turn: the answer, or None, and what the model is told. Return both.",
                "循环每一轮都要拿到两样东西：答案（没有就是 None），以及要告诉模型的话。请两样都返回。",
            ),
        ),
        Wrong(
            "answers-too-soon",
            BEGIN + REMIND + OBSERVE.replace("return None, ", "return ").replace("in seen)", 'in seen), ""'),
            both(
                "What a tool says is not the answer yet: the model has to read it first, and may need more. The first "
                "value stays None.",
                "工具返回的还不是答案：模型要先读到它，也许还需要别的。第一个值应当是 None。",
            ),
        ),
        Wrong(
            "not-run",
            BEGIN + REMIND + '    return None, ""\n',
            both(
                "The model asked for an action, and nothing was run. Call registry.execute for it and tell what came back.",
                "模型要求了一个行动，但什么都没有运行。用 registry.execute 运行它，再把结果告诉模型。",
            ),
        ),
        Wrong(
            "no-label",
            BEGIN + REMIND + OBSERVE.replace("observation + content", "content"),
            both(
                "The result came back without its label. The conversation is text: only the label tells the model that "
                "a tool said this, and not the person.",
                "结果没有带标签。对话只是文字：有了标签，模型才知道这句话是工具说的，不是人说的。",
            ),
        ),
        Wrong(
            "first-only",
            BEGIN
            + REMIND
            + "    action = parsed.actions[0]\n    return None, observation + registry.execute(action.name, action.argument)\n",
            both(
                "The model asked for two things and got one. It can't see that the other was never run. Go through all "
                "of parsed.actions.",
                "模型要了两样，只得到一样，而且看不出另一样根本没运行。要把 parsed.actions 走完。",
            ),
        ),
        Wrong(
            "silent",
            BEGIN + OBSERVE,
            both(
                "The reply couldn't be read, and the model is told nothing at all. It will write the same again. Tell "
                "it what was wrong.",
                "回复读不出来，模型却什么也没被告知，下一次它还会这样写。请告诉它错在哪里。",
            ),
        ),
        Wrong(
            "error-as-answer",
            BEGIN + REMIND.replace("return None, ", "return parsed.error, ") + OBSERVE,
            both(
                "This would end the run, and the person would read a message that was meant for the model. A slip of "
                "form is no answer: the first value stays None.",
                "这样运行就结束了，本来写给模型的话到了人手里。写法上的失误不是答案：第一个值应当是 None。",
            ),
        ),
        Wrong(
            "says-not-why",
            BEGIN + REMIND.replace("sorry + parsed.error", "sorry") + OBSERVE,
            both(
                "The model learns that something is wrong, but not what. The reader has said it already: parsed.error.",
                "模型知道出了错，却不知道错在哪里。解析器已经说了：parsed.error。",
            ),
        ),
        Wrong(
            "no-form",
            BEGIN + REMIND.replace(", call_form, answer_form", "") + OBSERVE,
            both(
                "The reason is there, but not the way out. Show the forms again: the prompt is far up in the "
                "conversation by now.",
                "原因说了，出路没给。请把两种写法再给它看一遍：这时提示词已经在对话的很前面了。",
            ),
        ),
        Wrong(
            "stops",
            BEGIN + "    if parsed.error is not None:\n        raise ValueError(parsed.error)\n" + OBSERVE,
            both(
                "An exception ends the whole run. This was the model's slip: tell the model, and it can mend it in the "
                "next turn.",
                "抛出异常，整次运行就结束了。这是模型的失误：告诉模型，它下一轮就能改正。",
            ),
        ),
        Wrong(
            "other-error",
            BEGIN
            + REMIND
            + """    seen = []
    for action in parsed.actions:
        try:
            seen.append(registry.get(action.name).execute(**action.argument))
        except Exception:
            seen.append("Error")
    return None, "\\n".join(f"{observation}{content}" for content in seen)
""",
            both(
                "There is no tool halve, and all that the model reads is that something failed. registry.execute would "
                "have told it the names that there are.",
                "没有 halve 这个工具，模型读到的却只是出错了。registry.execute 会告诉它有哪些名字可用。",
            ),
        ),
    ),
    hints=(
        both(
            "A reply is one of three things: an answer, a slip, or actions. The first is done. What must the model read "
            "after each of the other two?",
            "一条回复无非三种：答案、失误、行动。第一种已经写好。另外两种之后，模型该读到什么？",
        ),
        both(
            "Slip: join sorry + parsed.error, call_form and answer_form. Actions: registry.execute(action.name, "
            "action.argument) gives a text, even if the tool fails; put observation before it.",
            "失误：把 sorry + parsed.error、call_form 和 answer_form 连起来。行动：registry.execute(action.name, action.argument) 返回文字，工具出错时也一样；在它前面加上 observation。",
        ),
        both(
            'if parsed.error is not None:\n    return None, "\\n\\n".join([sorry + ..., ..., ...])\n'
            'seen = [registry.execute(...) for action in ...]\nreturn None, "\\n".join(... for content in seen)',
            'if parsed.error is not None:\n    return None, "\\n\\n".join([sorry + ..., ..., ...])\n'
            'seen = [registry.execute(...) for action in ...]\nreturn None, "\\n".join(... for content in seen)',
        ),
    ),
)

# -- loop-agent --------------------------------------------------------------------------------------------------


def doubles(number: int) -> str:
    return f'Thought: Once more.\nAction: double({{"number": {number}}})'


DOUBLING = tuple(doubles(2**power) for power in range(14))


def check_agent(names: Mapping[str, Any]) -> None:
    """The run of each script is that of the library's loop: an answer, a slip on the way, and the step limit."""
    agent_class = names["TextReActAgent"]
    run, model = compare(agent_class, (CALLS, ANSWERS), max_steps=5)
    roles, wanted = [message.role for message in model.requests[1]], ["system", "user", "assistant", "user"]
    if roles != wanted:
        doing = "[message.role for message in messages]  # in turn 2"
        raise Difference("forgets", doing, wanted, roles, trace=run, step=2)
    compare(agent_class, (UNREADABLE, CALLS, ANSWERS), max_steps=5)
    compare(agent_class, DOUBLING, max_steps=3)
    compare(agent_class, (CALLS, ANSWERS), max_steps=2, known={"late-answer": lambda run: run.outcome == "max_steps"})


AT_THE_LIMIT: Mapping[str, Callable[[Trace], bool]] = {
    "ends-twice": lambda run: sum(event["event"] == "end" for event in run.events) > 1,
    "raises": lambda run: bool(run.finish.get("reason")) and run.outcome == "interrupted",
    "no-end": lambda run: run.outcome == "interrupted",
    "one-short": lambda run: len(run.steps) == 2 and run.outcome == "max_steps",
    "one-more": lambda run: len(run.steps) == 4,
    "fixed": lambda run: len(run.steps) == 10,
    "goes-on": lambda run: len(run.steps) > 4,
    "invents": lambda run: run.outcome == "answered" and len(run.steps) == 3,
}


def compare(
    agent_class: Any,
    replies: tuple[str, ...],
    *,
    max_steps: int,
    known: Mapping[str, Callable[[Trace], bool]] = AT_THE_LIMIT,
) -> tuple[Trace, ScriptedModel]:
    """Run a script with the learner's class and with the library's, and find where they part."""
    model, registry = ScriptedModel(replies), ToolRegistry([double])
    agent = agent_class(model, registry, max_steps=max_steps)
    got = agent.start("How much is it?")
    try:
        agent.resume(got)
    except ModelError:  # the script is over: the run went on for too long, as its trace shows
        pass
    except Exception:
        if len(got.steps) < max_steps:  # nothing to do with the limit
            raise
    ours = text_react.TextReActAgent(ScriptedModel(replies), registry, max_steps=max_steps).run("How much is it?")
    wanted = Trace([got.run, *(plain(event) for event in ours.events[1:])])
    doing = f"TextReActAgent(model, registry, max_steps={max_steps}).run(question)"
    try:
        expect_run(doing, Trace([got.run, *(plain(event) for event in got.events[1:])]), wanted, known=known)
    except Difference as difference:
        difference.trace = got  # in its own words
        raise
    return got, model


def plain(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event without the words of a reminder or a reason, which everybody may put differently."""
    changed = dict(event)
    if event.get("reminder"):
        changed["reminder"] = "…"
    if event.get("outcome") == "max_steps":
        changed["reason"] = None
    return changed


HEAD = """
from react_lab import Message
from react_lab.runner import Runner


class TextReActAgent(Runner):
    def __init__(self, model, registry, *, max_steps=10):
        super().__init__(model, registry)
        self.max_steps = max_steps

    @property
    def settings(self):
        return {"max_steps": self.max_steps}

    def system_prompt(self, question):
        return system_prompt(self.registry)

    def carry_on(self, trace):
        recorder = Recorder(trace, self.model, self.registry)
        messages = [Message("system", trace.run["system"]), Message("user", trace.question)]
"""
STARTER_AGENT = (
    HEAD
    + """        step = 0
        # en: 1. your turn: no more than self.max_steps turns
        # zh: 1. 轮到你了：最多 self.max_steps 轮
        while True:
            step += 1
            reply = recorder.reply(messages)
            answer, told = take_turn(reply.text, recorder)
            if answer is not None:
                trace.end("answered", answer=answer)
                yield trace.step(step)
                return
            messages += [Message("assistant", reply.text), Message("user", told)]
            yield trace.step(step)
        # en: 2. your turn: no answer came in time. Write that down: trace.end("max_steps", reason="...")
        # zh: 2. 轮到你了：没有及时得到答案。把这一点记下来：trace.end("max_steps", reason="...")
"""
)
BODY = """            reply = recorder.reply(messages)
            answer, told = take_turn(reply.text, recorder)
            if answer is not None:
                trace.end("answered", answer=answer)
                yield trace.step(step)
                return
            messages += [Message("assistant", reply.text), Message("user", told)]
            yield trace.step(step)
"""
FOR = "        for step in range(1, self.max_steps + 1):\n"
END = '        trace.end("max_steps", reason=f"no answer after {self.max_steps} steps")\n'
AGENT_RIGHT = HEAD + FOR + BODY + END

LOOP_AGENT = Exercise(
    id="loop-agent",
    lesson=LESSON,
    part="react_lab.text_react:TextReActAgent",
    check=check_agent,
    starter=STARTER_AGENT,
    solution=AGENT_RIGHT,
    alternates=(
        HEAD
        + "        step = 0\n        while step < self.max_steps:\n            step += 1\n"
        + BODY
        + '        trace.end("max_steps")\n',
        HEAD
        + "        for step in range(1, self.max_steps + 1):\n"
        + BODY.replace(
            "            messages +=",
            '            if step == self.max_steps:\n                trace.end("max_steps", reason="out of steps")\n'
            "            messages +=",
        ),
    ),
    wrong=(
        Wrong(
            "goes-on",
            HEAD + FOR.replace("self.max_steps + 1", "1000") + BODY + END,
            both(
                "The agent was given three steps and took as many as it could. Nothing in the loop asks for "
                "self.max_steps.",
                "给了智能体三步，它却能走多少走多少。循环里没有哪里看过 self.max_steps。",
            ),
        ),
        Wrong(
            "fixed",
            HEAD + FOR.replace("self.max_steps + 1", "11") + BODY + END,
            both(
                "Ten is only the default. Whoever makes the agent decides: the number is in self.max_steps.",
                "10 只是默认值。由创建智能体的人决定：这个数在 self.max_steps 里。",
            ),
        ),
        Wrong(
            "one-short",
            HEAD + FOR.replace("self.max_steps + 1", "self.max_steps") + BODY + END,
            both(
                "One step too few: range stops before its second number.",
                "少走了一步：range 到第二个数之前就停了。",
            ),
        ),
        Wrong(
            "one-more",
            HEAD + "        step = 0\n        while step <= self.max_steps:\n            step += 1\n" + BODY + END,
            both(
                "One step too many: the limit is asked for before step is counted up, so <= lets one more in.",
                "多走了一步：检查上限时 step 还没有加 1，所以 <= 会多放一步进来。",
            ),
        ),
        Wrong(
            "no-end",
            HEAD + FOR + BODY,
            both(
                "The loop stops in time, but the trace doesn't say why. Without an end it counts as interrupted, as if "
                "the power had failed.",
                "循环按时停了，轨迹里却没写为什么。没有结尾，就会被当作中途断掉，像停电一样。",
            ),
        ),
        Wrong(
            "raises",
            HEAD + FOR + BODY + '        raise RuntimeError("no answer")\n',
            both(
                "Running out of steps is one of the ways in which a run ends, and nobody's fault. Record it as the "
                "outcome; an exception would lose the run for a whole batch of questions.",
                "步数用完是运行的一种结局，不是谁的错。把它记为结果就行；抛出异常的话，一批问题会因为这一个而全部中断。",
            ),
        ),
        Wrong(
            "invents",
            HEAD + FOR + BODY + '        trace.end("answered", answer=told)\n',
            both(
                "This passes off what a tool said last as the answer. There is no answer: say so honestly, with the "
                "outcome max_steps.",
                "这样是把工具最后说的话当成了答案。没有答案就老实说没有：结果写 max_steps。",
            ),
        ),
        Wrong(
            "ends-twice",
            HEAD + FOR + BODY.replace("                return\n", "                break\n") + END,
            both(
                "The run ended twice: break leaves the loop, and the line below it writes a second end. After an answer "
                "there is nothing more to do: return.",
                "这次运行结束了两回：break 跳出循环，下面那一行又写了一个结尾。有了答案就不用再做什么：用 return。",
            ),
        ),
        Wrong(
            "late-answer",
            HEAD
            + FOR
            + BODY.replace(
                "            if answer is not None:\n",
                '            if step == self.max_steps:\n                trace.end("max_steps", reason="out of steps")\n'
                "                yield trace.step(step)\n                return\n            if answer is not None:\n",
            ),
            both(
                "The answer came in the very last step, and was thrown away. Look for an answer first, and only then at "
                "the limit.",
                "答案恰好在最后一步到了，却被扔掉了。先看有没有答案，再看上限。",
            ),
        ),
        Wrong(
            "forgets",
            HEAD + FOR + BODY.replace("            messages += [", "            _ = [") + END,
            both(
                "In turn 2 the model got no more than in turn 1: neither what it wrote, nor what came back. It remembers "
                "nothing by itself, so messages has to grow.",
                "第 2 轮里模型拿到的和第 1 轮一样：没有它写过的，也没有得到的结果。它自己什么都不记得，所以 messages 要越来越长。",
            ),
        ),
    ),
    hints=(
        both(
            "The body of the loop is right. Two things are missing: when it stops by itself, and what is written down "
            "when it does.",
            "循环体是对的。差两样：什么时候自己停下来，停下来时写下什么。",
        ),
        both(
            "In place of while True and step += 1: a for loop that counts step from 1 to self.max_steps. After the loop, "
            "on the level of for: trace.end.",
            "把 while True 和 step += 1 换成一个 for 循环，让 step 从 1 数到 self.max_steps。循环结束之后，和 for 同一级缩进：trace.end。",
        ),
        both(
            'for step in range(1, ...):\n    ...  # as it was\ntrace.end("max_steps", reason=...)',
            'for step in range(1, ...):\n    ...  # 原样\ntrace.end("max_steps", reason=...)',
        ),
    ),
)

# -- loop-circles ------------------------------------------------------------------------------------------------

LOOK = ToolCall("9.1", "look", {"page": 1})
OTHER = {"page": 2}


def run_of(*seen: tuple[str, Mapping[str, Any], str]) -> Trace:
    """A run in which each step made one call: name, arguments, and what came back."""
    trace = Trace.start(question="Where is it?", agent="TextReActAgent", model="scripted", system="")
    for step, (name, arguments, content) in enumerate(seen, start=1):
        trace.append("result", step=step, call_id=f"{step}.1", name=name, arguments=arguments, content=content)
    return trace


def check_circles(names: Mapping[str, Any]) -> None:
    """True where the two steps before made this very call and saw the same, and nowhere else."""
    goes_in_circles = names["goes_in_circles"]
    same = ("look", {"page": 1}, "nothing")

    def ask(trace: Trace, wanted: bool, symptom: str) -> None:
        said = [f"{event['name']}({event['arguments']}) -> {event['content']!r}" for event in trace.events[1:]]
        step = len(said) + 1
        doing = f"goes_in_circles(trace, {step}, look({LOOK.arguments}))  # before: {'; '.join(said) or '-'}"
        got = goes_in_circles(trace, step, LOOK)
        expect(doing, got, wanted, known={"no-bool": lambda value: not isinstance(value, bool)}, otherwise=symptom)

    ask(run_of(same, same), True, "never")
    ask(run_of(), False, "none-is-none")
    ask(run_of(same), False, "too-early")
    ask(run_of(("look", {"page": 1}, "page 1"), ("look", {"page": 1}, "page 2")), False, "ignores-result")
    ask(run_of(("look", OTHER, "nothing"), ("look", OTHER, "nothing")), False, "ignores-arguments")
    ask(run_of(same, same, ("look", OTHER, "nothing")), False, "any-time")


STARTER_CIRCLES = """
def observed(trace, step, call):
    # en: What a step saw of this very call; None if it did not make it.
    # zh: 某一步做这个调用时看到了什么；没有做过就是 None。
    for event in trace.find_all("result", step):
        if event["name"] == call.name and event["arguments"] == call.arguments:
            return event["content"]
    return None


def goes_in_circles(trace, step, call):
    # en: Your turn: True if each of the two steps before made this very call, and both saw the same.
    # zh: 轮到你了：前两步都做了这个调用，而且看到的一样，就返回 True。
    return False
"""
CIRCLES = "    last, before = observed(trace, step - 1, call), observed(trace, step - 2, call)\n    return last is not None and last == before\n"
OBSERVED = STARTER_CIRCLES.split("\n\n\ndef goes")[0] + "\n\n\ndef goes_in_circles(trace, step, call):\n"
CIRCLES_RIGHT = OBSERVED + CIRCLES

LOOP_CIRCLES = Exercise(
    id="loop-circles",
    lesson=LESSON,
    part="react_lab.guard:goes_in_circles",
    check=check_circles,
    starter=STARTER_CIRCLES,
    solution=CIRCLES_RIGHT,
    alternates=(
        OBSERVED
        + "    seen = [observed(trace, earlier, call) for earlier in (step - 2, step - 1)]\n"
        + "    return None not in seen and len(set(seen)) == 1\n",
        """
def goes_in_circles(trace, step, call):
    seen = []
    for earlier in (step - 1, step - 2):
        for event in trace.find_all("result", earlier):
            if (event["name"], event["arguments"]) == (call.name, call.arguments):
                seen.append(event["content"])
    return len(seen) == 2 and seen[0] == seen[1]
""",
    ),
    wrong=(
        Wrong(
            "never",
            CIRCLES_RIGHT.replace("last is not None and last == before", "last is not None and last != before"),
            both(
                "Twice the same call, twice the same result, and the third would be let through. This is the case that "
                "the guard is for.",
                "同样的调用两次，同样的结果两次，第三次居然还放行。防的就是这种情况。",
            ),
        ),
        Wrong(
            "none-is-none",
            CIRCLES_RIGHT.replace("last is not None and ", ""),
            both(
                "In the first step nothing was seen twice: None equals None. No result is not the same result; rule "
                "None out.",
                "第一步之前什么都没看到过：None 等于 None。没有结果不等于结果相同，要把 None 排除掉。",
            ),
        ),
        Wrong(
            "too-early",
            CIRCLES_RIGHT.replace("last is not None and last == before", "last is not None"),
            both(
                "Once before is no circle. A model may look again, and often sees more the second time.",
                "之前只做过一次，还不算兜圈子。模型可以再看一次，而且第二次往往看到更多。",
            ),
        ),
        Wrong(
            "ignores-result",
            CIRCLES_RIGHT.replace("last == before", "before is not None"),
            both(
                "The same call, but with another result: it was the next page. That is progress, so let it run.",
                "调用一样，结果却不同：那是下一页。这是进展，要让它运行。",
            ),
        ),
        Wrong(
            "ignores-arguments",
            CIRCLES_RIGHT.replace(' and event["arguments"] == call.arguments', ""),
            both(
                "The tool was the same, but it was asked for something else. A search with other words is the very "
                "thing that we want.",
                "工具一样，问的东西不一样。换个词再搜，正是我们希望模型做的。",
            ),
        ),
        Wrong(
            "any-time",
            OBSERVED
            + "    seen = [observed(trace, earlier, call) for earlier in range(1, step)]\n"
            + "    seen = [content for content in seen if content is not None]\n"
            + "    return len(seen) > 1 and len(set(seen)) == 1\n",
            both(
                "The step just before did something else, so the model isn't stuck; it came back for another look. Only "
                "the two steps right before count.",
                "紧挨着的上一步做了别的，模型没有卡住，只是回来再看一眼。只有紧挨着的前两步才算数。",
            ),
        ),
        Wrong(
            "no-bool",
            CIRCLES_RIGHT.replace(
                "return last is not None and last == before", "return last and before and last == before and last"
            ),
            both(
                "The question is yes or no, so give back True or False, and not what was seen: an empty result would "
                "count as a no.",
                "问的是“是不是”，所以要返回 True 或 False，而不是看到的内容：结果为空时会被当成“不是”。",
            ),
        ),
    ),
    hints=(
        both(
            "Two things have to be looked up, and then compared. What if nothing is found?",
            "要查两样东西，然后比较。要是什么都没查到呢？",
        ),
        both(
            "observed(trace, step - 1, call) is what the step before saw of this call, observed(trace, step - 2, call) "
            "the one before that. Beware of None.",
            "observed(trace, step - 1, call) 是上一步做这个调用时看到的，observed(trace, step - 2, call) 是再上一步的。小心 None。",
        ),
        both(
            "last, before = observed(...), observed(...)\nreturn last is not None and ...",
            "last, before = observed(...), observed(...)\nreturn last is not None and ...",
        ),
    ),
)

EXERCISES = (LOOP_PROMPT, LOOP_TURN, LOOP_AGENT, LOOP_CIRCLES)

QUIZZES = (
    Quiz(
        id="loop-memory",
        lesson=LESSON,
        question=both(
            "How does a model know in turn 3 what came back in turn 1?",
            "模型在第 3 轮怎么知道第 1 轮得到了什么？",
        ),
        choices=(
            both("It remembers its own turns", "它记得自己的每一轮"),
            both("It is sent again, with the whole conversation", "整段对话会重新发给它"),
            both("It looks it up in the trace", "它去轨迹里查"),
        ),
        right=1,
        why=both(
            "A model keeps nothing. The loop's list of messages is its whole memory.",
            "模型什么都不保留。循环里的那份消息列表就是它全部的记忆。",
        ),
    ),
    Quiz(
        id="loop-outcome",
        lesson=LESSON,
        question=both("A run has used up its steps. What should the loop do?", "一次运行用完了步数。循环该怎么做？"),
        choices=(
            both("Record the outcome max_steps, without an answer", "把结果记为 max_steps，不给答案"),
            both("Raise an exception, so that somebody notices", "抛出异常，好让人注意到"),
            both("Give the last observation as the answer", "把最后的观察当作答案"),
        ),
        right=0,
        why=both(
            "It is an honest end among others. What was found so far stays in the trace.",
            "这是一种老实的结局。已经查到的都留在轨迹里。",
        ),
    ),
)

SENTENCES = (
    Sentence(
        id="loop-why-limit",
        lesson=LESSON,
        question=both(
            "Why does an agent's loop need a step limit, when the prompt tells the model how to finish?",
            "提示词已经告诉模型怎样结束，为什么循环还需要步数上限？",
        ),
        answer=both(
            "The prompt asks, the loop decides: a model that never finishes would run for ever, and each turn costs more "
            "than the one before.",
            "提示词只是请求，决定权在循环：永远不结束的模型会一直跑下去，而且一轮比一轮贵。",
        ),
    ),
)
