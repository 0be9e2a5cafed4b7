# %% [markdown] lang="en"
# # 00 · Start: watch an agent think
#
# **Ten minutes. No key, no network, nothing to install.**
#
# At the end you will have
#
# - watched an agent answer a question, one step at a time,
# - stepped back and forth through what it did,
# - changed one thing that it saw, and seen its answer change,
# - written the result down as a note.
#
# Run a cell with **Shift + Enter**, from top to bottom. Wherever you see a `"?"`, put your guess there first. A wrong
# guess costs nothing, and people who guess first remember more.

# %% [markdown] lang="zh"
# # 00 · 开始：看智能体思考
#
# **十分钟。不需要密钥，不需要网络，什么都不用安装。**
#
# 这一课结束时，你已经
#
# - 一步一步地看着智能体回答了一个问题，
# - 在它走过的步骤之间来回翻看过，
# - 改动过它看到的一样东西，并看到答案随之改变，
# - 把结果写成了一篇笔记。
#
# 从上到下，用 **Shift + Enter** 逐格运行。看到 `"?"` 时，先把你的猜测填进去再运行。猜错没有任何损失，而先猜再看的人记得更牢。

# %% [markdown] lang="en" tags=["new:agent"]
# ## Meet the agent
#
# A language model by itself can only write text. It can't look anything up, and it is bad at sums. An **agent** is a
# model that may also use **tools**, in a loop:
#
# > **Thought** (what do I need?) → **Action** (use a tool) → **Observation** (what came back) → next thought …
#
# until it can answer. That is *ReAct*: reasoning and acting.

# %% [markdown] lang="zh" tags=["new:agent"]
# ## 认识智能体
#
# 语言模型本身只会写文字：它查不了资料，也不擅长算数。**智能体**（agent）是一个还能使用**工具**的模型，它这样循环：
#
# > **思考**（我需要什么？）→ **行动**（使用一个工具）→ **观察**（得到了什么）→ 下一轮思考……
#
# 直到能够回答为止。这就是 *ReAct*：推理（reasoning）加行动（acting）。

# %% lang="en"
# What the checks and the player speak: "en" or "zh".
language = "en"

# %% lang="zh"
# 检查和播放器用的语言："en" 或 "zh"。
language = "zh"

# %%
from react_lab import TextReActAgent, load_model, replay
from react_lab.course import predict, progress
from react_lab.tools.standard import standard_tools

progress()

agent = TextReActAgent(load_model(), standard_tools())

print(agent.model.name)
print(agent.registry.describe())

# %% [markdown] lang="en"
# The first line names the model. Without a key it is `offline`, a **stand-in**: a set of rules that behaves
# like a small model. It is no language model, and when its rules don't reach, it says so. With a key in a file
# named `.env`, the same cells run on a real model.
#
# Below stand the agent's three tools, in the very words that the model gets to read.

# %% [markdown] lang="zh"
# 第一行是模型的名字。没有密钥时是 `offline`，一个**离线替身**：一套规则，表现得像一个小模型。它不是语言模型，规则管不到的地方它会直说。如果把密钥写进名为 `.env` 的文件，同样的单元格就会由真实模型来运行。
#
# 下面是智能体的三个工具，模型读到的就是这些文字，一字不差。

# %% [markdown] lang="en"
# ## Predict, then take one step
#
# Here is a question that no single tool can answer.

# %% [markdown] lang="zh"
# ## 先预测，再走一步
#
# 下面这个问题，没有哪一个工具能单独回答。

# %% lang="en"
question = "How old were the winners of the 2024 Nobel Prize in Physics together at the end of 2024?"

# %% lang="zh"
question = "2024 年诺贝尔物理学奖得主在 2024 年底一共多少岁？"

# %% [markdown] lang="en"
# Which tool will the agent use first: `calculator`, `search` or `weather`?

# %% [markdown] lang="zh"
# 智能体会先用哪个工具：`calculator`、`search` 还是 `weather`？

# %% tags=["predict:start-first-tool"]
guess = "?"

# %%
trace = agent.start(question)
steps = agent.steps(trace)  # a generator: nothing has happened yet

first = next(steps)
print(first.text, end="\n\n")
predict("start-first-tool", guess, came=tuple(call.name for call in first.calls) or "-")

# %% [markdown] lang="en"
# What you see above is exactly what the model wrote: a thought, then an action. Below it stands your guess, beside the
# tool that was used.
#
# Now the tool has run. This came back, and the model will read it next:

# %% [markdown] lang="zh"
# 上面就是模型写下的原文：先是思考，再是行动。下面是你的猜测，旁边是实际使用的工具。
#
# 现在工具已经运行完毕。下面是它返回的内容，也是模型接下来要读的：

# %%
print(first.results[0].content)

# %% [markdown] lang="en"
# What will it do with this? Guess the arithmetic (something like `1 + 2`), then let it run to the end.

# %% [markdown] lang="zh"
# 它会拿这些内容做什么？猜猜它要算的式子（类似 `1 + 2` 这样），然后让它一直运行到结束。

# %% tags=["predict:start-arithmetic"]
guess = "?"

# %%
for step in steps:
    print(step.text, end="\n\n")

sums = [call.arguments.get("expression") for step in trace.steps for call in step.calls if call.name == "calculator"]
predict("start-arithmetic", guess, came=tuple(sums) or "-")
print(trace.answer)

