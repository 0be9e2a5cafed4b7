# %% [markdown] lang="en"
# # 02 · Registry: find it, check it, run it
#
# **Twenty-five minutes. No key, no network.** You need lesson 01.
#
# At the end, an agent survives its own mistakes, because your registry tells it what was wrong:
#
# ```text
# Action: dubble({"number": 21})
# Error: unknown tool 'dubble'; the tools are: double, temperature
#
# Action: double({"number": "21"})
# Error: number: '21' is not of type 'integer'
#
# Action: double({"number": 21})
# 42
# ```
#
# You build three things: a shelf that never loses a tool, a check of arguments, and the one place where calls are run.

# %% [markdown] lang="zh"
# # 02 · 注册表：查找、检查、运行
#
# **二十五分钟。不需要密钥，不需要网络。** 你需要上过第 01 课。
#
# 这一课结束时，智能体犯了错也能走下去，因为你的注册表会告诉它错在哪里：
#
# ```text
# 行动：dubble({"number": 21})
# Error: unknown tool 'dubble'; the tools are: double, temperature
#
# 行动：double({"number": "21"})
# Error: number: '21' is not of type 'integer'
#
# 行动：double({"number": 21})
# 42
# ```
#
# 你要做三样东西：一个不会弄丢工具的架子，一个参数检查，还有运行调用的唯一入口。

# %% lang="en"
language = "en"

# %% lang="zh"
language = "zh"

# %%
from react_lab import ScriptedModel, TextReActAgent, ToolCall, load_model, replay
from react_lab.course import check, explain, hint, mine_or_ours, predict, progress, quiz, show, solution

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
quiz("start-remembers")

# %%
quiz("tool-told")

# %% [markdown] lang="en" tags=["new:registry"]
# ## A shelf of tools
#
# A model can't run a tool. It writes a name and some arguments; we call that a *tool call*. Something has to find the
# tool of that name and run it. That something is the **registry**.
#
# At heart it is a dict: from the name to the tool. Here are two tools for it, from two colleagues who have never met.
# (`Tool` is yours, if you finished lesson 01.)

# %% [markdown] lang="zh" tags=["new:registry"]
# ## 放工具的架子
#
# 模型自己运行不了工具。它写出一个名字和几个参数，这叫一次*工具调用*。得有什么来找到叫这个名字的工具，并运行它。这就是**注册表**。
#
# 它的核心是一个字典：从名字到工具。下面是要放进去的两个工具，出自两位从没见过面的同事。（第 01 课做完了的话，`Tool` 用的就是你写的。）

# %% lang="en"
about_temperature = "Tell the temperature in a city, now."

# %% lang="zh"
about_temperature = "查询某个城市现在的气温。"

# %%
Tool = mine_or_ours("Tool")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Celsius(Tool):
    name = "temperature"
    description = about_temperature
    parameters = CITY

    def execute(self, city):
        return "25"


class Fahrenheit(Tool):
    name = "temperature"
    description = about_temperature
    parameters = CITY

    def execute(self, city):
        return "77"


# %% [markdown] lang="en"
# ## Break it: two tools with one name
#
# Both go into the dict. How many tools are in it afterwards: `1`, `2`, or does Python raise an `error`?

# %% [markdown] lang="zh"
# ## 弄坏它：两个工具，一个名字
#
# 两个都放进字典。之后里面有几个工具：`1` 个、`2` 个，还是 Python 会报错（`error`）？

# %% tags=["predict:registry-twice"]
guess = "?"

# %% tags=["break:registry-twice"]
tools = {}
for new in (Celsius(), Fahrenheit()):
    tools[new.name] = new

print(tools["temperature"].execute(city="Lisbon"))
predict("registry-twice", guess, came=str(len(tools)))

