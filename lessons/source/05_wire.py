# %% [markdown] lang="en"
# # 05 · Wire: calls without any text to read
#
# **Forty-five minutes. No key, no network.** You need lesson 04.
#
# Models have learnt to write calls in a form of their own, and the providers' APIs hand those over as data. At the end,
# one run goes over the wires of two providers, in forms that you wrote by hand, and this is what you will see:
#
# ```text
# blocks ['user', 'assistant', 'user']
# chat   ['system', 'user', 'assistant', 'tool', 'tool']
# It is warmer in Rome: 20 °C, and 14 °C in Paris.
# parted: None
# ```
#
# You build four things: the form of Anthropic's API, a check that calls and results come in pairs, the form of OpenAI's
# API, and a reader of arguments that is not taken in by half a call.

# %% [markdown] lang="zh"
# # 05 · 线路：不用再读文字的调用
#
# **四十五分钟。不需要密钥，不需要网络。** 你需要上过第 04 课。
#
# 模型学会了用自己的一套格式写调用，服务方的 API 再把它作为数据交给我们。这一课结束时，同一次运行会走两家服务方的线路，两种格式都是你亲手写的，你会看到：
#
# ```text
# blocks ['user', 'assistant', 'user']
# chat   ['system', 'user', 'assistant', 'tool', 'tool']
# 罗马更暖和：20 °C，巴黎是 14 °C。
# parted: None
# ```
#
# 你要做四样东西：Anthropic 的 API 所用的格式、检查调用和结果是否成对、OpenAI 的 API 所用的格式，还有一个不会被半截调用骗过的参数解析器。

# %% lang="en"
language = "en"

# %% lang="zh"
language = "zh"

# %%
import json

from react_lab import Message, OfflineModel, Reply, ToolUseAgent, load_model, replay
from react_lab.course import check, explain, hint, mine_or_ours, predict, progress, quiz, show, solution
from react_lab.models.wires import anthropic, chat
from react_lab.tools.standard import standard_tools

progress()

# %% [markdown] lang="en"
# ## Do you remember?
#
# A question about lesson 04, and one about lesson 02.

# %% [markdown] lang="zh"
# ## 还记得吗？
#
# 一个问题关于第 04 课，一个关于第 02 课。

# %%
quiz("loop-memory")

# %%
quiz("registry-whose")

# %% [markdown] lang="en" tags=["new:native tool use"]
# ## A reply that is not only text
#
# Text ReAct has a weak spot: a call is a line of text, and somebody has to find it in there. Nearly all of lesson 03
# dealt with that. With **native tool use** the tools go to the model beside the conversation, as schemas, and its calls
# come back beside the text.
#
# The stand-in can do that, too. Where in its reply will the call be: in `text` or in `tool_calls`?

# %% [markdown] lang="zh" tags=["new:native tool use"]
# ## 不只有文字的回复
#
# 文字 ReAct 有个弱点：调用只是一行文字，得有人把它找出来。第 03 课几乎都在做这件事。而用**原生工具调用**（native tool use）时，工具以 schema 的形式放在对话旁边交给模型，它的调用也放在文字旁边交回来。
#
# 离线替身也会这样做。在它的回复里，调用会在哪里：`text` 还是 `tool_calls`？

# %% lang="en"
question = "Is it warmer in Paris or in Rome?"

# %% lang="zh"
question = "巴黎和罗马哪里更暖和？"

# %% tags=["predict:wire-where"]
guess = "?"

# %%
model = OfflineModel()
registry = standard_tools()

reply = model.reply([Message("user", question)], tools=tuple(registry))
print("text:", reply.text)
for call in reply.tool_calls:
    print("call:", call)
predict("wire-where", guess, came="tool_calls" if "weather" not in reply.text else "text")

# %% [markdown] lang="en"
# Two calls in one turn, each with a name, its arguments as a dict, and an **id**. The text beside them is the thought.
# No label, no bracket, nothing to search for.
#
# The loop around it is the one that you know. `ToolUseAgent` is the library's; here is the conversation after its first
# turn:

# %% [markdown] lang="zh"
# 一轮里有两个调用，各有名字、字典形式的参数，还有一个 **id**。旁边的文字是思考。没有标签，没有括号，什么都不用找。
#
# 外面的循环就是你熟悉的那个。`ToolUseAgent` 是库里的；下面是它走完第一轮之后的对话：

# %%
trace = ToolUseAgent(model, registry).run(question)
conversation = trace.conversation_at(2)
for message in conversation:
    print(message.role, "|", message.text.split("\n")[0])
    for call in message.tool_calls:
        print("    call  ", call.id, call.name, call.arguments)
    for result in message.tool_results:
        print("    result", result.call_id, result.content)

