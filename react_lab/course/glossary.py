"""The same word for the same thing, in both languages, in every lesson."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from react_lab.language import Language


@dataclass(frozen=True)
class Term:
    """A term, and the words that must not be used for it."""

    en: str
    zh: str
    not_en: tuple[str, ...] = ()
    not_zh: tuple[str, ...] = ()

    def in_language(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en

    def misused(self, text: str, language: Language) -> Iterator[str]:
        """The words for it in a text that are not the term."""
        if language == "zh":
            yield from (word for word in self.not_zh if word in text)
        else:
            yield from (word for word in self.not_en if re.search(rf"\b{re.escape(word)}s?\b", text, re.IGNORECASE))


GLOSSARY = (
    Term("agent", "智能体", ("bot",), ("代理", "智能代理", "智能助理")),
    Term("model", "模型", ("LLM",), ("大语言模型", "大模型")),
    Term("stand-in", "离线替身", ("mock model", "fake model"), ("模拟模型", "假模型")),
    Term("tool", "工具", ("plugin",), ("插件",)),
    Term("loop", "循环"),
    Term("thought", "思考", (), ("思想", "想法")),
    Term("action", "行动", (), ("动作", "操作步骤")),
    Term("observation", "观察", (), ("观测", "观察值")),
    Term("final answer", "最终答案", ("final response",), ("最终回答", "最后答案")),
    Term("trace", "轨迹", ("trajectory",), ("追踪", "踪迹", "跟踪记录")),
    Term("step", "步"),
    Term("step limit", "步数上限", ("iteration limit", "step cap"), ("步数限制", "最大步数")),
    Term("player", "播放器", ("viewer",), ("查看器",)),
    Term("fork", "分支", (), ("分叉",)),
    Term("note", "笔记"),
    Term("prompt", "提示词", (), ("提示语", "提示文本")),
    Term("system prompt", "系统提示词"),
    Term("conversation", "对话", (), ("会话",)),
    Term("message", "消息", (), ("讯息",)),
    Term("reply", "回复", (), ("回覆",)),
    Term("token", "词元", (), ("令牌", "标记符")),
    Term("key", "密钥", (), ("秘钥", "金钥")),
    Term("name", "名字"),
    Term("description", "说明", (), ("工具描述",)),
    Term("parameter", "参数", (), ("形参",)),
    Term("argument", "参数", (), ("实参", "引数")),
    Term("schema", "schema", (), ("图式", "模式定义")),
    Term("allow-list", "白名单", ("whitelist", "allowlist"), ("允许列表",)),
    Term("exception", "异常", (), ("例外",)),
    Term("registry", "注册表", (), ("注册中心", "登记表")),
    Term("tool call", "工具调用", ("function call",), ("函数调用",)),
    Term("tool result", "工具结果", ("function result",), ("函数结果",)),
    Term("native tool use", "原生工具调用", ("native function calling",), ("原生函数调用",)),
    Term("block", "内容块"),
    Term("reader", "解析器", (), ("分析器",)),
    Term("reminder", "提醒"),
    Term("stop sequence", "停止序列", ("stop word",), ("停止词", "停用词")),
    Term("retry", "重试"),
    Term("cache", "缓存", (), ("快取",)),
    Term("budget", "预算"),
    Term("compaction", "压缩"),
    Term("streaming", "流式输出", (), ("串流",)),
    Term("workflow", "工作流", (), ("工作流程",)),
    Term("planner", "规划器"),
    Term("workspace", "工作区", (), ("工作空间",)),
)
TERMS = {term.en: term for term in GLOSSARY}