# %% [markdown] lang="en"
# 1. Whose `temperature` was that?
# 2. When would somebody notice?
# 3. Who made the mistake, the model or a programmer?
#
# <details><summary>What we think</summary>
#
# 1. The second one's. The first is gone, and nothing was said.
# 2. When an agent tells a person that it is 77 degrees in Lisbon. It will sound sure.
# 3. A programmer. So a programmer should hear of it, at the line that did it, before any model is asked.
#
# </details>
#
# ## Exercise 1 · A name is taken once
#
# Python's way of telling a programmer is an exception. Two lines are missing. (`hint()` helps, in three stages.)

# %% [markdown] lang="zh"
# 1. 刚才用的是谁的 `temperature`？
# 2. 什么时候才会有人发现？
# 3. 是谁犯的错，模型还是程序员？
#
# <details><summary>我们的看法</summary>
#
# 1. 第二位同事的。第一个没了，而且一声不响。
# 2. 等到智能体告诉别人里斯本现在 77 度的时候。它说得还很肯定。
# 3. 程序员。所以应该让程序员知道：就在出错的那一行，在去问任何模型之前。
#
# </details>
#
# ## 练习一 · 一个名字只能用一次
#
# 在 Python 里，要告诉程序员出了错，就抛出异常。还差两行。（需要提示就用 `hint()`，分三步。）

# %% tags=["exercise:registry-duplicate"]

# %%
check("registry-duplicate")

# %% [markdown] lang="en"
# ## Break it again: a wrong argument
#
# Here is a tool for whole numbers, and its schema says so.

# %% [markdown] lang="zh"
# ## 再弄坏一次：错的参数
#
# 下面是一个处理整数的工具，它的 schema 也写明了这一点。

# %% lang="en"
about_double = "Twice a whole number."

# %% lang="zh"
about_double = "求一个整数的两倍。"


# %%
class Double(Tool):
    name = "double"
    description = about_double
    parameters = {
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
        "additionalProperties": False,
    }

    def execute(self, number):
        return str(number * 2)


double = Double()
print(double.execute(number=21))

# %% [markdown] lang="en"
# Models often put numbers in quotes. What does `double.execute(number="21")` give: `42`, `2121`, or an `error`?

# %% [markdown] lang="zh"
# 模型常常给数字加上引号。`double.execute(number="21")` 会得到什么：`42`、`2121`，还是报错（`error`）？

# %% tags=["predict:registry-quoted"]
guess = "?"

# %% tags=["break:registry-quoted"]
came = double.execute(number="21")
print(came)
predict("registry-quoted", guess, came=came)

# %% [markdown] lang="en"
# In Python, a text times two is the text twice. No exception, no warning, and a wrong answer.
#
# Yet the tool said what it wants: `integer` stands in its schema. The model read it and slipped, and nobody looked a
# second time.
#
# ## Exercise 2 · Check before you run
#
# `problems` compares arguments with a schema. It gives back a list of texts, one for each thing that is wrong; if all
# fits, the list is empty. Step 1 is done. Steps 2 and 3 need you. Put the name of the parameter into each text.
#
# The check tries it on a forecast with these parameters:
#
# ```text
# city: string, required    days: integer    above: number
# metric: boolean           hours: array     note: (no type)
# ```

# %% [markdown] lang="zh"
# 在 Python 里，文字乘以二，就是把文字重复两遍。没有异常，没有警告，只有一个错的答案。
#
# 其实工具说过它要什么：schema 里写着 `integer`。模型读到了，还是写错了，而没有谁再看一眼。
#
# ## 练习二 · 先检查，再运行
#
# `problems` 拿参数和 schema 对照。它返回一个列表，每个问题一条文字；全都符合，列表就是空的。第 1 步已经写好，第 2、3 步由你来写。每条文字里都要写上参数的名字。
#
# 检查时用的是一个天气预报工具，它有这些参数：
#
# ```text
# city: string, required    days: integer    above: number
# metric: boolean           hours: array     note: (no type)
# ```

# %% tags=["exercise:registry-check"]

# %%
check("registry-check")

# %% [markdown] lang="en"
# Now change the arguments below: misspell `number`, leave it out, write `21.5`. Say first how many problems there will
# be. One of the three makes two. Why?