# %% [markdown] lang="en" tags=["new:block"]
# ## Anthropic's form
#
# Our messages are the same for every provider. A server understands only its own form, so somebody has to translate.
# Anthropic's API wants turns, each with a role and a list of **blocks**: a text, a call, a result.
#
# We print what the library makes of the conversation. Under which role will the tool results stand: `user`, `assistant`
# or `tool`?

# %% [markdown] lang="zh" tags=["new:block"]
# ## Anthropic 的格式
#
# 我们的消息对每家服务方都一样，而服务器只懂自己的格式，所以得有人翻译。Anthropic 的 API 要的是一轮一轮，每轮有一个角色和一串**内容块**（block）：文字、调用、结果。
#
# 我们打印库翻译出来的样子。工具结果会放在哪个角色下面：`user`、`assistant` 还是 `tool`？

# %% tags=["predict:wire-role"]
guess = "?"

# %%
wire = anthropic.to_wire(conversation, model.name)
print(json.dumps(wire, indent=1, ensure_ascii=False))

predict("wire-role", guess, came=wire[-1]["role"])

# %% [markdown] lang="en"
# This is what goes over the wire, letter by letter. Look at it again:
#
# 1. There are two roles only. Who counts as `user`?
# 2. Where is the system prompt?
# 3. What ties a result to its call?
#
# <details><summary>What we think</summary>
#
# 1. Whatever the model didn't write: the person, and the tools.
# 2. Not here. This API takes it beside the turns, in a field named `system`.
# 3. The id: a call's `id` is its result's `tool_use_id`.
#
# </details>
#
# ## Exercise 1 · Blocks
#
# Now translate by hand. The text block is there. A result has `call_id`, `content` and `is_error`; a call has `id`,
# `name` and `arguments`.

# %% [markdown] lang="zh"
# 线路上走的就是这些，一字不差。再看一遍：
#
# 1. 只有两种角色。哪些算 `user`？
# 2. 系统提示词在哪里？
# 3. 结果靠什么和调用连在一起？
#
# <details><summary>我们的看法</summary>
#
# 1. 凡不是模型写的：人说的，还有工具返回的。
# 2. 不在这里。这个 API 把它放在各轮旁边，一个叫 `system` 的字段里。
# 3. 靠 id：调用的 `id` 就是结果的 `tool_use_id`。
#
# </details>
#
# ## 练习一 · 内容块
#
# 现在亲手来翻译。文字块已经写好了。一个结果有 `call_id`、`content` 和 `is_error`；一个调用有 `id`、`name` 和 `arguments`。

# %% tags=["exercise:wire-blocks"]

# %%
check("wire-blocks")

# %%
to_blocks = mine_or_ours("to_blocks")

for turn in to_blocks(conversation):
    print(turn)

# %% [markdown] lang="en"
# ## Break it: a result goes missing
#
# Two calls, two results. Suppose one of them gets lost: a tool crashed, or somebody cut old messages to save tokens. Will
# your translation notice, `yes` or `no`?

# %% [markdown] lang="zh"
# ## 弄坏它：丢掉一个结果
#
# 两个调用，两个结果。假如丢了一个：工具崩溃了，或者有人为了省词元删掉了旧消息。你的翻译会发现吗：会（`yes`）还是不会（`no`）？

# %% tags=["predict:wire-missing"]
guess = "?"

# %% tags=["break:wire-missing"]
from dataclasses import replace

*before, told = conversation
broken = [*before, replace(told, tool_results=told.tool_results[:1])]

try:
    text = json.dumps(to_blocks(broken))
    print(text.count('"tool_use"'), "tool_use,", text.count('"tool_result"'), "tool_result")
    came = "no"
except ValueError as error:
    print(error)
    came = "yes"
predict("wire-missing", guess, came=came)

# %% [markdown] lang="en"
# Two `tool_use`, one `tool_result`, and nobody complained. The server will: it refuses the whole request with an error
# 400, whichever of the two providers it is. By then the message has travelled, and the error may be far from its cause.
#
# So look before you send. The rule is short: **a call is answered in the very next message, and nothing else is.**
#
# ## Exercise 2 · In pairs
#
# `check_pairing` goes through a conversation and keeps in mind which calls wait for their result.

