# %% [markdown] lang="en"
# # 01 · Tool: something a model can call
#
# **Thirty minutes. No key, no network.** You need lesson 00, and Python with classes and functions.
#
# At the end, an agent works with a calculator that you built, and this is what you will see:
#
# ```text
# Thought: This has to be calculated: (23 + 45) * 2.
# Action: calculator({"expression": "(23 + 45) * 2"})
# Observation: 136
# Final Answer: 136
# ```
#
# You build four things: a base class for tools, a description that writes itself, arithmetic that nothing can sneak
# through, and an error that helps.

# %% [markdown] lang="zh"
# # 01 · 工具：模型能调用的东西
#
# **三十分钟。不需要密钥，不需要网络。** 你需要上过第 00 课，会用 Python 的类和函数。
#
# 这一课结束时，智能体会用上你亲手做的计算器，你会看到：
#
# ```text
# 思考：这需要计算：(23 + 45) * 2。
# 行动：calculator({"expression": "(23 + 45) * 2"})
# 观察：136
# 最终答案：136
# ```
#
# 你要做四样东西：工具的基类、会自己写出来的说明、谁也混不过去的计算，还有一条帮得上忙的错误信息。

# %% lang="en"
# What the checks and the player speak: "en" or "zh".
language = "en"

# %% lang="zh"
# 检查和播放器用的语言："en" 或 "zh"。
language = "zh"

# %%
import json

from react_lab import TextReActAgent, Tool, ToolRegistry, load_model, replay, tool
from react_lab.course import check, explain, hint, mine_or_ours, predict, progress, quiz, show, solution

progress()

# %% [markdown] lang="en"
# ## Do you remember?
#
# Two questions about lesson 00. Answer before you look anything up: trying to remember is what makes it stay.

# %% [markdown] lang="zh"
# ## 还记得吗？
#
# 两个关于第 00 课的问题。先别翻回去看：努力回想，才记得住。

# %%
quiz("start-reads")

# %%
quiz("start-changed")

# %% [markdown] lang="en"
# ## A tool has two sides
#
# One side faces the model: a **name**, a **description** and its **parameters**. The other side faces your computer:
# `execute`, which does the work. Here is a finished tool.

# %% [markdown] lang="zh"
# ## 工具有两面
#
# 一面朝着模型：**名字**、**说明**和**参数**。另一面朝着你的电脑：`execute`，活儿由它来干。下面是一个做好的工具。

# %% lang="en"
about_multiply = "Multiply two numbers. For products only: it can't add."

# %% lang="zh"
about_multiply = "把两个数相乘。只做乘法，不会加法。"


# %%
class Multiply(Tool):
    name = "multiply"
    description = about_multiply
    parameters = {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    }

    def execute(self, a, b):
        return str(a * b)


multiply = Multiply()

# %% [markdown] lang="en"
# Four things stand in that class: `name`, `description`, `parameters` and `execute`. One of them the model never gets
# to read. Which one?

# %% [markdown] lang="zh"
# 这个类里有四样东西：`name`、`description`、`parameters` 和 `execute`。其中一样，模型永远读不到。是哪一样？

# %% tags=["predict:tool-hidden"]
guess = "?"

# %%
told = multiply.to_anthropic_schema()
print(json.dumps(told, indent=2, ensure_ascii=False))

parts = {part: getattr(multiply, part) for part in ("name", "description", "parameters", "execute")}
hidden = [part for part, value in parts.items() if value not in told.values()]
predict("tool-hidden", guess, came=hidden[0])

# %% [markdown] lang="en" tags=["new:schema"]
# What you see is all that a model will ever know of this tool. The part under `input_schema` is a **schema**: a
# description of data, in a form called JSON Schema. It says that a call needs two numbers, `a` and `b`.
#
# Look at it again:
#
# 1. Why does the description say what the tool *can't* do?
# 2. Why does `execute` give back a text, and not the number?
#
# <details><summary>What we think</summary>
#
# 1. The model chooses by these words alone. A limit that isn't written down is found by failing.
# 2. The result goes back into the conversation, and a conversation is text.
#
# </details>

# %% [markdown] lang="zh" tags=["new:schema"]
# 你看到的，就是模型对这个工具所能知道的一切。`input_schema` 下面的部分是一份 **schema**：用 JSON Schema 这种格式写成的数据说明。它说：一次调用需要两个数，`a` 和 `b`。
#
# 再看一遍：
#
# 1. 说明里为什么要写这个工具*不会*什么？
# 2. `execute` 为什么返回文字，而不是数？
#
# <details><summary>我们的看法</summary>
#
# 1. 模型只凭这几个字来挑选工具。没写出来的限制，要靠出错才能发现。
# 2. 结果要放回对话里，而对话是文字。
#
# </details>

