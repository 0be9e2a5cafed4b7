# %% [markdown] lang="en"
# # 03 · Reader: from what a model writes to what runs
#
# **Forty-five minutes. No key, no network.** You need lessons 01 and 02. A little `re` helps; we explain what we use.
#
# At the end, your reader makes the same call out of every one of these, and so an agent can work with models that
# write as they please:
#
# ```text
# plain     True
# bold      True
# Chinese   True
# numbered  True
# JSON      True
# two       True
# own       True
# ```
#
# You build it in four pieces: labels, an end to inventions, one call, and `parse_reply`, which joins them.

# %% [markdown] lang="zh"
# # 03 · 解析器：从模型写下的文字，到能运行的调用
#
# **四十五分钟。不需要密钥，不需要网络。** 你需要上过第 01、02 课。会一点 `re` 更好，用到的地方我们都会解释。
#
# 这一课结束时，下面每一种写法，你的解析器都能读出同样的调用。模型爱怎么写就怎么写，智能体照样能用：
#
# ```text
# plain     True
# bold      True
# Chinese   True
# numbered  True
# JSON      True
# two       True
# own       True
# ```
#
# 它由四块组成：标签，截掉编造的内容，读一个调用，以及把它们合起来的 `parse_reply`。

# %% lang="en"
language = "en"

# %% lang="zh"
language = "zh"

# %%
import re

from react_lab import Message, ScriptedModel, TextReActAgent, ToolCall, load_model, replay
from react_lab.agent import Turn
from react_lab.course import check, explain, hint, mine_or_ours, predict, progress, quiz, show, solution
from react_lab.text_react import FORMAT, Action, ParsedReply
from react_lab.tools.standard import standard_tools

progress()

# %% [markdown] lang="en"
# ## Do you remember?
#
# Answer before you look anything up.

# %% [markdown] lang="zh"
# ## 还记得吗？
#
# 先回答，别急着翻回去看。

# %%
quiz("registry-silent")

# %%
quiz("start-sees")

# %% [markdown] lang="en" tags=["new:reader"]
# ## A reply is only text
#
# Your registry takes a tool call. But a model writes text. Between the two stands the **reader**: it finds the action in
# a reply, or the answer, or says what is wrong.
#
# Here is one as you find it in many a tutorial: one line of `re`. It looks for the word Action, a name, and something in
# square brackets.

# %% [markdown] lang="zh" tags=["new:reader"]
# ## 回复只是文字
#
# 你的注册表接收的是工具调用，可模型写的是文字。站在两者之间的就是**解析器**：它从回复里找出行动，或者答案，或者说出哪里不对。
#
# 下面这个解析器，很多教程里都能见到：一行 `re`。它要找 Action 这个词、一个名字，以及方括号里的内容。

# %%
STRICT = re.compile(r"Action: (\w+)\[(.*)\]")


def strict(text):
    found = STRICT.search(text)
    if found is None:
        return ParsedReply(error="no action", text=text)
    return ParsedReply(actions=(Action(found[1], found[2]),), text=text)


print(strict("Thought: I look it up.\nAction: search[Eiffel Tower]").actions)

# %% [markdown] lang="en"
# ## Break it: the prompt shows one form, the reader takes another
#
# The next cell puts this reader into an agent. (Lesson 04 explains that class; for now, see where `reader` is called.)
#
# The agent's prompt tells the model how to write. This is what it shows:

# %% [markdown] lang="zh"
# ## 弄坏它：提示词给出一种写法，解析器只认另一种
#
# 下一格把这个解析器装进智能体。（这个类第 04 课会讲；现在只要看 `reader` 在哪里被调用。）
#
# 智能体的提示词会告诉模型该怎么写，内容是这样的：


# %%
class ReadingAgent(TextReActAgent):
    def __init__(self, reader, model, registry):
        super().__init__(model, registry)
        self.reader = reader

    def read(self, reply, *, step, language):
        parsed = self.reader(reply.text)
        message = Message("assistant", parsed.text)
        if parsed.error is not None:
            return Turn(message, reminder=f"{parsed.error}\n\n{self.format(language)}")
        calls = tuple(ToolCall(f"step {step}", action.name, action.argument) for action in parsed.actions)
        return Turn(message, parsed.thought, calls, parsed.answer)