# %% [markdown] lang="zh"
# 两个 `tool_use`，一个 `tool_result`，谁也没吭声。服务器会吭声：两家服务方都会用错误 400 拒绝整个请求。可那时消息已经发出去了，报错的地方离出错的地方也许很远。
#
# 所以发送之前先看一眼。规则很短：**调用必须在紧接着的下一条消息里得到回应，别的都不行。**
#
# ## 练习二 · 成对
#
# `check_pairing` 走一遍对话，记着哪些调用还在等结果。

# %% tags=["exercise:wire-pairs"]

# %%
check("wire-pairs")

# %%
check_pairing = mine_or_ours("check_pairing")

try:
    check_pairing(broken)
except ValueError as error:
    print(error)

# %%
quiz("wire-pair-where")

# %% [markdown] lang="en"
# ## OpenAI's form
#
# The other wire is OpenAI's Chat Completions. Many servers speak it: other providers, and programs that run a model on
# your own machine. In our conversation one message holds both tool results. How many messages will that be here?

# %% [markdown] lang="zh"
# ## OpenAI 的格式
#
# 另一种线路是 OpenAI 的 Chat Completions。会说它的服务器很多：别的服务方，还有在你自己电脑上运行模型的程序。在我们的对话里，两个工具结果放在一条消息里。在这种格式里会是几条？

# %% tags=["predict:wire-how-many"]
guess = "?"

# %%
wire = chat.to_wire(conversation, model.name)
print(json.dumps(wire, indent=1, ensure_ascii=False))

predict("wire-how-many", guess, came=sum(message["role"] == "tool" for message in wire))

# %% [markdown] lang="en"
# The same conversation, and hardly a word is the same. Compare:
#
# | | blocks | chat |
# |---|---|---|
# | a call stands | among the blocks of the turn | in `tool_calls`, beside `content` |
# | its arguments | an object, `input` | a text that holds JSON, `arguments` |
# | results | all in one turn of the user | each a message with the role `tool` |
# | which call | `tool_use_id` | `tool_call_id` |
# | a failed call | `is_error` | only the text says so |
#
# (The system prompt is missing in the printout: here it is the first message, and the library adds it when it sends.)
#
# ## Exercise 3 · Messages
#
# Your translation keeps the system message.

# %% [markdown] lang="zh"
# 对话一样，写法却几乎没有一处相同。比一比：
#
# | | blocks | chat |
# |---|---|---|
# | 调用放在 | 这一轮的内容块里 | `tool_calls` 里，和 `content` 并列 |
# | 它的参数 | 一个对象，`input` | 一段 JSON 文字，`arguments` |
# | 结果 | 全在 user 的一轮里 | 每个一条消息，角色是 `tool` |
# | 属于哪个调用 | `tool_use_id` | `tool_call_id` |
# | 调用失败了 | `is_error` | 只能靠文字说明 |
#
# （打印结果里没有系统提示词：在这种格式里它是第一条消息，库在发送时才加上。）
#
# ## 练习三 · 消息
#
# 你的翻译要保留系统消息。

# %% tags=["exercise:wire-chat"]

# %%
check("wire-chat")

# %% [markdown] lang="en"
# ## Break it again: arguments cut in half
#
# Arguments as a text have a danger of their own. A reply has a limit of tokens, and if the limit comes in the middle of a
# call, the text stops there. What does Python make of this one: does `json.loads` give a `dict`, give `None`, or does it
# `raise`?

# %% [markdown] lang="zh"
# ## 再弄坏一次：被切成一半的参数
#
# 参数写成文字，就有文字的危险。回复有词元上限，上限要是落在调用中间，文字就断在那里。Python 会怎么读下面这一段：`json.loads` 返回一个 `dict`，返回 `None`，还是抛出异常（`raise`）？

# %% tags=["predict:wire-half"]
guess = "?"

# %% tags=["break:wire-half"]
half = '{"city": "Par'

try:
    value = json.loads(half)
    came = type(value).__name__
except ValueError as error:
    print(error)
    came = "raise"
predict("wire-half", guess, came=came)

# %% [markdown] lang="en"
# It raises, and that alone would end the run. It is tempting to mend the text: two more characters, and it is JSON. But
# nobody knows what the model was going to write. `Par` may be Paris or Parma, and half the name of a file is another
# file.
#
# So a call that can't be read gets no arguments and a reason. The registry runs nothing that has an error, and the model
# is told why.
#
# ## Exercise 4 · Arguments
#
# Not everything odd is an error: several servers send no text at all for a tool that takes nothing.

