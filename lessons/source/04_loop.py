# %% [markdown] lang="en"
# # 04 · Loop: the agent that you build
#
# **Forty-five minutes. No key, no network.** You need lessons 01 to 03.
#
# At the end, a loop that you wrote answers a question in four turns, and this is what you will see:
#
# ```text
# 1 search {'query': 'K2 higher metres'} -> [1] K2 (Qogir): K2 is 8611 metres high. K2
# 2 search {'query': 'Kangchenjunga higher metres'} -> [1] Kangchenjunga: Kangchenjunga is 8586 m
# 3 calculator {'expression': '8611 - 8586'} -> 25
# 4 K2 is higher than Kangchenjunga; 8611 - 8586 = 25 (K2 8611, Kangchenjunga 8586)
# ```
#
# You build four things: the prompt, one turn, the loop with its step limit, and a guard against going round in circles.

# %% [markdown] lang="zh"
# # 04 · 循环：你来搭建智能体
#
# **四十五分钟。不需要密钥，不需要网络。** 你需要上过第 01 到 03 课。
#
# 这一课结束时，你写的循环会用四轮回答一个问题，你会看到：
#
# ```text
# 1 search {'query': '乔戈里峰 更高 米'} -> [1] 乔戈里峰（K2）：乔戈里峰（K2）海拔 8611 米。乔戈里峰（K2）是位于中国
# 2 search {'query': '干城章嘉峰 更高 米'} -> [1] 干城章嘉峰：干城章嘉峰海拔 8586 米。干城章嘉峰是位于尼泊尔和印度的山峰。
# 3 calculator {'expression': '8611 - 8586'} -> 25
# 4 乔戈里峰更高；8611 - 8586 = 25 (乔戈里峰 8611、干城章嘉峰 8586)
# ```
#
# 你要做四样东西：提示词、一轮对话、带步数上限的循环，还有一个防止兜圈子的守卫。

# %% lang="en"
language = "en"

# %% lang="zh"
language = "zh"

# %%
from react_lab import Agent, Message, ModelError, ScriptedModel, Trace, load_model, replay
from react_lab.course import check, explain, hint, mine_or_ours, predict, progress, quiz, show, solution
from react_lab.text_react import STOP
from react_lab.tools.standard import standard_tools

progress()

# %% [markdown] lang="en"
# ## Do you remember?
#
# A question about each of two earlier lessons. Answer before you look anything up.

# %% [markdown] lang="zh"
# ## 还记得吗？
#
# 前面两课各有一个问题。先别翻回去看。

# %%
quiz("reader-ends")

# %%
quiz("tool-allow")

# %% [markdown] lang="en"
# ## What a model knows of your tools
#
# We take the tools of lesson 00, your reader of lesson 03, and a question that needs the tools. We ask the model directly,
# with nothing around it. Will its reply hold an action: `yes` or `no`?

# %% [markdown] lang="zh"
# ## 模型对你的工具知道多少
#
# 拿第 00 课的工具、你在第 03 课做的解析器，和一个用得上这些工具的问题。直接问模型，什么都不加。它的回复里会有行动吗：有（`yes`）还是没有（`no`）？

# %% lang="en"
question = "Which is higher, K2 or Kangchenjunga, and by how many metres?"

# %% lang="zh"
question = "乔戈里峰和干城章嘉峰哪个更高，高多少米？"

# %% tags=["predict:loop-bare"]
guess = "?"

# %%
parse_reply = mine_or_ours("parse_reply")
registry = standard_tools()
model = load_model()

reply = model.reply([Message("user", question)])
print(reply.text)
predict("loop-bare", guess, came="yes" if parse_reply(reply.text).actions else "no")

# %% [markdown] lang="en" tags=["new:system prompt"]
# How could it? It got one message with your question, and the tools are objects in *your* computer.
#
# So the conversation begins with a message that the person never sees, the **system prompt**. It has to hold four
# things: the rules, the tools, and the two forms that a turn may have, one to act and one to finish.
#
# Here are the texts. `call_form` and `answer_form` show a model what to write; your reader of lesson 03 reads both.

