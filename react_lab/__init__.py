"""Learn how LLM agents work by building one: reasoning + acting, with a trace of every step."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from react_lab.agent import Agent as Agent
    from react_lab.errors import ConfigurationError as ConfigurationError
    from react_lab.errors import ModelError as ModelError
    from react_lab.errors import ReactLabError as ReactLabError
    from react_lab.errors import ToolError as ToolError
    from react_lab.messages import Message as Message
    from react_lab.messages import Reply as Reply
    from react_lab.messages import ToolCall as ToolCall
    from react_lab.messages import ToolResult as ToolResult
    from react_lab.messages import Usage as Usage
    from react_lab.models.base import Model as Model
    from react_lab.models.catalogue import load_model as load_model
    from react_lab.models.offline import OfflineModel as OfflineModel
    from react_lab.models.scripted import ScriptedModel as ScriptedModel
    from react_lab.replay.player import compare as compare
    from react_lab.replay.player import publish as publish
    from react_lab.replay.player import replay as replay
    from react_lab.replay.player import watch as watch
    from react_lab.text_react import TextReActAgent as TextReActAgent
    from react_lab.tool_use import ToolUseAgent as ToolUseAgent
    from react_lab.tools.base import Tool as Tool
    from react_lab.tools.base import tool as tool
    from react_lab.tools.registry import ToolRegistry as ToolRegistry
    from react_lab.trace import Step as Step
    from react_lab.trace import Trace as Trace
    from react_lab.workflow.plan_execute import PlanAndExecuteAgent as PlanAndExecuteAgent
    from react_lab.workflow.research import ResearchWorkflow as ResearchWorkflow

# The public names, and where each is defined. They load on first use, so that importing costs nothing.
_PUBLIC = {
    "Message": "messages",
    "ToolCall": "messages",
    "ToolResult": "messages",
    "Reply": "messages",
    "Usage": "messages",
    "Tool": "tools.base",
    "tool": "tools.base",
    "ToolRegistry": "tools.registry",
    "Model": "models.base",
    "ScriptedModel": "models.scripted",
    "OfflineModel": "models.offline",
    "load_model": "models.catalogue",
    "Agent": "agent",
    "TextReActAgent": "text_react",
    "ToolUseAgent": "tool_use",
    "Trace": "trace",
    "Step": "trace",
    "ResearchWorkflow": "workflow.research",
    "PlanAndExecuteAgent": "workflow.plan_execute",
    "replay": "replay.player",
    "compare": "replay.player",
    "watch": "replay.player",
    "publish": "replay.player",
    "ReactLabError": "errors",
    "ConfigurationError": "errors",
    "ToolError": "errors",
    "ModelError": "errors",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'react_lab' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"react_lab.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