# %% [markdown] lang="zh"
# 抛出了异常，光这一下就会让运行中断。你可能想把文字补好：再加两个字符，就是 JSON 了。可谁也不知道模型原本要写什么。`Par` 可能是 Paris，也可能是 Parma；而文件名的一半，是另一个文件。
#
# 所以读不出来的调用，得到的是空的参数和一个原因。带着错误的调用，注册表不会运行，模型也会知道原因。
#
# ## 练习四 · 参数
#
# 不是所有古怪的东西都算错：工具不需要参数时，有些服务器一个字也不发。

# %% tags=["exercise:wire-arguments"]

# %%
check("wire-arguments")

# %%
read_arguments = mine_or_ours("read_arguments")

for raw in ('{"city": "Paris"}', half, ""):
    print(repr(raw), "->", read_arguments(raw))

# %%
quiz("wire-cut")

# %% [markdown] lang="en"
# ## Make it: one run, two wires
#
# Now both wires carry a whole run. `WireModel` is a model at the end of a wire. What it gets is checked by your
# `check_pairing` and translated by your function; what it answers comes as a server would send it, and the library's
# `from_wire` reads it.

# %% [markdown] lang="zh"
# ## 做出来：一次运行，两种线路
#
# 现在让两种线路各走一次完整的运行。`WireModel` 是线路那一头的模型。它收到的，由你的 `check_pairing` 检查，由你的函数翻译；它的回答和服务器发来的一样，由库里的 `from_wire` 来读。

# %%
to_chat = mine_or_ours("to_chat")


class WireModel:
    name = "wire"
    native_tools = True

    def __init__(self, translate, from_wire, answers):
        self.translate, self.from_wire, self.answers = translate, from_wire, answers
        self.sent = []

    def reply(self, messages, *, tools=(), **options) -> Reply:
        check_pairing(messages)
        self.sent.append(self.translate(messages))
        taken = {call.id for message in messages for call in message.tool_calls}
        return self.from_wire(self.answers[len(self.sent) - 1], model=self.name, taken=taken)


# %% [markdown] lang="en"
# And here are the answers of two servers. They say the same, each in its own form. Where will the two traces part: at
# the event `reply`, `parse` or `result`, or nowhere (`none`)?

# %% [markdown] lang="zh"
# 下面是两个服务器的回答，说的一样，格式各是各的。两份轨迹会在哪个事件上分开：`reply`、`parse`、`result`，还是哪里都不（`none`）？

# %% lang="en"
thought = "I look both up."
one = "Paris"
other = "Rome"
final = "It is warmer in Rome: 20 °C, and 14 °C in Paris."

# %% lang="zh"
thought = "两个城市都查一下。"
one = "巴黎"
other = "罗马"
final = "罗马更暖和：20 °C，巴黎是 14 °C。"

# %% tags=["predict:wire-parted"]
guess = "?"

# %%
from react_lab.trace import diff


def in_blocks(stop_reason, text, *cities):
    calls = [
        {"type": "tool_use", "id": f"toolu_{number}", "name": "weather", "input": {"city": city}}
        for number, city in enumerate(cities, start=1)
    ]
    return {"content": [{"type": "text", "text": text}, *calls], "stop_reason": stop_reason}


def in_chat(finish_reason, text, *cities, end=None):
    calls = []
    for number, city in enumerate(cities, start=1):
        arguments = json.dumps({"city": city}, ensure_ascii=False)
        if number == len(cities):
            arguments = arguments[:end]
        function = {"name": "weather", "arguments": arguments}
        calls.append({"id": f"call_{number}", "type": "function", "function": function})
    message = {"role": "assistant", "content": text, "tool_calls": calls}
    return {"choices": [{"message": message, "finish_reason": finish_reason}]}


answers_in_blocks = [in_blocks("tool_use", thought, one, other), in_blocks("end_turn", final)]
answers_in_chat = [in_chat("tool_calls", thought, one, other), in_chat("stop", final)]

blocks_model = WireModel(to_blocks, anthropic.from_wire, answers_in_blocks)
chat_model = WireModel(to_chat, chat.from_wire, answers_in_chat)
first = ToolUseAgent(blocks_model, registry).run(question)
second = ToolUseAgent(chat_model, registry).run(question)

print("blocks", [turn["role"] for turn in blocks_model.sent[-1]])
print("chat  ", [message["role"] for message in chat_model.sent[-1]])
print(second.answer)
parted = diff(first, second)
print("parted:", parted)
predict("wire-parted", guess, came="none" if parted is None else (parted[0] or parted[1])["event"])

# %% [markdown] lang="en"
# The loop, the tools and the trace know nothing of the wire. That is what our own messages are for: a provider can be
# changed in one place.
#
# Now the same once more, but the first answer breaks off in the middle of its second call. What does the model get to
# read? Step through it.