# %% [markdown] lang="en"
# ## Exercise 1 · The base class
#
# `Multiply` got `to_anthropic_schema` from its base class. Now write that base class yourself. One method is missing;
# the rest is there. Replace the `...`, run the cell, and check it.
#
# `hint()` gives a hint, in three stages. After a try, `solution("tool-class")` shows an answer.

# %% [markdown] lang="zh"
# ## 练习一 · 基类
#
# `Multiply` 的 `to_anthropic_schema` 来自它的基类。现在这个基类由你来写。只差一个方法，其余都在。把 `...` 换掉，运行，然后检查。
#
# `hint()` 会给提示，分三步。试过之后，`solution("tool-class")` 会给出一种答案。

# %% tags=["exercise:tool-class"]

# %%
check("tool-class")

# %% [markdown] lang="en"
# From here on we use your class if it passed, and the library's if it didn't: you can always go on. The next cell makes
# that choice. It will come back in each lesson.

# %% [markdown] lang="zh"
# 从这里开始：你的类通过了就用你的，没通过就用库里的。所以你随时可以往下走。下面这一格就在做这个选择，以后每一课都会见到它。

# %%
Tool = mine_or_ours("Tool")

# %% [markdown] lang="en"
# ## A description that writes itself
#
# In `Multiply` the parameters stand twice: in the schema and in `execute`. Change one, forget the other, and the model is
# told something untrue. But a typed function already says it all:

# %% [markdown] lang="zh"
# ## 会自己写出来的说明
#
# 在 `Multiply` 里，参数写了两遍：schema 里一遍，`execute` 里一遍。改了一处、忘了另一处，模型得到的就是假话。其实一个带类型的函数，已经把该说的都说了：


# %%
@tool
def forecast(city: str, days: int = 1) -> str:
    """Tell the weather of the coming days.

    Args:
        city: Name of the city
    """
    return f"{city}: {days} x sun"


# %% [markdown] lang="en"
# `@tool` makes a tool of it. Which word will the schema use for the type of `days`?

# %% [markdown] lang="zh"
# `@tool` 把它变成一个工具。schema 会用哪个词来表示 `days` 的类型？

# %% tags=["predict:tool-type"]
guess = "?"

# %%
print(json.dumps(forecast.parameters, indent=2))

predict("tool-type", guess, came=forecast.parameters["properties"]["days"]["type"])

# %% [markdown] lang="en"
# JSON knows no `int`, so the schema has words of its own. Where did each line come from: the type, the docstring or the
# default?
#
# ## Exercise 2 · From function to schema
#
# The function below runs, but it says the same of each parameter. Steps 1 and 3 need you.

# %% [markdown] lang="zh"
# JSON 里没有 `int`，所以 schema 有自己的词。每一行各从哪里来：类型、文档字符串，还是默认值？
#
# ## 练习二 · 从函数到 schema
#
# 下面的函数能运行，但它对每个参数说的都一样。第 1 步和第 3 步要你来改。

# %% tags=["exercise:tool-schema"]

# %%
check("tool-schema")

# %% [markdown] lang="en"
# Now change something: add a parameter to `trip`, or give one a default, and run the cell again. Say what will change
# before you look.

# %% [markdown] lang="zh"
# 现在改一改：给 `trip` 加一个参数，或者给某个参数一个默认值，再运行一遍。看结果之前，先说出哪里会变。

# %%
parameters_schema = mine_or_ours("parameters_schema")


def trip(start: str, end: str, by_night: bool = False) -> str:
    return f"{start} - {end}"


print(json.dumps(parameters_schema(trip, {"start": "A city"}), indent=2))

# %%
quiz("tool-required")

# %% [markdown] lang="en"
# ## Break it: a calculator on `eval`
#
# Models are bad at sums, so they get a calculator. The shortest one needs a single line: Python's own `eval` works out
# any expression.

# %% [markdown] lang="zh"
# ## 弄坏它：用 `eval` 做的计算器
#
# 模型不擅长算数，所以要给它一个计算器。最短的写法只要一行：Python 自带的 `eval` 什么式子都能算。


# %%
def careless(expression):
    return str(eval(expression))


print(careless("(23 + 45) * 2"))

# %% [markdown] lang="en"
# The *model* writes the expression, and a model writes what it has read, even on a web page that somebody prepared. What
# happens with the next one: `runs` or `refused`?

