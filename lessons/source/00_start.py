# %% [markdown] lang="en"
# # Start (placeholder)
#
# This lesson is being written.

# %% [markdown] lang="zh"
# # 开始（占位）
#
# 这一课正在编写。

# %% lang="en"
question = "What is 6 × 7?"

# %% lang="zh"
question = "6 × 7 等于多少？"

# %% tags=["given"]
from react_lab.messages import Reply, ToolCall
from react_lab.models.scripted import ScriptedModel
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.base import tool
from react_lab.tools.registry import ToolRegistry


@tool
def multiply(a: float, b: float) -> float:
    """Multiply two numbers."""
    # en: The tool is a typed function.
    # zh: 工具就是一个带类型的函数。
    return a * b


call = ToolCall("c1", "multiply", {"a": 6, "b": 7})
model = ScriptedModel([Reply(text="I multiply.", tool_calls=(call,)), "42"])
trace = ToolUseAgent(model, ToolRegistry([multiply])).run(question)
trace.answer