# %% [markdown] lang="zh" tags=["new:system prompt"]
# 它怎么会知道呢？它只收到一条消息，就是你的问题；而工具是*你*电脑里的对象。
#
# 所以对话的开头有一条人看不到的消息：**系统提示词**（system prompt）。它要写四样：规则、工具，以及一轮可以有的两种写法，一种用来行动，一种用来结束。
#
# 文字都在下面。`call_form` 和 `answer_form` 给模型看该怎么写，你在第 03 课做的解析器两种都读得懂。

# %% lang="en"
rules = """You answer questions step by step with the help of tools. After each action you are told its observation;
never write an observation yourself. Calculate with a tool, never in your head.
Below stand your tools, and the two forms that a turn can have."""
call_form = """Thought: what you need next, in a sentence
Action: tool_name({"parameter": "value"})"""
answer_form = """or, when you know the answer:

Thought: why it is enough
Final Answer: the answer, with its sources"""
observation = "Observation: "
sorry = "Your reply could not be read, and nothing was run: "

# %% lang="zh"
rules = """你借助工具一步一步地回答问题。每次行动之后，你会得到观察结果；不要自己写观察结果。
计算一律用工具，不要心算。下面是你的工具，以及一轮可以用的两种写法。"""
call_form = """思考：下一步需要什么，一句话
行动：tool_name({"parameter": "value"})"""
answer_form = """或者，已经知道答案时：

思考：为什么已经足够
最终答案：答案，并附上来源"""
observation = "观察："
sorry = "无法读取你的回复，没有执行任何操作："

# %% [markdown] lang="en"
# ## Exercise 1 · The prompt
#
# Put it together. `registry.describe(language)` gives the tools as a text. (The order of the parts is yours to choose.)

# %% [markdown] lang="zh"
# ## 练习一 · 提示词
#
# 把它拼起来。`registry.describe(language)` 会给出工具的文字说明。（各部分的先后由你定。）

# %% tags=["exercise:loop-prompt"]

# %%
check("loop-prompt")

# %%
system_prompt = mine_or_ours("system_prompt")

print(system_prompt(registry))

# %% [markdown] lang="en"
# Now the same question, with the prompt in front of it:

# %% [markdown] lang="zh"
# 同样的问题，前面加上提示词，再问一次：

# %%
messages = [Message("system", system_prompt(registry)), Message("user", question)]

reply = model.reply(messages, stop=STOP)
print(reply.text)

# %% [markdown] lang="en"
# The model acts. It wrote a line of text; nothing has run yet.
#
# To finish, the paper on ReAct uses an action, `Finish[answer]`, where ours says `Final Answer:`. What does the reader
# make of `Action: Finish[25]`: an `action` or an `answer`?

# %% [markdown] lang="zh"
# 模型开始行动了。它只是写了一行文字，还什么都没有运行。
#
# 要结束时，我们的写法是 `Final Answer:`，而 ReAct 论文用的是一个行动：`Finish[answer]`。对 `Action: Finish[25]`，解析器读出来的是行动（`action`）还是答案（`answer`）？

# %% tags=["predict:loop-finish"]
guess = "?"

# %%
parsed = parse_reply("Action: Finish[25]")
print(parsed)
predict("loop-finish", guess, came="answer" if parsed.answer is not None else "action")

# %% [markdown] lang="en"
# Two ways of writing, one meaning: *I am done*. The reader maps both to `answer`, so the loop needs to know only one.
#
# ## Exercise 2 · One turn
#
# A turn has four parts: **ask** the model, **read** its reply, **act**, and **observe**, which is telling the model what
# came back. `take_turn` does the last three. It gives back two values: the answer, or None while there is none; and the
# text that the model is told next.
#
# The texts for it are above: `sorry`, `call_form` and `answer_form` for a reply that can't be read, `observation` for
# what a tool said. `registry.execute` runs a tool, and gives back a text even where the tool fails.

# %% [markdown] lang="zh"
# 写法有两种，意思只有一个：*我做完了*。解析器把两种都读成 `answer`，循环只要认这一样。
#
# ## 练习二 · 一轮
#
# 一轮有四个部分：**询问**模型，**读取**回复，**行动**，**观察**（把得到的结果告诉模型）。`take_turn` 做后面三样。它返回两个值：答案，还没有就是 None；以及接下来要告诉模型的文字。
#
# 要用的文字上面都有：回复读不出来时用 `sorry`、`call_form` 和 `answer_form`，工具返回了结果用 `observation`。`registry.execute` 运行一个工具，工具出错时返回的也是文字。