# %% [markdown] lang="en" tags=["new:trace"]
# ## Step through it
#
# Every run leaves a **trace**: everything that was sent, written and returned. The player below steps through it, and
# steps back. Use the buttons, or click on it and use the arrow keys.
#
# Look for three things:
#
# 1. In which step did the agent learn the two years of birth?
# 2. Open **Prompt as sent** in step 2. What is new there since step 1?
# 3. Compare the thought of step 2 with its action. Which one did the tool get to see?

# %% [markdown] lang="zh" tags=["new:trace"]
# ## 逐步回放
#
# 每次运行都会留下一份**轨迹**（trace）：发送过、写下过、返回过的一切。下面的播放器可以一步步往前走，也可以往回退。用按钮，或者点一下播放器再用方向键。
#
# 找出三样东西：
#
# 1. 智能体在第几步得知了两个人的出生年份？
# 2. 展开第 2 步里的**实际发送的提示词**。和第 1 步相比，多了什么？
# 3. 比较第 2 步的思考和行动。工具看得到其中的哪一个？

# %%
replay(trace, lang=language)

# %% [markdown] lang="en"
# <details><summary>What there is to find</summary>
#
# 1. In step 1, from the observation. The model did not know them.
# 2. Its own reply of step 1, and the observation. A model remembers nothing between turns: the whole conversation is
#    sent again each time, a little longer.
# 3. The action only. A tool gets its arguments and nothing else.
#
# </details>

# %% [markdown] lang="zh"
# <details><summary>答案</summary>
#
# 1. 第 1 步，从观察结果里得知。模型本身并不知道。
# 2. 多了它自己在第 1 步的回复，以及观察结果。模型在两轮之间什么都不记得：每一轮都要把整段对话重新发送一遍，一次比一次长。
# 3. 只看得到行动。工具得到的只有参数，别的什么都没有。
#
# </details>

# %% [markdown] lang="en"
# ## Change what it saw
#
# Does the agent *know* how old the winners were, or does it believe what the tool says? Let us find out. We take the
# same run, make one of them ten years younger in the observation, and let the agent go on from there.
#
# What will it answer now?

# %% [markdown] lang="zh"
# ## 改动它看到的内容
#
# 智能体是*知道*得主的年龄，还是工具说什么它就信什么？来试一试。取同一次运行，在观察结果里让其中一位年轻十岁，再让智能体从那里继续。
#
# 现在它会回答什么？

# %% tags=["predict:start-changed-answer"]
guess = "?"

# %%
observation = first.results[0].content.replace("1947", "1957")

changed = trace.fork(1, observation=observation)
agent.resume(changed)

predict("start-changed-answer", guess, came=changed.answer)

# %%
replay(changed, lang=language)

# %% [markdown] lang="en"
# The answer followed the observation. Nothing that was recorded ran again: the fork took the first step from the trace
# and asked the model only for what came after it.
#
# This cuts both ways. An agent is as good as what its tools tell it; a wrong observation makes a wrong answer that looks
# just as sure. That is why a run keeps its sources, and why you will learn to read traces.

# %% [markdown] lang="zh"
# 答案跟着观察结果走了。已经记录的内容没有重新运行：分支从轨迹里取用第一步，只就后面的部分去问模型。
#
# 这是一把双刃剑。工具告诉智能体什么，它就好到什么程度；错误的观察会得出错误的答案，而且看上去同样肯定。所以每次运行都保留来源，所以你要学会读轨迹。

# %% [markdown] lang="en"
# ## Write the note
#
# A finished run can be published. Here it becomes a Markdown file with the answer, what was found, the sources and every
# step; later you will send the same note to Notion. Run the cell twice: the second time nothing changes.

# %% [markdown] lang="zh"
# ## 写成笔记
#
# 运行结束后可以发布。这里把它写成一个 Markdown 文件，里面有答案、查到的内容、来源和每一步；以后你会把同样的笔记发到 Notion。把这一格运行两遍：第二遍什么都不会变。

# %%
from pathlib import Path

from IPython.display import Markdown

from react_lab_exporters.markdown import MarkdownExporter

(note,) = MarkdownExporter().publish([trace], to="notes")
print(note.action, note.target)

Markdown(Path(note.target).read_text(encoding="utf-8").split("---", 2)[2])

# %% [markdown] lang="en"
# ## What you have seen
#
# - An agent is a **model**, some **tools** and a **loop**: thought, action, observation, until there is an answer.
# - The model sees only text: the prompt with the tools' descriptions, and the conversation so far.
# - A **trace** records it all. You can step through it, change it and run on from the change.
#
# In the lessons that follow you build all of it yourself, one part at a time.
#
# Before you go, ask it something of your own. It knows Nobel Prizes, countries, elements, planets, mountains, rivers,
# programming languages and papers on agents; it can calculate; and its weather is made up.

# %% [markdown] lang="zh"
# ## 你看到了什么
#
# - 智能体就是一个**模型**、几个**工具**加一个**循环**：思考、行动、观察，直到得出答案。
# - 模型看到的只有文字：带有工具说明的提示词，以及到目前为止的对话。
# - **轨迹**记录了一切。可以逐步回放，可以改动，并从改动处继续运行。
#
# 在后面的课里，你会自己动手把这一切搭建出来，一次一个部分。
#
# 走之前，问一个你自己的问题吧。它能查诺贝尔奖、国家、化学元素、行星、山脉、河流、编程语言和有关智能体的论文；会计算；而它的天气数据是编的示例。

# %% lang="en"
my_question = "Which is higher, K2 or Kangchenjunga, and by how many metres?"

# %% lang="zh"
my_question = "珠穆朗玛峰和乔戈里峰哪个更高，高多少米？"

# %%
mine = agent.run(my_question)
print(mine.answer)
replay(mine, lang=language)