# %% [markdown] lang="zh"
# 式子是*模型*写的，而模型会写出它读到过的东西，哪怕来自别人有意布置的网页。下面这一个会怎样：运行（`runs`）还是被拒绝（`refused`）？

# %% tags=["predict:tool-eval"]
guess = "?"

# %% tags=["break:tool-eval"]
try:
    print(careless('__import__("os").getcwd()'))
    came = "runs"
except Exception as error:
    print(error)
    came = "refused"

predict("tool-eval", guess, came=came)

# %% [markdown] lang="en" tags=["new:allow-list"]
# It ran: that is a folder of your computer. The same line could have deleted it.
#
# Forbidding words doesn't help. Forbid `import`, and someone writes `"im" + "port"`. The other way round works: an
# **allow-list** names what may run, and whatever is not on it does not run. Nobody has to think of every attack.
#
# ## Exercise 3 · A calculator with an allow-list
#
# `ast.parse` turns a text into a tree, without running it. In the tree of `1 + 2 * 3` there is a node `BinOp` for the
# `+`, with `1` on its left and another `BinOp` on its right. `value_of` works a tree out, node by node.

# %% [markdown] lang="zh" tags=["new:allow-list"]
# 它运行了：这是你电脑上的一个文件夹。同样的一行，也可以把它删掉。
#
# 禁用某些词没有用。禁了 `import`，别人就写 `"im" + "port"`。反过来才行：**白名单**列出什么可以运行，名单之外的一律不运行。谁也不必把所有攻击都想到。
#
# ## 练习三 · 带白名单的计算器
#
# `ast.parse` 把文字变成一棵语法树，但不运行它。在 `1 + 2 * 3` 的树里，有一个表示 `+` 的节点 `BinOp`，左边是 `1`，右边是另一个 `BinOp`。`value_of` 逐个节点地把一棵树算出来。

# %% tags=["exercise:tool-calculate"]

# %%
check("tool-calculate")

# %%
quiz("tool-allow")

# %% [markdown] lang="en"
# ## Make it: your calculator in an agent
#
# All your parts come together: your class, your schema, your arithmetic. (The registry, which holds the tools, is the
# library's. You build your own in the next lesson.)

# %% [markdown] lang="zh"
# ## 做出来：把你的计算器交给智能体
#
# 你的几个部分合到一起：你的类、你的 schema、你的计算。（装工具的注册表是库里的，下一课你来写自己的。）

# %% lang="en"
about_calculator = "Work out an arithmetic expression such as (23 + 45) * 2. For every calculation."
about_expression = "Numbers, + - * / and parentheses."
question = "What is (23 + 45) * 2?"

# %% lang="zh"
about_calculator = "计算一个算式，如 (23 + 45) * 2。凡是计算都用它。"
about_expression = "数、+ - * / 和括号。"
question = "(23 + 45) * 2 等于多少？"

# %%
calculate = mine_or_ours("calculate")


def work_out(expression: str) -> str:
    return str(calculate(expression))


class Calculator(Tool):
    name = "calculator"
    description = about_calculator
    parameters = parameters_schema(work_out, {"expression": about_expression})

    def execute(self, expression):
        return work_out(expression)


agent = TextReActAgent(load_model(), ToolRegistry([Calculator()]))
trace = agent.run(question)
replay(trace, lang=language)

# %% [markdown] lang="en"
# Open **Prompt as sent** in step 1, and find the words that you wrote.
#
# ## Break it again: a tool that raises
#
# What if a sum has no result? Dividing by zero makes Python raise an exception. Does the run stop with it, or go on:
# `stops` or `goes on`?

# %% [markdown] lang="zh"
# 展开第 1 步里的**实际发送的提示词**，找出你写的那几句话。
#
# ## 再弄坏一次：会抛出异常的工具
#
# 要是算式没有结果呢？除以零会让 Python 抛出异常。运行会因此停下（`stops`），还是继续（`goes on`）？

# %% tags=["predict:tool-raises"]
guess = "?"

# %% lang="en"
impossible = "What is 17 / 0?"

# %% lang="zh"
impossible = "17 / 0 等于多少？"

# %% tags=["break:tool-raises"]
try:
    trace = agent.run(impossible)
    came = "goes on"
except ZeroDivisionError:
    came = "stops"

print(trace.steps[0].results[0].content)
print(trace.answer)
predict("tool-raises", guess, came=came)

# %% [markdown] lang="en"
# The registry caught the exception and gave its text to the model as the observation. So a tool may simply raise. But
# then the text of the exception is all that the model has to go by, and a good text is the difference between a second
# try and a dead end.
#
# ## Exercise 4 · An error that helps
#
# This tool's function raises a `KeyError` for a mountain it doesn't know, and the model reads `KeyError: 'Olympus'`. Make
# it a `ToolError` from which the model can learn what to do next.