print(TextReActAgent(load_model(), standard_tools()).format(language))

# %% [markdown] lang="en"
# Our model here follows a script: it keeps to that form, letter by letter, as often as it is asked. How does the run
# end: `answered` or `error`?

# %% [markdown] lang="zh"
# 这里的模型照脚本来：每次问它，它都一字不差地按这种写法写。运行会怎样结束：回答出来（`answered`），还是出错（`error`）？

# %% lang="en"
question = "What is (23 + 45) * 2?"
obedient = 'Thought: This has to be calculated.\nAction: calculator({"expression": "(23 + 45) * 2"})'

# %% lang="zh"
question = "(23 + 45) * 2 等于多少？"
obedient = '思考：这需要计算。\n行动：calculator({"expression": "(23 + 45) * 2"})'

# %% tags=["predict:reader-prompt"]
guess = "?"

# %% tags=["break:reader-prompt"]
agent = ReadingAgent(strict, ScriptedModel([obedient] * 5), standard_tools())
trace = agent.run(question)
for step in trace.steps:
    print(step.text, end="\n\n")

predict("reader-prompt", guess, came=trace.outcome)

# %%
replay(trace, lang=language)

# %% [markdown] lang="en" tags=["new:reminder"]
# Step through it. In each turn the model did what it was asked, and in each turn it was told off. The text that says so
# is a **reminder**: what went wrong, and the format once more. Open **Prompt as sent** in step 2 and read it.
#
# 1. What in the reminder made things worse?
# 2. To whom would a person who sees only the outcome give the blame?
#
# <details><summary>What we think</summary>
#
# 1. It shows the form that the reader refuses, again. The better the model obeys, the longer it goes on.
# 2. To the model: "it can't keep to the format". The fault lies between two lines of our own.
#
# </details>
#
# Hence the first rule: **prompt and reader are one contract.** Whatever form a prompt shows, the reader must read, and a
# test has to see to it. You run that test at the end.

# %% [markdown] lang="zh" tags=["new:reminder"]
# 一步步看过去。每一轮，模型都照着要求做了；每一轮，它都挨了训。训它的那段文字叫**提醒**：说出哪里不对，再把格式给一遍。展开第 2 步里的**实际发送的提示词**，读一读。
#
# 1. 提醒里的什么让事情更糟了？
# 2. 只看得到结果的人，会怪谁？
#
# <details><summary>我们的看法</summary>
#
# 1. 它又给出了那种解析器不认的写法。模型越听话，就越没完没了。
# 2. 怪模型：“它连格式都守不住。”其实毛病出在我们自己的两行代码之间。
#
# </details>
#
# 于是有了第一条规则：**提示词和解析器是一份约定。** 提示词给出什么写法，解析器就必须读得懂，而且要有测试来保证。这个测试，最后由你来运行。

# %% [markdown] lang="en"
# ## How models really write
#
# Suppose prompt and reader agree. Models still write in their own ways: they have read papers, Markdown and chat logs.
# Each of the six forms below is known from stored replies or from bug reports, and each means the same call.
#
# For how many of the six does `strict` get the right call? Give a number.

# %% [markdown] lang="zh"
# ## 模型实际会怎么写
#
# 就算提示词和解析器一致，模型也还有自己的写法：它们读过论文、Markdown 和聊天记录。下面六种写法，在存下来的回复或者别人报告的问题里都出现过，说的都是同一个调用。
#
# 六条里，`strict` 能读对几条？写一个数字。

# %% tags=["predict:reader-strict"]
guess = "?"

# %%
replies = {
    "plain": "Thought: I look it up.\nAction: search[Eiffel Tower]",
    "bold": "**Thought:** I look it up.\n**Action:** search[Eiffel Tower]",
    "Chinese": "思考：先查一下。\n行动：search[Eiffel Tower]",
    "numbered": "Thought 1: I look it up.\nAction 1: search[Eiffel Tower]",
    "JSON": 'Thought: I look it up.\nAction: search({"query": "Eiffel Tower"})',
    "two": "Thought: I look both up.\nAction: search[Eiffel Tower], search[Tokyo Tower]",
}


def is_right(parsed):
    asked = [action.argument for action in parsed.actions[:1] if action.name == "search"]
    return asked in (["Eiffel Tower"], [{"query": "Eiffel Tower"}])