# %% [markdown] lang="zh"
# 循环、工具和轨迹对线路一无所知。我们自己的消息就是为此而设的：换一家服务方，只用改一处。
#
# 再来一次，这回第一个回答断在第二个调用的中间。模型会读到什么？逐步看一看。

# %%
cut_off = [in_chat("length", thought, one, other, end=12), *answers_in_chat]

third = ToolUseAgent(WireModel(to_chat, chat.from_wire, cut_off), registry).run(question)
replay(third, lang=language)

# %% [markdown] lang="en"
# <details><summary>What there is to find</summary>
#
# Neither call was run in step 1, though the first one looked whole: the reply was cut off, so nobody can be sure. Both
# got an error as their result, under their own ids. So calls and results stay in pairs, and the model sends them again.
#
# </details>
#
# Change something: give `end` another number, such as 3, and run the cell again. What stays the same?
#
# ## Say it in a sentence
#
# Why does every tool result carry the id of its call? Write your answer between the quotes.

# %% [markdown] lang="zh"
# <details><summary>能看到什么</summary>
#
# 第 1 步里两个调用都没有运行，虽然第一个看上去是完整的：回复被切断了，谁也说不准。两个都得到一个错误作为结果，各在自己的 id 下面。这样调用和结果仍然成对，模型再发一次就行。
#
# </details>
#
# 改一改：给 `end` 换一个数，比如 3，再运行一遍。什么没有变？
#
# ## 用一句话说清楚
#
# 为什么每个工具结果都要带上调用的 id？把你的回答写在引号之间。

# %% tags=["explain:wire-why-id"]
explain("wire-why-id", "")

# %% [markdown] lang="en"
# ## Your code beside the library's
#
# First the library's blocks, then its check. Find
#
# 1. your three kinds of block,
# 2. what it does with two messages of one role that follow each other,
# 3. two mistakes that its check finds and yours doesn't.

# %% [markdown] lang="zh"
# ## 你的代码和库里的代码
#
# 先是库里的内容块，再是库里的检查。找出：
#
# 1. 你的三种内容块，
# 2. 同一种角色的两条消息连在一起时，它怎么处理，
# 3. 它的检查能发现、而你的发现不了的两种错误。

# %%
show(anthropic.to_wire)
show(anthropic._made)

# %%
from react_lab.models.pairing import check_pairing as library_check_pairing

show(library_check_pairing)

# %% [markdown] lang="en"
# <details><summary>Where they are</summary>
#
# 1. In `_made`; `_result` and `_text` make two of them.
# 2. `groupby` puts them into one turn.
# 3. An id that is used twice, and a system message that is not the first. (And an empty conversation.)
#
# </details>
#
# ## What you have built
#
# - With **native tool use** calls come beside the text, as data. Nothing has to be found in words.
# - Each provider has a form of its own: **blocks** in turns, or messages with `tool_calls`. Only the translation knows it.
# - A call and its **result** are a pair, tied by an id. The pair is checked before anything is sent.
# - Arguments that can't be read are never guessed. The call gets an error, and the model sends it again.
#
# Next: sturdy. Servers fail, and a run has to live with that.

# %% [markdown] lang="zh"
# <details><summary>它们在哪里</summary>
#
# 1. 在 `_made` 里；其中两种由 `_result` 和 `_text` 来做。
# 2. `groupby` 把它们合成一轮。
# 3. 用了两次的 id，以及不在第一位的系统消息。（还有空的对话。）
#
# </details>
#
# ## 你做出了什么
#
# - 用**原生工具调用**，调用作为数据放在文字旁边，不用再从话里去找。
# - 每家服务方有自己的格式：一轮一轮的**内容块**，或者带 `tool_calls` 的消息。只有翻译的那一处知道。
# - 调用和**结果**是一对，靠 id 连在一起。发送之前先检查是否成对。
# - 读不出来的参数绝不去猜。这个调用得到一个错误，模型会再发一次。
#
# 下一课：结实。服务器会出故障，运行要经得住。

# %% [markdown] lang="en"
# ## Bonus: a real model
#
# With a key in `.env`, the question goes to a real model over its own wire. Without one, this cell says so and does
# nothing.

# %% [markdown] lang="zh"
# ## 加餐：真实的模型
#
# `.env` 里有密钥时，这个问题会通过真实模型自己的线路发出去。没有密钥时，这一格会说明，然后什么也不做。

# %% tags=["live"]
real = load_model()
if real.name == "offline":
    print("no key: skipped · 没有密钥，跳过")
else:
    print(ToolUseAgent(real, registry, max_steps=4).run(question).answer)