# %% tags=["exercise:loop-turn"]

# %%
check("loop-turn")

# %%
take_turn = mine_or_ours("take_turn")

answer, told = take_turn(reply.text, registry)
print(answer)
print(told)

# %% [markdown] lang="en"
# ## The loop
#
# Now put turns one after another. This is a whole agent, in ten lines. Read it, and find the four parts: ask, read, act,
# observe. (`sent` is for us: it counts the messages that the model gets.)

# %% [markdown] lang="zh"
# ## 循环
#
# 现在把一轮一轮接起来。下面十来行，就是一个完整的智能体。读一读，找出四个部分：询问、读取、行动、观察。（`sent` 是给我们看的：它记下模型每次收到几条消息。）

# %%
sent = []


def run_loop(question, model, registry):
    messages = [Message("system", system_prompt(registry)), Message("user", question)]
    while True:
        sent.append(len(messages))
        reply = model.reply(messages, stop=STOP)
        answer, told = take_turn(reply.text, registry)
        if answer is not None:
            return answer
        messages.append(Message("assistant", reply.text))
        messages.append(Message("user", told))


# %% [markdown] lang="en"
# In its first turn the model gets two messages. How many does it get in its third?

# %% [markdown] lang="zh"
# 第一轮模型收到两条消息。第三轮它会收到几条？

# %% tags=["predict:loop-messages"]
guess = "?"

# %%
sent.clear()
print(run_loop(question, model, registry))
print(sent)
predict("loop-messages", guess, came=sent[2] if len(sent) > 2 else "-")

# %% [markdown] lang="en"
# It works: a question goes in, an answer comes out. Look closer:
#
# 1. Why does the model's own reply go into `messages`, too?
# 2. Whom does the loop ask whether to go on?
#
# <details><summary>What we think</summary>
#
# 1. A model keeps nothing from turn to turn. The list is all its memory; without its own reply, it would see an
#    observation and not know what it had asked for.
# 2. The model, and nobody else. Only its answer ends the loop.
#
# </details>
#
# ## Break it: nobody says stop
#
# The second point is a hole. This model looks at the sky, and looks again, and never finishes. Its script has forty
# replies. How many of them will the loop take: `3`, `10` or `40`?

# %% [markdown] lang="zh"
# 成了：问题进去，答案出来。再仔细看看：
#
# 1. 模型自己的回复为什么也要放进 `messages`？
# 2. 要不要继续，循环问的是谁？
#
# <details><summary>我们的看法</summary>
#
# 1. 模型在两轮之间什么都不保留，这份列表就是它全部的记忆。没有它自己的回复，它会看到一个观察结果，却不知道自己问过什么。
# 2. 只问模型，不问别人。只有它给出答案，循环才结束。
#
# </details>
#
# ## 弄坏它：没有人喊停
#
# 第二点是个漏洞。下面这个模型看天气，再看一次，永远不结束。它的剧本里有四十条回复。循环会用掉几条：`3`、`10` 还是 `40`？

# %% lang="en"
again = """Thought: I had better look once more.
Action: weather({"city": "Paris"})"""

# %% lang="zh"
again = """思考：最好再看一次。
行动：weather({"city": "北京"})"""

# %% tags=["predict:loop-endless"]
guess = "?"

# %% tags=["break:loop-endless"]
sent.clear()
endless = ScriptedModel([again] * 40)
try:
    run_loop(question, endless, registry)
except ModelError as error:
    print(error)

characters = [sum(len(message.text) for message in request) for request in endless.requests]
print(characters[0], "...", characters[-1], "=", sum(characters))
predict("loop-endless", guess, came=len(endless.requests))

# %% [markdown] lang="en" tags=["new:step limit"]
# It took all forty, and stopped only because the script was over. A real model's script is never over. The figures are
# the characters sent in the first turn, in the last, and in all: each turn is longer than the one before, and is paid for.
#
# The prompt *asks* a model to finish. The loop has to *make* it: with a **step limit**, a number of turns after which the
# run is over, answer or not.
#
# ## Exercise 3 · The loop with a step limit
#
# Your loop becomes a class of the library's kind. Then it can do more than give an answer: it leaves a trace. For that a
# recorder stands between the loop and its two partners. It passes everything on, and writes down what passes. You need
# not read it in detail.