right = 0
for name, reply in replies.items():
    print(f"{name:9} {is_right(strict(reply))}")
    right += is_right(strict(reply))

predict("reader-strict", guess, came=str(right))

# %% [markdown] lang="en"
# Four were not read at all, which at least is noticed. The last one is worse: it was read, and read wrong. We come back
# to it.
#
# ## Exercise 1 · Labels
#
# First cut the reply at its labels. `split_reply` does it, but knows only the plainest kind. Widen the three patterns at
# the top; the rest can stay. These are the labels to be found, each at the start of a line:
#
# ```text
# Action:    ACTION :    **Action:**    **Action**:    ### Action:    Action 2:    行动:    行动：
# ```
#
# What you need of `re`:
#
# - `[ *]` is one character, a blank or a star; `[ *]*` is any number of them, or none.
# - `\d` is a digit. It works inside square brackets too.
# - `[:：]` is either colon. In `Thought|思考`, the bar means *or*.

# %% [markdown] lang="zh"
# 有四条根本没读出来，这至少看得见。最后一条更糟：读出来了，却读错了。后面再来看它。
#
# ## 练习一 · 标签
#
# 先按标签把回复切开。`split_reply` 就做这件事，但只认得最朴素的一种。把开头的三处放宽，其余不用动。要认出这些标签，每个都在行首：
#
# ```text
# Action:    ACTION :    **Action:**    **Action**:    ### Action:    Action 2:    行动:    行动：
# ```
#
# 会用到的 `re` 知识：
#
# - `[ *]` 是一个字符，空格或星号；`[ *]*` 是任意多个，也可以没有。
# - `\d` 是一位数字，在方括号里也能用。
# - `[:：]` 是两种冒号之一。`Thought|思考` 里的竖线表示*或者*。

# %% tags=["exercise:reader-labels"]

# %%
check("reader-labels")

# %% [markdown] lang="en"
# Now change `own_label`: write a label in a way of your own, and look whether it is found.

# %% [markdown] lang="zh"
# 现在改一改 `own_label`：用你自己的方式写一个标签，看看找不找得到。

# %%
split_reply = mine_or_ours("split_reply")

own_label = "**Thought 3:** I look it up.\n### Action : search[Eiffel Tower]"
for part in split_reply(own_label):
    print(part)

# %% [markdown] lang="en"
# ## Break it again: an invented observation
#
# A model continues text. After an action comes an observation, so some models write that, too, and go on from there.
# Below is such a reply. Nothing has been searched yet.
#
# `careless` looks for a final answer first, since that would end the run. What does the person get: a `search`, or an
# answer with the year `1899`?

# %% [markdown] lang="zh"
# ## 再弄坏一次：编造的观察
#
# 模型做的事是续写。行动后面该是观察，于是有的模型把观察也写了，再接着往下编。下面就是这样一个回复。此时什么都还没有搜索。
#
# `careless` 先找最终答案，因为有了它运行就能结束。提问的人会得到什么：一次搜索（`search`），还是一个写着 `1899` 年的答案？

# %% lang="en"
invented = """\
Thought: I look it up.
Action: search[Eiffel Tower]
Observation: The Eiffel Tower was opened in 1899.
Thought: That is the year.
Final Answer: 1899"""

# %% lang="zh"
invented = """\
思考：先查一下。
行动：search[埃菲尔铁塔]
观察：埃菲尔铁塔于 1899 年开放。
思考：就是这一年。
最终答案：1899"""

# %% tags=["predict:reader-believes"]
guess = "?"


# %% tags=["break:reader-invented"]
def careless(parts):
    texts = {part.kind: part.text for part in parts}
    return texts.get("answer") or texts["action"]


came = careless(split_reply(invented))
predict("reader-believes", guess, came=came)

# %% [markdown] lang="en"
# The tower was opened in 1889. No tool said 1899: the model did, to itself.
#
# 1. Which lines of the reply are the model's to write?
# 2. Suppose we run the search, but leave the reply as it is in the conversation. What will the model read next turn?
#
# <details><summary>What we think</summary>
#
# 1. The first two. From the invented observation on, nothing counts.
# 2. Two observations, its own and ours, and nothing tells it which one is real. So the invention must leave the
#    conversation, too.
#
# </details>
#
# ## Exercise 2 · The model's own words
#
# `own_words` gives back the reply up to the first observation. Three lines are enough, now that `split_reply` knows each
# label in each form.