# %% [markdown] lang="zh"
# 现在改一改下面的参数：把 `number` 拼错，或者不写，或者写成 `21.5`。先说出会有几个问题。三种改法里，有一种会出现两个问题。为什么？

# %%
problems = mine_or_ours("problems")

for problem in problems(double.parameters, {"number": "21"}):
    print(problem)

# %% [markdown] lang="en" tags=["new:tool result"]
# ## Every call gets an answer
#
# What comes back from a call is a **tool result**: a text for the model, and whether it is an error. It becomes the
# observation.
#
# A model may make three calls at once. Say the second one names a tool that doesn't exist. How many results come back:
# `0`, `1`, `2` or `3`? (This is the library's registry.)

# %% [markdown] lang="zh" tags=["new:tool result"]
# ## 每个调用都有回音
#
# 一次调用得到的是一个**工具结果**：一段给模型看的文字，以及它是不是错误。它会成为观察。
#
# 模型可以一次发出三个调用。假设第二个调用的工具不存在，会返回几个结果：`0`、`1`、`2` 还是 `3`？（这里用的是库里的注册表。）

# %% tags=["predict:registry-three"]
guess = "?"

# %%
from react_lab.tools.registry import ToolRegistry as LibraryRegistry

calls = [
    ToolCall("a", "double", {"number": 21}),
    ToolCall("b", "dubble", {"number": 21}),
    ToolCall("c", "double", {"number": "21"}),
]
results = LibraryRegistry([double, Celsius()]).run_all(calls)
for result in results:
    print(result.call_id, result.is_error, result.content)

predict("registry-three", guess, came=str(len(results)))

# %% [markdown] lang="en"
# A mistake doesn't stop the run, and it doesn't leave a gap: each call is answered under its own `id`.
#
# Compare the two kinds of mistake that you have met. A name that is taken: **raise**, for the programmer. A name that
# doesn't exist, or an argument that doesn't fit: **return an error**, for the model. Each goes to the one who can mend
# it.

# %% [markdown] lang="zh"
# 出了错，运行不会停，也不会留下空缺：每个调用都按自己的 `id` 得到回答。
#
# 比较一下你见过的两种错误。名字重复了：**抛出异常**，给程序员看。工具不存在，或者参数不符合：**返回错误**，给模型看。谁能改，就交给谁。

# %%
quiz("registry-whose")

# %% [markdown] lang="en"
# ## Exercise 3 · The registry
#
# Now the whole class. `register` and `get` are done. `run` works as long as nothing goes wrong; make it hold when
# something does. There are three places, and step 0 shows the pattern.
#
# Two helpers come from the library: `as_text` makes a text of any value, and `shorten` cuts what is too long to read.

# %% [markdown] lang="zh"
# ## 练习三 · 注册表
#
# 现在来写整个类。`register` 和 `get` 已经写好。`run` 在一切顺利时能用；请让它在出错时也站得住。要改三处，照着第 0 步的样子写。
#
# 有两个帮手来自库里：`as_text` 把任何值变成文字，`shorten` 截短太长的文字。

# %% tags=["exercise:registry-run"]

# %%
check("registry-run")

# %%
quiz("registry-order")

# %% [markdown] lang="en"
# ## Make it: an agent that mends its mistakes
#
# To see the registry at work we need a model that errs on cue. So this one follows a script: it misspells a name, then
# quotes a number, then gets it right. A real model has no script; it reads the same observations and has to find the
# way by itself.

# %% [markdown] lang="zh"
# ## 做出来：会改正错误的智能体
#
# 要看注册表怎么工作，需要一个会准时犯错的模型。所以这一个照脚本来：先拼错名字，再给数字加引号，最后写对。真实的模型没有脚本：它读到同样的观察，要靠自己找到出路。

# %% lang="en"
question = "What is twice 21?"
misspelt = 'Thought: I need to double it.\nAction: dubble({"number": 21})'
quoted = 'Thought: The tool is called double.\nAction: double({"number": "21"})'
mended = 'Thought: It has to be an integer, without quotes.\nAction: double({"number": 21})'
answer = "Thought: I have it.\nFinal Answer: 42"