# %% [markdown] lang="zh" tags=["new:step limit"]
# 四十条全用掉了，停下来只是因为剧本演完了。真实的模型没有演完的时候。打印的数字是第一轮、最后一轮和全部各轮发送的字符数：一轮比一轮长，每一轮都要付钱。
#
# 提示词只能*请*模型结束，让它*真的*结束的是循环：要有**步数上限**（step limit）。走满这么多轮，有没有答案都结束。
#
# ## 练习三 · 带步数上限的循环
#
# 你的循环要变成库里那样的一个类。这样它不只给出答案，还会留下轨迹。为此，循环和它的两个伙伴之间站着一个记录员：什么都照样传过去，同时写下来。不必细读。

# %%
from dataclasses import replace

from react_lab.tools.registry import Wrapper
from react_lab.trace import reply_fields, result_fields


class Recorder(Wrapper):
    def __init__(self, trace, model, registry):
        super().__init__(registry)
        self.trace, self.model = trace, model
        self.step, self.calls, self.known = 0, 0, 1

    def reply(self, messages, stop=STOP):
        self.step, self.calls = self.step + 1, 0
        new, self.known = messages[self.known :], len(messages)
        if recorded := self.trace.reply_at(self.step):
            return recorded
        self.trace.append("request", step=self.step, messages=[message.to_dict() for message in new])
        reply = self.model.reply(messages, stop=stop)
        self.trace.append("reply", step=self.step, **reply_fields(reply))
        self.record_parse(parse_reply(reply.text))
        return reply

    def record_parse(self, parsed):
        calls = [
            {"id": f"{self.step}.{number}", "name": action.name, "arguments": action.argument}
            for number, action in enumerate(parsed.actions, start=1)
        ]
        fields = {"thought": parsed.thought, "calls": calls, "answer": parsed.answer, "reminder": parsed.error}
        self.trace.append("parse", step=self.step, **fields)

    def run_all(self, calls, *, max_chars=4000):
        return tuple(self.record_run(call, max_chars) for call in calls)

    def record_run(self, call, max_chars):
        self.calls += 1
        call = replace(call, id=f"{self.step}.{self.calls}")
        for result in self.trace.results_at(self.step):
            if result.call_id == call.id:
                return result
        result = self.inner.run(call, max_chars=max_chars)
        self.trace.append("result", step=self.step, **result_fields(call, result))
        return result


# %% [markdown] lang="en"
# Below is the loop again, in its new clothes: `recorder` is model and registry in one, and `yield` hands out each step
# as it happens. Two things are missing.

# %% [markdown] lang="zh"
# 下面还是那个循环，换了身衣服：`recorder` 既是模型又是注册表，`yield` 把每一步随时交出来。差两样东西。

# %% tags=["exercise:loop-agent"]

# %%
check("loop-agent")

# %% [markdown] lang="en"
# If your run parts from the right one, the player shows yours, opened at the step where it happens.

# %% [markdown] lang="zh"
# 如果你的运行和正确的不一样，播放器会打开你的那一次，停在开始不同的那一步。

# %% [markdown] lang="en"
# ## Run it: your agent
#
# Your prompt, your reader, your turn, your loop. Since it leaves a trace, everything of lesson 00 works with it, too.

# %% [markdown] lang="zh"
# ## 运行：你的智能体
#
# 你的提示词，你的解析器，你的一轮，你的循环。它会留下轨迹，所以第 00 课里的一切，用在它身上也都行得通。

# %%
TextReActAgent = mine_or_ours("TextReActAgent")

agent = TextReActAgent(model, registry, max_steps=10)
trace = agent.run(question)
for step in trace.steps:
    for call, result in zip(step.calls, step.results, strict=True):
        print(step.index, call.name, call.arguments, "->", result.content[:42])
print(step.index, trace.answer)

replay(trace, lang=language)

# %% [markdown] lang="en"
# Open **Prompt as sent** in the last step. The whole conversation is there, and it begins with the words that you put
# together.
#
# Now change one number. The same agent gets two steps for a question that takes four. How will the run end: `answered`,
# `max_steps` or `error`?