# %% [markdown] lang="zh"
# 铁塔是 1889 年开放的。没有哪个工具说过 1899：是模型自己对自己说的。
#
# 1. 回复里的哪几行该由模型来写？
# 2. 假设我们运行了搜索，但回复原样留在对话里。下一轮模型会读到什么？
#
# <details><summary>我们的看法</summary>
#
# 1. 前两行。从编造的观察开始，后面都不算。
# 2. 两个观察，它自己的和我们的，而且没有什么能告诉它哪个是真的。所以编造的内容也不能留在对话里。
#
# </details>
#
# ## 练习二 · 模型自己的话
#
# `own_words` 返回第一个观察之前的内容。`split_reply` 已经认得各种写法的标签，所以三行就够了。

# %% tags=["exercise:reader-invented"]

# %%
check("reader-invented")

# %%
quiz("reader-ends")

# %% [markdown] lang="en"
# ## Where does a call end?
#
# Back to the reply with two calls. `strict` reads up to a closing bracket. Which one: the `first` or the `last`?

# %% [markdown] lang="zh"
# ## 调用到哪里结束？
#
# 回到有两个调用的那条回复。`strict` 一直读到一个右括号。是哪一个：第一个（`first`）还是最后一个（`last`）？

# %% tags=["predict:reader-greedy"]
guess = "?"

# %%
taken = strict(replies["two"]).actions[0].argument
print(taken)
predict("reader-greedy", guess, came="last" if "Tokyo" in taken else "first")

# %% [markdown] lang="en"
# A star in `re` takes as much as it can get. The first bracket would be no better: think of `look[a [b] c]`. Only
# counting tells which one is meant.
#
# And there may be none. A model that reaches its token limit stops in the middle of a word. Half an action must never
# run.
#
# ## Exercise 3 · One call
#
# `read_call` makes an `Action` of the text behind a label, or `None`. JSON is done. For the rest, find the right
# bracket.

# %% [markdown] lang="zh"
# `re` 里的星号能拿多少拿多少。改成第一个右括号也不行：想想 `look[a [b] c]`。只有数一数，才知道是哪一个。
#
# 也可能一个都没有。模型写到词元上限，会停在半个词上。半个行动绝不能运行。
#
# ## 练习三 · 一个调用
#
# `read_call` 把标签后面的文字变成一个 `Action`，不行就是 `None`。JSON 已经写好。其余的，由你找到那个对的括号。

# %% tags=["exercise:reader-call"]

# %%
check("reader-call")

# %%
quiz("reader-half")

# %% [markdown] lang="en"
# ## Exercise 4 · The reader
#
# Now join the pieces. `parse_reply` goes through the parts in their order and gives back one of three things: an action
# to run, an answer, or an error. Never nothing, and never an exception: like your registry, it tells the model what it
# can mend.
#
# One thing is new: the paper has no label for an answer. There, a model answers with an action, `Finish[42]`.

# %% [markdown] lang="zh"
# ## 练习四 · 解析器
#
# 现在把几块合起来。`parse_reply` 按顺序看各个部分，给出三样东西之一：要运行的行动、答案，或者错误。不会什么都没有，也不会抛出异常：和你的注册表一样，模型能改的，就告诉模型。
#
# 有一点是新的：论文里没有给答案用的标签，模型用一个行动来作答：`Finish[42]`。

# %% tags=["exercise:reader-parse"]

# %%
check("reader-parse")

# %% [markdown] lang="en"
# ## Make it: the test that was missing
#
# First the six replies, with your reader, and a seventh. Change the seventh: write the call in a way of your own.

# %% [markdown] lang="zh"
# ## 做出来：当初缺的那个测试
#
# 先用你的解析器读那六条回复，再加上第七条。改一改第七条：用你自己的方式写这个调用。

# %%
parse_reply = mine_or_ours("parse_reply")

replies["own"] = "**Action 1** : `search(Eiffel Tower)`"
for name, reply in replies.items():
    print(f"{name:9} {is_right(parse_reply(reply))}")

# %% [markdown] lang="en"
# Now the contract. `FORMAT` holds every form that the library's prompts show: two notations in two languages, each with a
# turn that acts and a turn that answers. Your reader must read all eight. If one of them ever fails, either side has been
# changed without the other.