# %% lang="zh"
question = "21 的两倍是多少？"
misspelt = '思考：需要把它翻倍。\n行动：dubble({"number": 21})'
quoted = '思考：工具叫 double。\n行动：double({"number": "21"})'
mended = '思考：要写整数，不加引号。\n行动：double({"number": 21})'
answer = "思考：已经得到了。\n最终答案：42"

# %%
ToolRegistry = mine_or_ours("ToolRegistry")

registry = ToolRegistry([double, Celsius()])
agent = TextReActAgent(ScriptedModel([misspelt, quoted, mended, answer]), registry)
trace = agent.run(question)
for step in trace.steps:
    print(step.text, *(result.content for result in step.results), sep="\n", end="\n\n")

# %%
replay(trace, lang=language)

# %% [markdown] lang="en"
# Step through it and look at the observations of steps 1 and 2. Could *you* have mended the call with nothing but these
# words?
#
# ## Say it in a sentence
#
# A colleague asks: some mistakes raise here, and some don't. What is the rule?

# %% [markdown] lang="zh"
# 一步步看过去，留意第 1 步和第 2 步的观察。只凭这几句话，*你*能把调用改对吗？
#
# ## 用一句话说清楚
#
# 同事问：这里有的错误会抛出异常，有的不会，规则是什么？

# %% tags=["explain:registry-why-result"]
explain("registry-why-result", "")

# %% [markdown] lang="en"
# ## Your code beside the library's
#
# The library's `run` does the same three things. It keeps something more of a tool that raised. What, and for whom?

# %% [markdown] lang="zh"
# ## 你的代码和库里的代码
#
# 库里的 `run` 做的是同样三件事。工具抛出异常时，它还多留了一样东西。是什么，给谁看？

# %%
show(LibraryRegistry.run)

# %% [markdown] lang="en"
# <details><summary>What it keeps</summary>
#
# The `traceback`: file and line of the exception. It goes into the trace, for the person who has to find the fault. A
# model never gets it: it can't mend your code, and the folders of your computer are none of its business.
#
# </details>
#
# ## What you have built
#
# - A **registry** finds a tool by its name, checks the arguments and runs it.
# - **register** raises when a name is taken: that is the programmer's mistake, and it must not pass in silence.
# - **problems** compares arguments with the schema before anything runs, and names each thing that is wrong.
# - **run** never raises. Whatever goes wrong is a **tool result**, and says what to do instead.
#
# Next: the reader, which makes calls out of what a model writes.

# %% [markdown] lang="zh"
# <details><summary>它留下了什么</summary>
#
# 是 `traceback`：异常出在哪个文件、哪一行。它记在轨迹里，给要找毛病的人看。模型看不到它：模型改不了你的代码，你电脑上有哪些文件夹也与它无关。
#
# </details>
#
# ## 你做出了什么
#
# - **注册表**按名字找到工具，检查参数，运行它。
# - 名字重复时 **register** 抛出异常：这是程序员的错误，不能一声不响地过去。
# - **problems** 在运行之前拿参数和 schema 对照，逐条说出哪里不对。
# - **run** 从不抛出异常。不管出了什么错，都是一个**工具结果**，并说明该怎么办。
#
# 下一课：解析器。模型写下的文字，由它变成调用。

# %% [markdown] lang="en"
# ## Bonus: a real model
#
# With a key in `.env`, a real model works with your registry. Without one, this cell says so and does nothing.

# %% [markdown] lang="zh"
# ## 加餐：真实的模型
#
# `.env` 里有密钥时，真实的模型会用上你的注册表。没有密钥时，这一格会说明，然后什么也不做。

# %% tags=["live"]
model = load_model()
if model.name == "offline":
    print("no key: skipped · 没有密钥，跳过")
else:
    print(TextReActAgent(model, registry, max_steps=5).run(question).answer)