# %% [markdown] lang="zh"
# 展开最后一步里的**实际发送的提示词**。整段对话都在那里，开头就是你拼起来的文字。
#
# 现在改一个数。同一个智能体，一个要走四步的问题，只给它两步。运行会怎样结束：`answered`、`max_steps` 还是 `error`？

# %% tags=["predict:loop-short"]
guess = "?"

# %%
short = TextReActAgent(model, registry, max_steps=2).run(question)
print(short)
print(short.answer)
predict("loop-short", guess, came=short.outcome)

# %%
quiz("loop-outcome")

# %% [markdown] lang="en"
# No answer, and no exception either: an honest end, and what was found by then stands in the trace. Try other numbers.
# What is the smallest that is enough?
#
# ## Break it again: round in circles
#
# Is the limit all we need? Our sky-watcher gets only eight turns this time.

# %% [markdown] lang="zh"
# 没有答案，也没有异常：这是老实的结局，到那时为止查到的都在轨迹里。换几个数试试，最少几步够用？
#
# ## 再弄坏一次：兜圈子
#
# 有了上限就够了吗？这一次，那个看天气的模型只有八轮。

# %% tags=["break:loop-circles"]
circling = Trace.start(question=question, agent="run_loop", model="scripted", system=system_prompt(registry))
recorder = Recorder(circling, ScriptedModel([again] * 8), registry)
try:
    run_loop(question, recorder, recorder)
except ModelError as error:
    print(error)

for step in circling.steps:
    print(step.index, step.calls[0].name, step.results[0].content[:60])

# %% [markdown] lang="en"
# Eight times the same call, eight times the same result. A limit of eight would have ended it, but after paying for eight.
#
# Why does a model do that? It continues a text, and a text in which the same thing stands three times goes on with a
# fourth. It needs somebody to say: *you have been here*.
#
# ## Exercise 4 · The guard
#
# A guard looks at the trace before a call is run. `observed` is there; it tells what a step saw of a call. When does the
# model go in circles? One look before is no circle yet: people look twice, too. And the same call with *another* result
# is progress: the next page, a later hour.

# %% [markdown] lang="zh"
# 同样的调用八次，同样的结果八次。上限设成八，确实会停，可八次的钱已经付了。
#
# 模型为什么会这样？它做的是续写，而一段文字里同样的话出现了三遍，续写出来的多半就是第四遍。得有人告诉它：*这里你来过了*。
#
# ## 练习四 · 守卫
#
# 守卫在调用运行之前先看一眼轨迹。`observed` 已经写好，它说明某一步做某个调用时看到了什么。什么时候算兜圈子？之前只看过一次还不算：人也会看两遍。调用一样、结果*不同*也不算，那是进展：下一页，过了一小时。

# %% tags=["exercise:loop-circles"]

# %%
check("loop-circles")

# %% [markdown] lang="en"
# We hold your guard against the eight steps above. Which is the first step whose call it stops?

# %% [markdown] lang="zh"
# 拿你的守卫去看上面那八步。它最先拦下的是第几步的调用？

# %% tags=["predict:loop-guard"]
guess = "?"

# %%
goes_in_circles = mine_or_ours("goes_in_circles")

stopped = [step.index for step in circling.steps if goes_in_circles(circling, step.index, step.calls[0])]
print(stopped)
predict("loop-guard", guess, came=stopped[0])

# %% [markdown] lang="en"
# ## The guard at work
#
# The library's loop asks its guard before every call. Here it meets a model that gives in the fourth time. Step to
# number 3, and read what the model was told in place of the weather.

# %% [markdown] lang="zh"
# ## 守卫上岗
#
# 库里的循环在每次调用之前都先问守卫。这次它遇到的模型，到第四次会改口。走到第 3 步，看看模型得到的不是天气，而是什么。

# %% lang="en"
gives_in = """Thought: I have looked often enough.
Final Answer: I can't tell from the weather."""

# %% lang="zh"
gives_in = """思考：看的次数够多了。
最终答案：靠天气回答不了这个问题。"""

# %%
import react_lab

guarded = react_lab.TextReActAgent(ScriptedModel([again, again, again, gives_in]), registry).run(question)
replay(guarded, lang=language)