# %% [markdown] lang="zh"
# 再来看约定。库里的提示词会给出的写法都在 `FORMAT` 里：两种记法，两种语言，每种都有一个行动的回合和一个作答的回合。你的解析器必须八个都读得懂。哪天有一个读不出来，就是有人只改了一边。

# %%
for notation, shown in FORMAT.items():
    acting, *_, answering = shown.split("\n\n")
    print(*notation, parse_reply(acting).actions, parse_reply(answering).answer)

# %% [markdown] lang="en"
# And the agent from the beginning, with the same prompt, your reader, and a model that is free to write:

# %% [markdown] lang="zh"
# 还有开头的那个智能体：提示词不变，解析器换成你的，模型不再照脚本：

# %%
agent = ReadingAgent(parse_reply, load_model(), standard_tools())
trace = agent.run(question)
replay(trace, lang=language)

# %% [markdown] lang="en"
# ## Say it in a sentence
#
# A colleague wants to make the prompt nicer and asks why you frown. What do you say?

# %% [markdown] lang="zh"
# ## 用一句话说清楚
#
# 同事想把提示词改得更好看，问你为什么皱眉头。你怎么说？

# %% tags=["explain:reader-why-contract"]
explain("reader-why-contract", "")

# %% [markdown] lang="en"
# ## Your code beside the library's
#
# The library's `parse_reply` keeps the same contract as yours; the check was the same. It goes through labels in order,
# like yours. Find two things that it reads and yours doesn't.

# %% [markdown] lang="zh"
# ## 你的代码和库里的代码
#
# 库里的 `parse_reply` 和你的遵守同一份约定，用的是同一个检查。它也按顺序看标签。找出它读得懂、而你的读不懂的两样东西。

# %%
from react_lab.text_react import parse_reply as library_parse_reply

show(library_parse_reply)

# %% [markdown] lang="en"
# <details><summary>Some of them</summary>
#
# Reasoning between `<think>` marks, which is taken out first. A batch: `_read_action` gives back several actions. A
# call without any label, or as a block of JSON. And labels inside JSON mean nothing to it: a tool may be given a text
# with the word Observation at the start of a line.
#
# </details>
#
# ## What you have built
#
# - **split_reply** finds labels however they are dressed, at the start of a line only.
# - **own_words** ends a reply at its first observation, so that an invention neither counts nor comes back.
# - **read_call** counts brackets, and gives back nothing rather than half an action.
# - **parse_reply** is the **reader**: an action, an answer, or an error that goes into a **reminder**.
# - Prompt and reader are one contract, and a test holds them together.
#
# Next: the loop, which joins model, reader and registry.

# %% [markdown] lang="zh"
# <details><summary>其中几样</summary>
#
# `<think>` 标记之间的推理，会先被取出来。一次几个行动：`_read_action` 返回的是一组。没有标签的调用，或者写成一块 JSON 的调用。还有，JSON 里面的标签对它不算数：给工具的文字里，某一行可以用 Observation 开头。
#
# </details>
#
# ## 你做出了什么
#
# - **split_reply** 不管标签怎么打扮都找得到，而且只认行首的。
# - **own_words** 在第一个观察处结束回复，编造的内容既不算数，也回不来。
# - **read_call** 数括号，宁可什么都不给，也不给半个行动。
# - **parse_reply** 就是**解析器**：给出行动、答案，或者一个会写进**提醒**的错误。
# - 提示词和解析器是一份约定，由一个测试把它们系在一起。
#
# 下一课：循环。它把模型、解析器和注册表连起来。

# %% [markdown] lang="en"
# ## Bonus: a real model
#
# With a key in `.env`, a real model writes, and your reader reads. Without one, this cell says so and does nothing.

# %% [markdown] lang="zh"
# ## 加餐：真实的模型
#
# `.env` 里有密钥时，真实的模型来写，你的解析器来读。没有密钥时，这一格会说明，然后什么也不做。

# %% tags=["live"]
model = load_model()
if model.name == "offline":
    print("no key: skipped · 没有密钥，跳过")
else:
    live = ReadingAgent(parse_reply, model, standard_tools()).run(question)
    for step in live.steps:
        print(step.text, end="\n\n")
