"""Lesson 05: Anthropic's blocks, calls and results in pairs, OpenAI's messages, and arguments that arrive as text."""
# ruff: noqa: E501 - texts for people are easier to read unbroken

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from react_lab.course.exercise import Exercise, Quiz, Sentence, Wrong, both
from react_lab.course.expect import Difference, Literal, Raised, expect, on_purpose, tried
from react_lab.messages import Message, ToolCall, ToolResult
from react_lab.models.wires import anthropic, chat

LESSON = "05_wire"

# -- ours: the library's two wires, as one call each -------------------------------------------------------------


def to_blocks(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """A conversation as Anthropic's API takes it; the system text goes beside it."""
    return anthropic.to_wire(messages, "")


def to_chat(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """A conversation as OpenAI's Chat Completions take it, the system text first."""
    system = "".join(message.text for message in messages if message.role == "system")
    wire: list[dict[str, Any]] = chat.body("", system, chat.to_wire(messages, ""))["messages"]
    return wire


# -- the conversation of the checks ------------------------------------------------------------------------------

PARIS, ROME = (ToolCall(f"call_{n}", "weather", {"city": city}) for n, city in enumerate(("Paris", "Rome"), start=1))
OSLO = ToolCall("call_3", "weather", {"city": "Oslo"})


def result(call: ToolCall, content: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(call.id, call.name, content, is_error)


SYSTEM = Message("system", "Use the tools.")
ASKED = Message("user", "Is it warmer in Paris or in Rome?")
BOTH = Message("assistant", "I look both up.", tool_calls=(PARIS, ROME))
TOLD = Message("tool", tool_results=(result(PARIS, "14 °C"), result(ROME, "Error: no data", is_error=True)))
SILENT = Message("assistant", tool_calls=(OSLO,))
TOLD_LAST = Message("tool", tool_results=(result(OSLO, "9 °C"),))
THANKS = Message("user", "Thank you.")
TALK = (SYSTEM, ASKED, BOTH, TOLD, SILENT, TOLD_LAST)

# -- wire-blocks -------------------------------------------------------------------------------------------------

BLOCKS: tuple[list[dict[str, Any]], ...] = (
    [{"type": "text", "text": ASKED.text}],
    [
        {"type": "text", "text": BOTH.text},
        {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Paris"}},
        {"type": "tool_use", "id": "call_2", "name": "weather", "input": {"city": "Rome"}},
    ],
    [
        {"type": "tool_result", "tool_use_id": "call_1", "content": "14 °C", "is_error": False},
        {"type": "tool_result", "tool_use_id": "call_2", "content": "Error: no data", "is_error": True},
    ],
    [{"type": "tool_use", "id": "call_3", "name": "weather", "input": {"city": "Oslo"}}],
    [{"type": "tool_result", "tool_use_id": "call_3", "content": "9 °C", "is_error": False}],
)


def spelled_out(content: Any) -> Any:
    """Content with what the API lets one leave out: a lone text is a block, and a result that says nothing is good."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        return blocks
    return [{"is_error": False, **block} if block.get("type") == "tool_result" else block for block in blocks]


def some(key: str, value: object) -> Any:
    """Whether a block holds this under a key."""
    return lambda blocks: any(block.get(key) == value for block in blocks)


def check_blocks(names: Mapping[str, Any]) -> None:
    """Roles alternate, results stand in a user's turn, and each kind of block has its fields."""
    wire = names["to_blocks"](TALK)
    if not (isinstance(wire, list) and all(isinstance(turn, dict) and "content" in turn for turn in wire)):
        raise Difference("no-list", "to_blocks(messages)", Literal('[{"role": …, "content": […]}, …]'), wire)
    expect(
        '[turn["role"] for turn in to_blocks(messages)]',
        [turn.get("role") for turn in wire],
        ["user", "assistant", "user", "assistant", "user"],
        known={
            "system-in": lambda roles: "system" in roles,
            "tool-role": lambda roles: "tool" in roles,
            "one-turn-each": lambda roles: len(roles) > 5,
        },
        otherwise="other-roles",
    )
    known: tuple[Mapping[str, Any], ...] = (
        {},
        {
            "calls-missing": lambda blocks: not some("type", "tool_use")(blocks),
            "lost-text": lambda blocks: not some("type", "text")(blocks),
            "input-text": lambda blocks: any(isinstance(block.get("input"), str) for block in blocks),
            "nested": lambda blocks: any("function" in block for block in blocks),
        },
        {
            "text-result": some("type", "text"),
            "name-as-id": some("tool_use_id", "weather"),
            "no-id": lambda blocks: any("tool_use_id" not in block for block in blocks),
            "no-error": lambda blocks: not some("is_error", True)(blocks),
        },
        {"blank-text": some("type", "text")},
        {},
    )
    for number, (turn, blocks, symptoms) in enumerate(zip(wire, BLOCKS, known, strict=True)):
        content = spelled_out(turn["content"])
        readable = isinstance(content, list) and all(isinstance(block, dict) for block in content)
        doing = f'to_blocks(messages)[{number}]["content"]'
        expect(doing, content, blocks, known=symptoms if readable else {}, otherwise="other-blocks")


STARTER_BLOCKS = """
def blocks_of(message):
    blocks = []
    for result in message.tool_results:
        # en: 1. your turn: "type" is "tool_result"; also "tool_use_id", "content" and "is_error"
        # zh: 1. 轮到你了："type" 是 "tool_result"；还有 "tool_use_id"、"content" 和 "is_error"
        blocks.append({"type": "text", "text": result.content})
    if message.text:
        blocks.append({"type": "text", "text": message.text})
    for call in message.tool_calls:
        # en: 2. your turn: "type" is "tool_use"; also "id", "name" and "input"
        # zh: 2. 轮到你了："type" 是 "tool_use"；还有 "id"、"name" 和 "input"
        ...
    return blocks


def to_blocks(messages):
    turns = []
    for message in messages:
        # en: 3. your turn: the system message goes elsewhere, and there are two roles only, user and assistant
        # zh: 3. 轮到你了：系统消息另有去处；而且只有两种角色，user 和 assistant
        turns.append({"role": message.role, "content": blocks_of(message)})
    return turns
"""
RESULT_BLOCK = """        blocks.append(
            {
                "type": "tool_result",
                "tool_use_id": result.call_id,
                "content": result.content,
                "is_error": result.is_error,
            }
        )
"""
CALL_BLOCK = '        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})\n'
TURNS = """    turns = []
    for message in messages:
        if message.role != "system":
            role = "assistant" if message.role == "assistant" else "user"
            turns.append({"role": role, "content": blocks_of(message)})
    return turns
"""
BLOCKS_RIGHT = f"""
def blocks_of(message):
    blocks = []
    for result in message.tool_results:
{RESULT_BLOCK}    if message.text:
        blocks.append({{"type": "text", "text": message.text}})
    for call in message.tool_calls:
{CALL_BLOCK}    return blocks


def to_blocks(messages):
{TURNS}"""

WIRE_BLOCKS = Exercise(
    id="wire-blocks",
    lesson=LESSON,
    part="react_lab.course.exercises.lesson_05:to_blocks",
    check=check_blocks,
    starter=STARTER_BLOCKS,
    solution=BLOCKS_RIGHT,
    alternates=(
        """
def to_blocks(messages):
    turns = []
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "user":
            turns.append({"role": "user", "content": message.text})
        elif message.role == "tool":
            content = []
            for result in message.tool_results:
                block = {"type": "tool_result", "tool_use_id": result.call_id, "content": result.content}
                if result.is_error:
                    block["is_error"] = True
                content.append(block)
            turns.append({"role": "user", "content": content})
        else:
            content = [{"type": "text", "text": message.text}] if message.text else []
            for call in message.tool_calls:
                content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
            turns.append({"role": "assistant", "content": content})
    return turns
""",
        """
ROLES = {"user": "user", "tool": "user", "assistant": "assistant"}


def result_block(result):
    return dict(
        type="tool_result", tool_use_id=result.call_id, content=result.content, is_error=result.is_error
    )


def call_block(call):
    return dict(type="tool_use", id=call.id, name=call.name, input=dict(call.arguments))


def blocks_of(message):
    text = [dict(type="text", text=message.text)] if message.text.strip() else []
    return [*map(result_block, message.tool_results), *text, *map(call_block, message.tool_calls)]


def to_blocks(messages):
    return [{"role": ROLES[m.role], "content": blocks_of(m)} for m in messages if m.role in ROLES]
""",
    ),
    wrong=(
        Wrong(
            "no-list",
            BLOCKS_RIGHT.replace("    return turns\n", "    print(turns)\n"),
            both(
                "The function gives back nothing that could be sent. Return the list of turns.",
                "函数没有返回可以发送的东西。请返回由各轮组成的列表。",
            ),
        ),
        Wrong(
            "system-in",
            BLOCKS_RIGHT.replace(
                '        if message.role != "system":\n            role = "assistant" if message.role == "assistant" else "user"\n'
                '            turns.append({"role": role',
                '        role = "user" if message.role == "tool" else message.role\n        turns.append({"role": role',
            ),
            both(
                "This API has no system role among its turns: the system prompt is sent beside them, in a field of its "
                "own. Leave that message out here.",
                "这个 API 的各轮里没有 system 角色：系统提示词另外放在自己的字段里发送。这里要跳过那条消息。",
            ),
        ),
        Wrong(
            "tool-role",
            BLOCKS_RIGHT.replace('"assistant" if message.role == "assistant" else "user"', "message.role"),
            both(
                "There is no role tool on this wire. Whatever the model didn't write comes from the user, the results "
                "of its tools, too.",
                "这种格式里没有 tool 角色。凡不是模型写的都算 user 的，工具的结果也一样。",
            ),
        ),
        Wrong(
            "one-turn-each",
            BLOCKS_RIGHT.replace(
                '            turns.append({"role": role, "content": blocks_of(message)})\n',
                '            for block in blocks_of(message):\n                turns.append({"role": role, "content": [block]})\n',
            ),
            both(
                "Every block got a turn of its own. All results of a turn belong into one user's turn, side by side: "
                "else the first is sent without the others, and that is refused.",
                "每个内容块都成了单独一轮。同一轮的所有结果要并排放在一个 user 轮里；否则第一个发出去时缺了其余的，会被拒绝。",
            ),
        ),
        Wrong(
            "calls-missing",
            BLOCKS_RIGHT.replace(CALL_BLOCK, "        pass\n"),
            both(
                "The model's calls are gone. It would read results of something that it never asked for.",
                "模型的调用不见了。它会读到一些自己从没要过的结果。",
            ),
        ),
        Wrong(
            "lost-text",
            BLOCKS_RIGHT.replace("    if message.text:", "    if message.text and not message.tool_calls:"),
            both(
                "What the model said beside its calls is lost: that was its thought. A turn can hold both.",
                "模型在调用旁边说的话丢了：那是它的思考。一轮里两样可以都有。",
            ),
        ),
        Wrong(
            "input-text",
            "import json\n" + BLOCKS_RIGHT.replace('"input": call.arguments', '"input": json.dumps(call.arguments)'),
            both(
                "On this wire input is the object itself. A text is what the other wire wants; here it is refused.",
                "这种格式里 input 就是对象本身。要文字的是另一种格式，在这里会被拒绝。",
            ),
        ),
        Wrong(
            "text-result",
            BLOCKS_RIGHT.replace(RESULT_BLOCK, '        blocks.append({"type": "text", "text": result.content})\n'),
            both(
                "This is the way of text ReAct: words that look like any other. A result is a block of its own kind, so "
                "that nobody can take the one for the other.",
                "这是文字 ReAct 的做法：一段和别的没有区别的话。结果有自己的内容块类型，这样谁也不会认错。",
            ),
        ),
        Wrong(
            "name-as-id",
            BLOCKS_RIGHT.replace("result.call_id", "result.name"),
            both(
                "Both calls went to the same tool, so its name doesn't tell whose result this is. The call's id does.",
                "两个调用用的是同一个工具，光看名字分不清结果是谁的。要用调用的 id。",
            ),
        ),
        Wrong(
            "no-id",
            BLOCKS_RIGHT.replace('"tool_use_id"', '"id"'),
            both(
                'A call has an "id"; a result points to it with "tool_use_id". Under the wrong key it points to nothing.',
                '调用有自己的 "id"；结果用 "tool_use_id" 指向它。键写错了，就什么也没指向。',
            ),
        ),
        Wrong(
            "no-error",
            BLOCKS_RIGHT.replace('                "is_error": result.is_error,\n', ""),
            both(
                "The second call failed, and its block doesn't say so. The model may take an error message for a fact.",
                "第二个调用失败了，它的内容块却没有说明。模型可能把错误信息当成事实。",
            ),
        ),
        Wrong(
            "blank-text",
            BLOCKS_RIGHT.replace(
                '    if message.text:\n        blocks.append({"type": "text", "text": message.text})\n',
                '    if not message.tool_results:\n        blocks.append({"type": "text", "text": message.text})\n',
            ),
            both(
                "The model called without a word, and an empty text block was made of that. The API refuses those: no "
                "text, no block.",
                "模型没说话就直接调用了，却因此多出一个空的文字块。API 会拒绝空块：没有文字，就不要块。",
            ),
        ),
    ),
    hints=(
        both(
            "Print to_blocks(conversation) and lay it beside the blocks printed above the exercise. Which line differs first?",
            "把 to_blocks(conversation) 打印出来，和练习上面打印的内容块并排看。第一处不同在哪一行？",
        ),
        both(
            "A result has call_id, content and is_error; a call has id, name and arguments. In to_blocks: skip the role "
            "system, and let tool count as user.",
            "结果有 call_id、content 和 is_error；调用有 id、name 和 arguments。在 to_blocks 里：跳过 system，把 tool 当作 user。",
        ),
        both(
            'blocks.append({"type": "tool_result", "tool_use_id": ..., "content": ..., "is_error": ...})\n'
            'blocks.append({"type": "tool_use", "id": ..., "name": ..., "input": ...})\n'
            'if message.role != "system":\n    role = "assistant" if ... else "user"',
            'blocks.append({"type": "tool_result", "tool_use_id": ..., "content": ..., "is_error": ...})\n'
            'blocks.append({"type": "tool_use", "id": ..., "name": ..., "input": ...})\n'
            'if message.role != "system":\n    role = "assistant" if ... else "user"',
        ),
    ),
)

# -- wire-pairs --------------------------------------------------------------------------------------------------

ONE_MISSING = Message("tool", tool_results=TOLD.tool_results[:1])
UNPAIRED: tuple[tuple[str, str, tuple[Message, ...], str], ...] = (
    ("passes", "a user message in place of the results", (ASKED, BOTH, THANKS), "call_1"),
    ("any-result", "two calls, one result", (ASKED, BOTH, ONE_MISSING, THANKS), "call_2"),
    ("late", "the results come a message too late", (ASKED, BOTH, THANKS, TOLD), "call_1"),
    ("end-open", "the conversation ends with a call", (ASKED, SILENT), "call_3"),
    ("orphan", "results, but nobody called", (ASKED, TOLD_LAST), "call_3"),
)


def check_pairs(names: Mapping[str, Any]) -> None:
    """A whole conversation passes; one that breaks the rule raises a ValueError which names a call."""
    check_pairing = names["check_pairing"]
    got = on_purpose(check_pairing, TALK)
    expect("check_pairing(messages)  # all in pairs", got, None, otherwise="refuses-good")
    for symptom, what, messages, call_id in UNPAIRED:
        doing, got = f"check_pairing(messages)  # {what}", on_purpose(check_pairing, messages)
        wanted = Raised(ValueError(f"… {call_id} …"))
        known = {symptom: None, "returns": lambda value: not isinstance(value, Raised)}
        expect(doing, got, wanted, known=known, otherwise="other-error")
        if call_id not in got.text:
            raise Difference("names-nothing", doing, wanted, got)


STARTER_PAIRS = """
def check_pairing(messages):
    # en: ids of the calls that wait for a result
    # zh: 还在等结果的调用的 id
    waiting = []
    for message in messages:
        results = [result.call_id for result in message.tool_results]
        # en: 1. your turn: if these are not the results that are waited for, raise a ValueError with the ids
        # zh: 1. 轮到你了：如果这些不是正在等的结果，就抛出带有这些 id 的 ValueError

        waiting = [call.id for call in message.tool_calls]
    # en: 2. your turn: nothing follows any more. Is anybody still waiting?
    # zh: 2. 轮到你了：后面没有消息了。还有谁在等？
"""
PAIRS_RIGHT = """
def check_pairing(messages):
    waiting = []
    for message in messages:
        results = [result.call_id for result in message.tool_results]
        if results != waiting:
            raise ValueError(f"the calls {waiting} are followed by the results {results}")
        waiting = [call.id for call in message.tool_calls]
    if waiting:
        raise ValueError(f"the calls {waiting} have no results")
"""
MID = "        if results != waiting:\n"
RAISE_MID = '            raise ValueError(f"the calls {waiting} are followed by the results {results}")\n'
LAST = '    if waiting:\n        raise ValueError(f"the calls {waiting} have no results")\n'

WIRE_PAIRS = Exercise(
    id="wire-pairs",
    lesson=LESSON,
    part="react_lab.models.pairing:check_pairing",
    check=check_pairs,
    starter=STARTER_PAIRS,
    solution=PAIRS_RIGHT,
    alternates=(
        """
def check_pairing(messages):
    for number, message in enumerate(messages):
        calls = {call.id for call in message.tool_calls}
        following = messages[number + 1].tool_results if number + 1 < len(messages) else ()
        results = {result.call_id for result in following}
        if calls - results:
            raise ValueError(f"message {number}: no result for {sorted(calls - results)}")
        if results - calls:
            raise ValueError(f"message {number + 1}: nobody asked for {sorted(results - calls)}")
""",
        """
def ids(message):
    return [call.id for call in message.tool_calls], [result.call_id for result in message.tool_results]


def check_pairing(messages):
    waiting = []
    for message in list(messages) + [None]:
        calls, results = ids(message) if message else ([], [])
        odd = set(waiting) ^ set(results)
        if odd:
            raise ValueError("not in pairs: " + ", ".join(odd))
        waiting = calls
""",
    ),
    wrong=(
        Wrong(
            "refuses-good",
            PAIRS_RIGHT.replace(MID, "        if results or waiting:\n"),
            both(
                "This conversation is in order: each call has its result in the next message. Compare the two lists.",
                "这段对话没有问题：每个调用的结果都在下一条消息里。要把两个列表拿来比较。",
            ),
        ),
        Wrong(
            "passes",
            PAIRS_RIGHT.replace(MID + RAISE_MID, ""),
            both(
                "Calls without any result were let through. Look at each message, not only at the last.",
                "没有任何结果的调用也放过去了。每条消息都要看，不能只看最后一条。",
            ),
        ),
        Wrong(
            "returns",
            PAIRS_RIGHT.replace("raise ValueError(", "return ("),
            both(
                "The problem was given back as a value, and a caller who doesn't look sends the request all the same. An "
                "exception can't be overlooked.",
                "问题被当作值返回了，调用者不看的话照样会把请求发出去。异常是忽略不了的。",
            ),
        ),
        Wrong(
            "any-result",
            PAIRS_RIGHT.replace(MID, "        if waiting and not results or results and not waiting:\n"),
            both(
                "Some result is there, but not the one of each call. Compare the ids, not only whether there is something.",
                "结果是有，但不是每个调用都有。要比较 id，不能只看有没有。",
            ),
        ),
        Wrong(
            "late",
            """
def check_pairing(messages):
    calls = {call.id for message in messages for call in message.tool_calls}
    results = {result.call_id for message in messages for result in message.tool_results}
    if calls != results:
        raise ValueError(f"not in pairs: {calls ^ results}")
""",
            both(
                "Each call has a result somewhere, but not in the very next message, and that is the rule. Go through "
                "the messages one by one.",
                "每个调用都能在某处找到结果，却不在紧接着的下一条消息里，而规则正是这个。要一条一条地看。",
            ),
        ),
        Wrong(
            "end-open",
            PAIRS_RIGHT.replace(LAST, ""),
            both(
                "The last message makes a call, and nothing follows that could be compared. After the loop, nobody may "
                "be waiting any more.",
                "最后一条消息发出了调用，后面没有消息可比。循环结束之后，不能还有谁在等。",
            ),
        ),
        Wrong(
            "orphan",
            PAIRS_RIGHT.replace(MID, "        if not set(waiting) <= set(results):\n"),
            both(
                "Here is a result that nobody asked for. It happens when old messages are cut away, and it is refused "
                "just like a missing one.",
                "这里有一个谁也没要过的结果。删掉旧消息时会出现这种情况，和缺结果一样会被拒绝。",
            ),
        ),
        Wrong(
            "names-nothing",
            PAIRS_RIGHT.replace(
                'f"the calls {waiting} are followed by the results {results}"', '"not in pairs"'
            ).replace('f"the calls {waiting} have no results"', '"not in pairs"'),
            both(
                "True, but of which call? In a conversation of a hundred messages, the id is what you search for.",
                "没错，可说的是哪个调用？对话有一百条消息时，要靠 id 才找得到。",
            ),
        ),
        Wrong(
            "other-error",
            PAIRS_RIGHT.replace("raise ValueError(", "raise KeyError("),
            both(
                "Refused, but with another exception. A value that can't be right is a ValueError.",
                "拒绝了，但用的是别的异常。值不对，就用 ValueError。",
            ),
        ),
    ),
    hints=(
        both(
            "waiting comes from the message before, results from this one. When are they a pair?",
            "waiting 来自上一条消息，results 来自这一条。什么时候算成对？",
        ),
        both(
            "In the loop, before waiting is set anew: compare results with waiting. After the loop: waiting has to be empty.",
            "在循环里、给 waiting 重新赋值之前：比较 results 和 waiting。循环之后：waiting 应该是空的。",
        ),
        both(
            'if results != ...:\n    raise ValueError(f"... {waiting} ... {results}")\n...\nif waiting:\n    raise ValueError(...)',
            'if results != ...:\n    raise ValueError(f"... {waiting} ... {results}")\n...\nif waiting:\n    raise ValueError(...)',
        ),
    ),
)

# -- wire-chat ---------------------------------------------------------------------------------------------------


def chat_call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": dict(call.arguments)}}


CHAT: tuple[dict[str, Any], ...] = (
    {"role": "system", "content": SYSTEM.text},
    {"role": "user", "content": ASKED.text},
    {"role": "assistant", "content": BOTH.text, "tool_calls": [chat_call(PARIS), chat_call(ROME)]},
    {"role": "tool", "tool_call_id": "call_1", "content": "14 °C"},
    {"role": "tool", "tool_call_id": "call_2", "content": "Error: no data"},
    {"role": "assistant", "content": None, "tool_calls": [chat_call(OSLO)]},
    {"role": "tool", "tool_call_id": "call_3", "content": "9 °C"},
)
CALLS_DOING = 'to_chat(messages)[2]["tool_calls"]'


def check_chat(names: Mapping[str, Any]) -> None:
    """Every message has its place, a result a message of its own, and arguments are JSON in a text."""
    wire = names["to_chat"](TALK)
    if not (isinstance(wire, list) and all(isinstance(message, dict) for message in wire)):
        raise Difference("no-list", "to_chat(messages)", Literal('[{"role": …, "content": …}, …]'), wire)
    expect(
        '[message["role"] for message in to_chat(messages)]',
        [message.get("role") for message in wire],
        [message["role"] for message in CHAT],
        known={
            "no-system": lambda roles: "system" not in roles,
            "no-result": lambda roles: "tool" not in roles and len(roles) < len(CHAT),
            "user-role": lambda roles: "tool" not in roles,
            "one-result": lambda roles: roles.count("tool") == 2,
        },
        otherwise="other-roles",
    )
    calls = wire[2].get("tool_calls")
    check_calls(calls)
    for number, (message, wanted) in enumerate(zip(wire, CHAT, strict=True)):
        got = dict(message)
        if isinstance(got.get("tool_calls"), list):
            got["tool_calls"] = [with_object(call) for call in got["tool_calls"]]
        if wanted["role"] == "assistant" and got.get("content") == "":
            got["content"] = None
        known = {
            "no-id": lambda value: value.get("role") == "tool" and "tool_call_id" not in value,
            "lost-text": lambda value: value.get("content") != BOTH.text and bool(value.get("tool_calls")),
        }
        expect(f"to_chat(messages)[{number}]", got, wanted, known=known, otherwise="other-message")


def check_calls(calls: Any) -> None:
    """The arguments, before they are compared as objects."""
    wanted = Literal('[{"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "…"}}, …]')
    if not (isinstance(calls, list) and calls and all(isinstance(call, dict) for call in calls)):
        raise Difference("no-calls", CALLS_DOING, wanted, calls)
    if not all(isinstance(call.get("function"), dict) for call in calls):
        raise Difference("flat-call", CALLS_DOING, wanted, calls)
    raw = calls[0]["function"].get("arguments")
    doing, wanted = f'{CALLS_DOING}[0]["function"]["arguments"]', Literal("""'{"city": "Paris"}'""")
    if isinstance(raw, Mapping):
        raise Difference("object-arguments", doing, wanted, raw)
    read = tried(json.loads, raw)
    if isinstance(read, Raised):
        raise Difference("python-text", doing, wanted, raw)
    if read == {}:
        raise Difference("empty-arguments", doing, wanted, raw)


def with_object(call: Any) -> Any:
    """A call with its arguments read, so that blanks in their text don't matter."""
    read = tried(lambda: json.loads(call["function"]["arguments"]))
    return call if isinstance(read, Raised) else {**call, "function": {**call["function"], "arguments": read}}


STARTER_CHAT = """
import json


def to_chat(messages):
    wire = []
    for message in messages:
        if message.role == "tool":
            # en: 1. your turn: for each result a message of its own, with "role", "tool_call_id" and "content"
            # zh: 1. 轮到你了：每个结果单独一条消息，有 "role"、"tool_call_id" 和 "content"
            ...
        elif message.tool_calls:
            calls = []
            for call in message.tool_calls:
                # en: 2. your turn: here the arguments are a text that holds JSON
                # zh: 2. 轮到你了：在这里，参数是一段 JSON 文字
                function = {"name": call.name, "arguments": "{}"}
                calls.append({"id": call.id, "type": "function", "function": function})
            wire.append({"role": "assistant", "content": message.text or None, "tool_calls": calls})
        else:
            wire.append({"role": message.role, "content": message.text})
    return wire
"""
CHAT_RESULTS = """            for result in message.tool_results:
                wire.append({"role": "tool", "tool_call_id": result.call_id, "content": result.content})
"""
CHAT_RIGHT = f"""
import json


def to_chat(messages):
    wire = []
    for message in messages:
        if message.role == "tool":
{CHAT_RESULTS}        elif message.tool_calls:
            calls = []
            for call in message.tool_calls:
                function = {{"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}}
                calls.append({{"id": call.id, "type": "function", "function": function}})
            wire.append({{"role": "assistant", "content": message.text or None, "tool_calls": calls}})
        else:
            wire.append({{"role": message.role, "content": message.text}})
    return wire
"""
DUMPS = "json.dumps(call.arguments, ensure_ascii=False)"

WIRE_CHAT = Exercise(
    id="wire-chat",
    lesson=LESSON,
    part="react_lab.course.exercises.lesson_05:to_chat",
    check=check_chat,
    starter=STARTER_CHAT,
    solution=CHAT_RIGHT,
    alternates=(
        """
import json


def wire_call(call):
    arguments = json.dumps(dict(call.arguments))
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def parts(message):
    if message.tool_results:
        return [
            {"role": "tool", "tool_call_id": result.call_id, "content": result.content}
            for result in message.tool_results
        ]
    part = {"role": message.role, "content": message.text}
    if message.tool_calls:
        part["tool_calls"] = [wire_call(call) for call in message.tool_calls]
    return [part]


def to_chat(messages):
    return [part for message in messages for part in parts(message)]
""",
        CHAT_RIGHT.replace(
            CHAT_RESULTS,
            """            wire += [
                dict(role=message.role, tool_call_id=result.call_id, content=result.content)
                for result in message.tool_results
            ]
""",
        ).replace(DUMPS, 'json.dumps(call.arguments, separators=(",", ":"))'),
    ),
    wrong=(
        Wrong(
            "no-result",
            CHAT_RIGHT.replace(CHAT_RESULTS, "            pass\n"),
            both(
                "The results are missing. The model waits for them, and the server refuses calls without results.",
                "结果不见了。模型在等它们，而没有结果的调用会被服务器拒绝。",
            ),
        ),
        Wrong(
            "user-role",
            CHAT_RIGHT.replace('"role": "tool"', '"role": "user"'),
            both(
                "That was the other wire. Here results have a role of their own, tool.",
                "那是另一种格式的做法。在这里，结果有自己的角色：tool。",
            ),
        ),
        Wrong(
            "one-result",
            CHAT_RIGHT.replace(
                CHAT_RESULTS,
                '            content = "\\n".join(result.content for result in message.tool_results)\n'
                "            first = message.tool_results[0]\n"
                '            wire.append({"role": "tool", "tool_call_id": first.call_id, "content": content})\n',
            ),
            both(
                "Two calls, and one message for both results: call_2 is never answered. On this wire each result is a "
                "message of its own.",
                "两个调用，两个结果却合成了一条消息：call_2 始终没有得到回应。在这种格式里，每个结果单独一条消息。",
            ),
        ),
        Wrong(
            "no-system",
            CHAT_RIGHT.replace(
                '        if message.role == "tool":',
                '        if message.role == "system":\n            continue\n        if message.role == "tool":',
            ),
            both(
                "On this wire the system prompt is a message like the others, the first. Without it the model doesn't "
                "know the rules.",
                "在这种格式里，系统提示词和别的一样是一条消息，排在第一。没有它，模型不知道规则。",
            ),
        ),
        Wrong(
            "object-arguments",
            CHAT_RIGHT.replace(DUMPS, "dict(call.arguments)"),
            both(
                "An object is what the other wire wants. Here the arguments are a text that holds JSON; json.dumps writes it.",
                "要对象的是另一种格式。在这里，参数是一段 JSON 文字，用 json.dumps 来写。",
            ),
        ),
        Wrong(
            "python-text",
            CHAT_RIGHT.replace(DUMPS, "str(call.arguments)"),
            both(
                "This is Python's spelling: single quotes are no JSON, and the server can't read it.",
                "这是 Python 的写法：单引号不是 JSON，服务器读不了。",
            ),
        ),
        Wrong(
            "empty-arguments",
            CHAT_RIGHT.replace(DUMPS, '"{}"'),
            both(
                "The arguments are still empty: the model would see that it asked for the weather of nowhere.",
                "参数还是空的：模型会以为自己问的是哪儿也不是的天气。",
            ),
        ),
        Wrong(
            "flat-call",
            CHAT_RIGHT.replace(
                '{"id": call.id, "type": "function", "function": function}',
                '{"id": call.id, "type": "function", **function}',
            ),
            both(
                'Name and arguments stand one level deeper on this wire, under "function".',
                '在这种格式里，名字和参数要再深一层，放在 "function" 下面。',
            ),
        ),
        Wrong(
            "no-id",
            CHAT_RIGHT.replace('"tool_call_id"', '"tool_use_id"'),
            both(
                'Here the pointer to the call is called "tool_call_id"; "tool_use_id" is the other wire\'s word for it.',
                '在这里，指向调用的键叫 "tool_call_id"；"tool_use_id" 是另一种格式的叫法。',
            ),
        ),
        Wrong(
            "lost-text",
            CHAT_RIGHT.replace('"content": message.text or None', '"content": None'),
            both(
                "What the model said beside its calls is lost. A message can hold both.",
                "模型在调用旁边说的话丢了。一条消息里两样可以都有。",
            ),
        ),
    ),
    hints=(
        both(
            "Lay the printed messages beside the blocks. What is one message there, and several here?",
            "把打印出来的消息和内容块并排看。哪些在那边是一条，在这边是几条？",
        ),
        both(
            "Results: a for loop over message.tool_results that appends a message each time. Arguments: "
            "json.dumps(call.arguments).",
            "结果：用 for 循环走一遍 message.tool_results，每次追加一条消息。参数：json.dumps(call.arguments)。",
        ),
        both(
            "for result in message.tool_results:\n"
            '    wire.append({"role": "tool", "tool_call_id": ..., "content": ...})\n'
            '...\nfunction = {"name": call.name, "arguments": json.dumps(...)}',
            "for result in message.tool_results:\n"
            '    wire.append({"role": "tool", "tool_call_id": ..., "content": ...})\n'
            '...\nfunction = {"name": call.name, "arguments": json.dumps(...)}',
        ),
    ),
)

# -- wire-arguments ----------------------------------------------------------------------------------------------

CUT = '{"city": "Par'


def check_arguments(names: Mapping[str, Any]) -> None:
    """An object is read, no text is no arguments, and whatever else gives no arguments and a reason."""
    read_arguments = names["read_arguments"]

    def read(raw: str) -> tuple[str, Any, Any]:
        doing, got = f"read_arguments({raw!r})", on_purpose(read_arguments, raw)
        if not (isinstance(got, tuple) and len(got) == 2):
            raise Difference(
                "stops" if isinstance(got, Raised) else "no-pair", doing, Literal("(arguments, error)"), got
            )
        return doing, *got

    for raw, wanted in (
        ('{"city": "Paris"}', {"city": "Paris"}),
        ('{"a": [1, true], "b": null}', {"a": [1, True], "b": None}),
    ):
        doing, arguments, error = read(raw)
        expect(doing, (arguments, error), (wanted, None), otherwise="breaks-good")
    for raw, symptom in ((CUT, "runs-half"), ("[1, 2]", "no-object"), ('"Paris"', "no-object"), ("Paris", "runs-half")):
        doing, arguments, error = read(raw)
        why = Literal("({}, 'the arguments are not valid JSON …; send the call again')")
        if error is None:
            raise Difference("silent" if arguments == {} else symptom, doing, why, (arguments, error))
        if not isinstance(error, str) or len(error.strip()) < 12:
            raise Difference("says-nothing", doing, why, (arguments, error))
        if arguments != {}:
            raise Difference("keeps-half", doing, why, (arguments, error))
    doing, arguments, error = read("")
    expect(doing, (arguments, error), ({}, None), otherwise="empty-is-error")


STARTER_ARGUMENTS = """
import json


def read_arguments(raw):
    # en: Your turn. Give back two values: the arguments, and None or what is wrong with them.
    # en: No text at all means no arguments. What is cut off or no object gives {} and a reason.
    # zh: 轮到你了。返回两个值：参数；以及 None，或者哪里不对。
    # zh: 一个字都没有，就是没有参数。被切断的、不是对象的，返回 {} 和原因。
    return json.loads(raw), None
"""
TRY = '    try:\n        value = json.loads(raw or "{}")\n    except ValueError as error:\n'
CAUGHT = '        return {}, f"the arguments are not valid JSON ({error}); send the call again"\n'
NO_OBJECT = (
    '    if not isinstance(value, dict):\n        return {}, "the arguments are no JSON object; send the call again"\n'
)
READ_HEAD = "\nimport json\n\n\ndef read_arguments(raw):\n"
ARGUMENTS_RIGHT = READ_HEAD + TRY + CAUGHT + NO_OBJECT + "    return value, None\n"

WIRE_ARGUMENTS = Exercise(
    id="wire-arguments",
    lesson=LESSON,
    part="react_lab.models.wires:read_arguments",
    check=check_arguments,
    starter=STARTER_ARGUMENTS,
    solution=ARGUMENTS_RIGHT,
    alternates=(
        """
import json


def read_arguments(raw):
    if not raw.strip():
        return {}, None
    try:
        value = json.loads(raw)
    except json.JSONDecodeError:
        value = None
    if isinstance(value, dict):
        return value, None
    return {}, f"expected a JSON object, got {raw[:40]!r}: please call again"
""",
        """
import json


def parsed(raw):
    value = json.loads(raw) if raw else {}
    if type(value) is not dict:
        raise ValueError("the arguments must be a JSON object")
    return value


def read_arguments(raw):
    try:
        return parsed(raw), None
    except ValueError as error:
        return {}, f"not run: {error}"
""",
    ),
    wrong=(
        Wrong(
            "stops",
            READ_HEAD + '    value = json.loads(raw or "{}")\n' + NO_OBJECT + "    return value, None\n",
            both(
                "The exception would end the whole run, over a reply that was cut off. It is the model's slip: catch it "
                "and say what happened.",
                "因为一条被切断的回复，整次运行就结束了。这是模型的失误：接住异常，说清发生了什么。",
            ),
        ),
        Wrong(
            "no-pair",
            ARGUMENTS_RIGHT.replace("return value, None", "return value"),
            both(
                "Two values are needed: the arguments, and None where nothing is wrong.",
                "需要两个值：参数；没有问题时，第二个是 None。",
            ),
        ),
        Wrong(
            "runs-half",
            READ_HEAD
            + '    for end in ("", \'"}\', "}"):\n        try:\n            return json.loads((raw or "{}") + end), None\n'
            + '        except ValueError:\n            pass\n    return {"text": raw}, None\n',
            both(
                "What is half there was made whole by guessing, and would now be run: the weather of Par, or worse, a "
                "file deleted by half its name. Never run what is cut off.",
                "缺的一半是猜着补上的，接下来就会真的运行：查“Par”的天气还好，万一是按半个名字删文件呢。被切断的绝不运行。",
            ),
        ),
        Wrong(
            "silent",
            READ_HEAD + TRY + "        return {}, None\n" + NO_OBJECT + "    return value, None\n",
            both(
                "Now it looks like a call without arguments. The tool would run, or complain about something else, and "
                "the model would not learn that its reply was cut off.",
                "这样看起来就像一次没有参数的调用。工具会照样运行，或者报一个不相干的错，模型也不知道自己的回复被切断了。",
            ),
        ),
        Wrong(
            "no-object",
            ARGUMENTS_RIGHT.replace(NO_OBJECT, ""),
            both(
                "This is JSON, but no object: there are no names that could be matched with parameters.",
                "这是 JSON，但不是对象：没有名字可以和参数对上。",
            ),
        ),
        Wrong(
            "says-nothing",
            ARGUMENTS_RIGHT.replace('f"the arguments are not valid JSON ({error}); send the call again"', '"error"'),
            both(
                "The model reads this text. A single word doesn't tell it what to do: say what is wrong, and that it "
                "should send the call again.",
                "这段文字是给模型读的。一个词说明不了什么：写清哪里不对，并请它重新发送这个调用。",
            ),
        ),
        Wrong(
            "keeps-half",
            ARGUMENTS_RIGHT.replace('return {}, f"the', 'return {"raw": raw}, f"the'),
            both(
                "There is an error, and arguments as well. Somebody will run those. What can't be read has none: {}.",
                "既有错误，又有参数，迟早会有人拿去运行。读不出来就没有参数：{}。",
            ),
        ),
        Wrong(
            "empty-is-error",
            ARGUMENTS_RIGHT.replace('raw or "{}"', "raw"),
            both(
                "A tool without parameters is called with no text at all, by several servers. That is no mistake: it "
                "means {}.",
                "调用没有参数的工具时，有些服务器一个字也不发。这不算错，就是 {}。",
            ),
        ),
    ),
    hints=(
        both(
            "Three things can go wrong here: no text, no JSON, no object. Only one of them is not an error.",
            "这里可能遇到三种情况：没有文字、不是 JSON、不是对象。其中只有一种不算错。",
        ),
        both(
            'Put json.loads(raw or "{}") into try, catch ValueError, and then ask isinstance(value, dict).',
            '把 json.loads(raw or "{}") 放进 try，接住 ValueError，然后用 isinstance(value, dict) 判断。',
        ),
        both(
            'try:\n    value = json.loads(raw or "{}")\nexcept ValueError as error:\n    return {}, f"... {error} ..."\n'
            "if not isinstance(value, dict):\n    return ...\nreturn value, None",
            'try:\n    value = json.loads(raw or "{}")\nexcept ValueError as error:\n    return {}, f"... {error} ..."\n'
            "if not isinstance(value, dict):\n    return ...\nreturn value, None",
        ),
    ),
)

EXERCISES = (WIRE_BLOCKS, WIRE_PAIRS, WIRE_CHAT, WIRE_ARGUMENTS)

QUIZZES = (
    Quiz(
        id="wire-pair-where",
        lesson=LESSON,
        question=both(
            "A model makes two calls in a turn. Where must their results stand?",
            "模型在一轮里发出两个调用。它们的结果必须放在哪里？",
        ),
        choices=(
            both("Anywhere later, since the ids tell them apart", "后面哪里都行，反正有 id 可以区分"),
            both("One in the next turn, one in the turn after", "一个在下一轮，一个在再下一轮"),
            both("Both right after it, before anything else", "两个都紧跟在后面，中间不能有别的"),
        ),
        right=2,
        why=both(
            "Every call is answered at once, under its id. A gap is refused by the server, so we look before sending.",
            "每个调用都要立刻、按 id 得到回应。中间有空缺，服务器就拒绝；所以发送之前我们自己先查。",
        ),
    ),
    Quiz(
        id="wire-cut",
        lesson=LESSON,
        question=both(
            "A reply hit the token limit in the middle of a call's arguments. What should be done with the call?",
            "回复写到某个调用的参数中间，碰到了词元上限。这个调用该怎么办？",
        ),
        choices=(
            both("Don't run it; tell the model why", "不运行，并告诉模型原因"),
            both("Close the quotes and run it", "把引号补上，照样运行"),
            both("Leave it out of the conversation", "把它从对话里去掉"),
        ),
        right=0,
        why=both(
            "Half a call may mean anything. It gets an error as its result, so that call and result stay a pair.",
            "半个调用可以是任何意思。给它一个错误作为结果，调用和结果就仍然成对。",
        ),
    ),
)

SENTENCES = (
    Sentence(
        id="wire-why-id",
        lesson=LESSON,
        question=both("Why does every tool result carry the id of its call?", "为什么每个工具结果都要带上调用的 id？"),
        answer=both(
            "A turn can hold several calls, even of the same tool; the id says which result belongs to which.",
            "一轮里可以有好几个调用，甚至是同一个工具；id 说明哪个结果属于哪个调用。",
        ),
    ),
)