# %% [markdown] lang="en"
# <details><summary>What there is to find</summary>
#
# The third call was not run. The observation says so, and says what to do instead: something else, or answer. It is an
# error that helps, as in lesson 01.
#
# One circle gets past this guard: a, b, a, b. A stricter guard would catch it, and stop a model that only turns back a
# page. For such circles there is the step limit.
#
# </details>
#
# ## Say it in a sentence
#
# The prompt already tells the model how to finish. So why does the loop need a step limit? Write your answer between the
# quotes.

# %% [markdown] lang="zh"
# <details><summary>能看到什么</summary>
#
# 第三次调用没有运行。观察结果说明了这一点，还说了该怎么办：换个做法，或者作答。这就是第 01 课说的，帮得上忙的错误。
#
# 有一种圈子能躲过它：a、b、a、b。更严的守卫拦得住，但也会拦下只是往回翻一页的模型。这种圈子就交给步数上限。
#
# </details>
#
# ## 用一句话说清楚
#
# 提示词已经告诉模型怎样结束了，循环为什么还需要步数上限？把你的回答写在引号之间。

# %% tags=["explain:loop-why-limit"]
explain("loop-why-limit", "")

# %% [markdown] lang="en"
# ## Your code beside the library's
#
# This is the loop of the library. Both kinds of agent share it, so what differs between them stands elsewhere. Find
#
# 1. your four parts: ask, read, act, observe,
# 2. your step limit,
# 3. one more way in which a run can end, which yours doesn't have.

# %% [markdown] lang="zh"
# ## 你的代码和库里的代码
#
# 这是库里的循环。两种智能体共用它，所以它们不同的地方写在别处。找出：
#
# 1. 你的四个部分：询问、读取、行动、观察，
# 2. 你的步数上限，
# 3. 还有一种结束方式，你的循环里没有。

# %%
show(Agent.carry_on)

# %%
show(Agent._ending)

# %% [markdown] lang="en"
# <details><summary>Where they are</summary>
#
# 1. `_reply`, `_read`, `_act` and `observe`. The first three also do what your recorder does.
# 2. In `range(1, self.max_steps + 1)` and, for the outcome, in `_ending`.
# 3. Several: the model refused; its reply was cut off; three replies in a row could not be read. The last one is another
#    limit: reminders don't help every model.
#
# </details>
#
# ## What you have built
#
# - The **system prompt** tells a model the rules, the tools, and the two forms of a turn. What it shows, the reader reads.
# - A turn is **ask, read, act, observe**. A slip of the model brings a reminder, and the run goes on.
# - The list of messages is the model's whole memory. It grows with each turn.
# - The **step limit** ends what the model doesn't end. Reaching it is an outcome, and no answer is made up.
# - The **guard** sees a circle in the trace, and tells the model.
#
# Next: the same loop without any text to read. Models have a form of their own for calls.

# %% [markdown] lang="zh"
# <details><summary>它们在哪里</summary>
#
# 1. `_reply`、`_read`、`_act` 和 `observe`。前三个还做了你的记录员做的事。
# 2. 在 `range(1, self.max_steps + 1)` 里；对应的结果写在 `_ending` 里。
# 3. 有好几种：模型拒绝作答；回复被截断；连续三条回复读不出来。最后一种又是一道上限：提醒不是对每个模型都有用。
#
# </details>
#
# ## 你做出了什么
#
# - **系统提示词**告诉模型规则、工具和一轮的两种写法。它给模型看的写法，解析器都读得懂。
# - 一轮就是**询问、读取、行动、观察**。模型失误了就提醒它，运行照样继续。
# - 消息列表是模型全部的记忆，一轮比一轮长。
# - 模型不结束的，由**步数上限**来结束。走到上限也是一种结果，不编造答案。
# - **守卫**从轨迹里看出圈子，并告诉模型。
#
# 下一课：同一个循环，但不用再读文字。调用工具，模型有自己的一套格式。

# %% [markdown] lang="en"
# ## Bonus: a real model
#
# With a key in `.env`, your loop runs on a real model, with at most six calls of it. Without one, this cell says so and
# does nothing.

# %% [markdown] lang="zh"
# ## 加餐：真实的模型
#
# `.env` 里有密钥时，你的循环会由真实模型来驱动，最多调用它六次。没有密钥时，这一格会说明，然后什么也不做。

# %% tags=["live"]
if model.name == "offline":
    print("no key: skipped · 没有密钥，跳过")
else:
    print(TextReActAgent(model, registry, max_steps=6).run(question).answer)