# %% [markdown] lang="zh"
# 注册表接住了异常，把它的文字作为观察结果交给了模型。所以工具大可直接抛出异常。不过这样一来，模型能依靠的就只有异常的文字了。文字写得好不好，决定了是再试一次还是走进死路。
#
# ## 练习四 · 帮得上忙的错误
#
# 遇到不认识的山，这个函数抛出 `KeyError`，模型读到的是 `KeyError: 'Olympus'`。把它改成 `ToolError`，让模型读了就知道下一步该怎么做。

# %% tags=["exercise:tool-error"]

# %%
check("tool-error")

# %% [markdown] lang="en"
# And this is what a model reads. Run it with the old function and with yours:

# %% [markdown] lang="zh"
# 模型读到的就是下面这一句。用原来的函数和你写的函数各运行一次，比一比：

# %% lang="en"
about_height = "Tell the height of a mountain in metres. It knows the three highest only."

# %% lang="zh"
about_height = "查一座山的高度，单位是米。只知道最高的三座。"


# %%
class Height(Tool):
    name = "height"
    description = about_height
    parameters = {"type": "object", "properties": {"mountain": {"type": "string"}}, "required": ["mountain"]}

    def execute(self, mountain):
        return str(height(mountain))


print(ToolRegistry([Height()]).execute("height", {"mountain": "Olympus"}))

# %% [markdown] lang="en"
# ## Say it in a sentence
#
# A colleague asks what a tool's schema is good for. Write your answer between the quotes. It is kept, and then you see
# ours.

# %% [markdown] lang="zh"
# ## 用一句话说清楚
#
# 同事问：工具的 schema 有什么用？把你的回答写在引号之间。它会保存下来，然后你会看到我们的说法。

# %% tags=["explain:tool-why-schema"]
explain("tool-why-schema", "")

# %% [markdown] lang="en"
# ## Your code beside the library's
#
# This is the library's `value_of`, live from the files that you installed. It has the same shape as yours, with more on
# its lists. Find two things that it checks and yours doesn't.

# %% [markdown] lang="zh"
# ## 你的代码和库里的代码
#
# 下面是库里的 `value_of`，直接取自你安装的文件。它和你写的形状一样，只是名单更长。找出它检查了、而你没有检查的两样东西。

# %%
from react_lab.tools.calculator import value_of as library_value_of

show(library_value_of)

# %% [markdown] lang="en"
# <details><summary>Two of them</summary>
#
# The size of results (`checked`): without it, `9**9**9` would keep your computer busy for ever. And functions: `sqrt` is
# called only if it stands in `FUNCTIONS`, an allow-list again.
#
# </details>
#
# ## What you have built
#
# - A tool shows the model a **name**, a **description** and a **schema**, and keeps `execute` to itself.
# - A schema can come from a typed function, so that what is said and what runs are never two things.
# - An **allow-list** fails on the safe side. `eval` doesn't.
# - An error is read by the model. Say what came and what would work.
#
# Next: the registry, which looks a tool up, checks its arguments and runs it.

# %% [markdown] lang="zh"
# <details><summary>其中两样</summary>
#
# 结果的大小（`checked`）：没有它，`9**9**9` 会让你的电脑一直算下去。还有函数：`sqrt` 在 `FUNCTIONS` 里才会被调用，这又是一份白名单。
#
# </details>
#
# ## 你做出了什么
#
# - 工具给模型看的是**名字**、**说明**和 **schema**，`execute` 留给自己。
# - schema 可以由带类型的函数生成，这样说的和做的永远是一回事。
# - **白名单**出错也错在安全的一边。`eval` 不是。
# - 错误是给模型读的。写清收到了什么、怎样才行。
#
# 下一课：注册表。它查找工具、检查参数、运行工具。

# %% [markdown] lang="en"
# ## Bonus: a real model
#
# With a key in `.env`, the same agent runs on a real model. Without one, this cell says so and does nothing.

# %% [markdown] lang="zh"
# ## 加餐：真实的模型
#
# `.env` 里有密钥时，同一个智能体会由真实模型来驱动。没有密钥时，这一格会说明，然后什么也不做。

# %% tags=["live"]
model = load_model()
if model.name == "offline":
    print("no key: skipped · 没有密钥，跳过")
else:
    print(TextReActAgent(model, ToolRegistry([Calculator()]), max_steps=4).run(question).answer)
