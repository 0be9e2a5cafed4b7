"""The command line: each command reads its options, calls the library and says how it went."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from enum import StrEnum
from functools import partial
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated, Any

import typer

from react_lab import console
from react_lab.chat import Chat
from react_lab.cli_course import add_course_commands
from react_lab.doctor import examine
from react_lab.errors import ConfigurationError, ReactLabError
from react_lab.language import interface_language
from react_lab.messages import Message, ToolCall
from react_lab.models.base import Model
from react_lab.models.catalogue import chosen_spec, load_model, model_rows, read_dotenv
from react_lab.modes import MODES, hardened, make_runner, mode_of
from react_lab.monitor import export_spans
from react_lab.runner import Runner
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.standard import TOOLS, tools_named
from react_lab.trace import Trace

app = typer.Typer(
    name="react-lab",
    add_completion=False,
    pretty_exceptions_enable=False,
)
tools_app = typer.Typer(help="The tools, as a model sees them · 模型看到的工具", invoke_without_command=True)
app.add_typer(tools_app, name="tools")


def show_version(wanted: bool) -> None:
    if wanted:
        print(f"react-lab {version('react-lab')}")
        raise typer.Exit


@app.callback()
def react_lab(
    _: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version · 版本")
    ] = False,
) -> None:
    """Learn how LLM agents work by building one · 动手搭建一个智能体，弄懂它如何工作"""


class Mode(StrEnum):
    text = "text"
    native = "native"
    plan = "plan"
    research = "research"


class Template(StrEnum):
    research = "research"
    experiment = "experiment"


class Lang(StrEnum):
    en = "en"
    zh = "zh"


ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="M",
        help="offline, local, PROVIDER:NAME; see react-lab models · 模型",
    ),
]
ModeName = Annotated[
    Mode | None, typer.Option("--mode", help="Text ReAct, native tool calls, plan and execute, research · 运行方式")
]
MaxSteps = Annotated[
    int, typer.Option("--max-steps", min=1, help="Turns before the run ends without answer · 步数上限")
]
Search = Annotated[
    str | None,
    typer.Option("--search", metavar="NAME", help="almanac, duckduckgo, tavily, serpapi, wikipedia · 搜索来源"),
]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", min=1, help="Tokens of the whole run · 词元上限")]
MaxUsd = Annotated[float | None, typer.Option("--max-usd", help="Dollars of the whole run · 费用上限（美元）")]
MaxSeconds = Annotated[float | None, typer.Option("--max-seconds", help="Seconds of the whole run · 时间上限（秒）")]
Compact = Annotated[
    int | None,
    typer.Option("--compact", metavar="TOKENS", min=500, help="Summarize a conversation longer than this · 压缩长对话"),
]
Stats = Annotated[bool, typer.Option("--stats", help="What each step took · 每一步的用时与用量")]
Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools", metavar="NAMES", help="Such as standard,notes,files=FOLDER; see react-lab tools · 选用工具"
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Run tools that have effects without asking · 不询问，直接运行")]
Language = Annotated[Lang | None, typer.Option("--lang", help="Language of what is printed · 界面语言")]
TraceFile = Annotated[Path, typer.Argument(metavar="TRACE", help="A file of a run · 轨迹文件")]


@app.command()
def lab(
    lang: Language = None,
    folder: Annotated[Path, typer.Option("--dir", help="The workspace · 工作区")] = Path("react-lab-workspace"),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address · 只显示地址")] = False,
    port: Annotated[int | None, typer.Option("--port", help="Where to listen · 端口")] = None,
) -> None:
    """Open the lessons in JupyterLab; your edits are never overwritten · 在 JupyterLab 中打开课程"""
    from react_lab.course.workspace import lab as open_lab

    open_lab(folder, interface_language(lang), browser=not no_browser, port=port)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to find out · 问题")],
    model: ModelName = None,
    mode: ModeName = None,
    max_steps: MaxSteps = 10,
    search: Search = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    max_seconds: MaxSeconds = None,
    compact: Compact = None,
    tools: Tools = None,
    yes: Yes = False,
    stats: Stats = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the answer alone · 只显示答案")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object · 输出 JSON")] = False,
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", help="The trace's file · 轨迹文件")] = None,
    show_prompt: Annotated[bool, typer.Option("--show-prompt", help="Print every prompt · 显示每一轮的提示词")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Print every reply as it came · 显示每一轮的原始回复")] = False,
    lang: Language = None,
) -> None:
    """Ask one question and watch how it is answered · 提一个问题，看它如何得出答案"""
    answering = limited(model, compact, max_tokens=max_tokens, max_cost_usd=max_usd, max_seconds=max_seconds)
    language = interface_language(lang)
    runner = runner_for(answering, mode, max_steps, search, tools, None if yes else console.asking(language))
    view = console.LiveView(language, runner.model.name, show_prompt=show_prompt, raw=raw)
    trace = runner.start(question, save=save or new_trace_file(), listener=None if quiet or as_json else view)
    carry_out(runner, trace, view)
    if as_json:
        print(console.as_json(trace, mode_of(trace)))
    elif quiet:
        print(trace.answer or "")
    else:
        view.finish(trace, stats=stats)
    exit_with(trace, view)


@app.command()
def research(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to find out · 问题")],
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How often it may plan and search · 最多几轮")] = 2,
    to: Annotated[str | None, typer.Option("--to", help="Publish: markdown, html or notion · 发布")] = None,
    model: ModelName = None,
    search: Search = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    max_seconds: MaxSeconds = None,
    stats: Stats = False,
    lang: Language = None,
) -> None:
    """Research a question: plan, search, synthesize, write with sources · 调研一个问题，附来源"""
    exporter = load_exporter(to) if to else None
    answering = limited(model, None, max_tokens=max_tokens, max_cost_usd=max_usd, max_seconds=max_seconds)
    runner = make_runner(answering, "research", search=search, rounds=rounds)
    view = console.LiveView(interface_language(lang), runner.model.name)
    trace = runner.start(question, save=new_trace_file(), listener=view)
    carry_out(runner, trace, view)
    view.finish(trace, stats=stats)
    exit_with(trace, view)
    if exporter:
        publish_runs(exporter, [trace], template=Template.research.value)


@app.command()
def resume(trace: TraceFile, model: ModelName = None, max_steps: MaxSteps = 10, lang: Language = None) -> None:
    """Go on with a run that was interrupted; nothing recorded is asked again · 继续中断的运行"""
    run = Trace.load(trace)
    runner = runner_for(model or run.model, mode_of(run), max_steps)
    view = console.LiveView(interface_language(lang), runner.model.name)
    if run.outcome != "answered":
        run.listener = view
        carry_out(runner, run, view)
    view.finish(run)
    exit_with(run, view)


@app.command()
def compare(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to find out · 问题")],
    model: ModelName = None,
    lang: Language = None,
) -> None:
    """The same question in every mode, side by side · 用每种方式回答同一个问题并比较"""
    from react_lab import scores
    from react_lab.evaluate import Question, evaluate

    load_model(model)  # what is missing is told once, not in every row
    language = interface_language(lang)
    folder = new_trace_file().with_suffix("")
    agents = {mode: partial(make_runner, model, mode) for mode in MODES}
    with scores.progress(len(agents), language) as count:
        results = evaluate([Question("question", question)], agents, folder=folder, on_result=count)
    console.PlainConsole().print(scores.comparison(results, language))
    print(folder)


@app.command()
def batch(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Questions, .jsonl or .csv · 问题文件")],
    modes: Annotated[list[str] | None, typer.Option("--mode", help="Once or more · 方式，可多次给出")] = None,
    model: ModelName = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Questions at the same time · 并发数")] = 4,
    dask: Annotated[str | None, typer.Option("--dask", metavar="ADDRESS", help="Of a Dask scheduler · 调度器")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Results and traces · 结果目录")] = None,
    lang: Language = None,
) -> None:
    """Many questions; run again, it asks only what is left · 批量提问，可断点续跑"""
    from react_lab import scores
    from react_lab.evaluate import dask_executor, evaluate, read_questions

    language = interface_language(lang)
    questions = read_questions(file)
    chosen = modes or ["native" if load_model(model).native_tools else "text"]
    if unknown := sorted(set(chosen) - set(MODES)):
        raise ConfigurationError(f"unknown mode {unknown[0]!r} for --mode; use one of: {', '.join(MODES)}")
    agents = {mode: partial(make_runner, model, mode) for mode in chosen}
    folder = out or Path("batch") / file.stem
    with (
        dask_executor(dask) if dask else ThreadPoolExecutor(workers) as executor,
        scores.progress(len(questions) * len(agents), language) as count,
    ):
        results = evaluate(questions, agents, executor=executor, folder=folder, on_result=count)
    for part in scores.overview(results, language):
        console.PlainConsole().print(part)
    print(folder / "results.jsonl")
    if failed := [result for result in results if result.error]:
        console.complain(f"{len(failed)} not answered: {failed[0].id}: {failed[0].error}")
        raise typer.Exit(1)


@app.command()
def chat(
    model: ModelName = None,
    mode: ModeName = None,
    max_steps: MaxSteps = 10,
    search: Search = None,
    tools: Tools = None,
    yes: Yes = False,
    lang: Language = None,
) -> None:
    """A conversation: quit, exit or Ctrl-D leaves, Ctrl-C stops an answer · 连续对话"""
    language = interface_language(lang)

    def run(runner: Runner, question: str, history: list[Message], view: console.LiveView) -> Trace:
        trace = runner.start(question, history=history, save=new_trace_file(), listener=view)
        carry_out(runner, trace, view)
        return trace

    may_run = None if yes else console.asking(language)
    talk = Chat(model, lambda name: runner_for(name, mode, max_steps, search, tools, may_run), run, language)
    print(console.WORDS[language]["chat"].format(talk.runner.model.name))
    while (line := read_line("> ")) not in ("quit", "exit"):
        if line:
            talk.answer(line)


@app.command()
def replay(
    trace: TraceFile,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page instead · 写成网页")] = None,
    lang: Language = None,
) -> None:
    """Step through a run with the arrow keys · 用方向键逐步回放"""
    run = Trace.load(trace)
    if html is None:
        from react_lab.replay.terminal import replay_in_terminal

        replay_in_terminal(run, lang=lang)
        return
    from react_lab.replay.page import to_page

    try:
        html.write_text(to_page(run, lang), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"can't write {html}: {error.strerror}") from error
    print(html)


@app.command()
def publish(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACE...", help="Files of runs · 轨迹文件")],
    to: Annotated[str, typer.Option("--to", help="markdown, html or notion")] = "markdown",
    template: Annotated[
        Template, typer.Option("--template", help="How the note is laid out · 笔记的版式")
    ] = Template.research,
    out: Annotated[str | None, typer.Option("--out", metavar="WHERE", help="Folder or page · 写到哪里")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done · 只说明，不写入")] = False,
) -> None:
    """Publish finished runs as notes; running it again changes nothing · 把运行结果发布为笔记"""
    exporter = load_exporter(to)
    options: dict[str, Any] = {} if out is None else {"to": out}
    runs = [Trace.load(path) for path in traces]
    publish_runs(exporter, runs, dry_run=dry_run, template=template.value, **options)


@app.command()
def models(as_json: Annotated[bool, typer.Option("--json", help="As JSON · 输出 JSON")] = False) -> None:
    """The models that can be asked, and whether their key is set · 可用的模型"""
    read_dotenv()
    rows = model_rows()
    if as_json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(f"{row['model']:32} {console.readiness(row):28} {console.price(row)}")


@tools_app.callback()
def tools(
    context: typer.Context,
    names: Tools = None,
    as_json: Annotated[bool, typer.Option("--json", help="Their schemas · 输出 JSON")] = False,
    lang: Language = None,
) -> None:
    """The tools, as a model sees them · 模型看到的工具"""
    if context.invoked_subcommand is None:
        registry, language = tools_by_hand(names), interface_language(lang)
        schemas = registry.schemas(language=language)
        print(json.dumps(schemas, ensure_ascii=False) if as_json else registry.describe(language))
        if not as_json:
            print("\n--tools " + " ".join(f"{name}={takes}" if takes else name for name, takes in TOOLS.items()))


@tools_app.command("call")
def call_tool(
    name: Annotated[str, typer.Argument(help="calculator, search, weather")],
    arguments: Annotated[str, typer.Argument(metavar="JSON", help='{"city": "Paris"}')] = "{}",
    names: Tools = None,
) -> None:
    """Run a tool by hand and print what a model would read · 手动运行一个工具"""
    registry = tools_by_hand(names)
    try:
        values = json.loads(arguments)
        registry.get(name)
    except ValueError as error:
        raise ConfigurationError(f"{arguments!r} is no JSON object: {error}") from error
    except KeyError as error:
        raise ConfigurationError(str(error.args[0])) from error
    print(registry.execute(name, values))


@app.command()
def mcp(tools: Tools = None, lang: Language = None) -> None:
    """Serve the tools to an MCP client, over stdin and stdout · 通过 MCP 提供工具"""
    from react_lab.tools.mcp import serve

    read_dotenv()
    serve(tools_named(tools or ["standard"], live=True), language=interface_language(lang))


@app.command()
def doctor(
    live: Annotated[bool, typer.Option("--live", help="Ask the model something · 实际提问一次")] = False,
    lang: Language = None,
) -> None:
    """What is installed, which model would answer, what to do next · 检查安装与配置"""
    healthy = examine(print, interface_language(lang), live=live)
    raise typer.Exit(0 if healthy else 1)


add_course_commands(app)


# -- what the commands share ---------------------------------------------------------------------------------


def tools_by_hand(names: list[str] | None) -> ToolRegistry:
    """The tools that the usual model would get."""
    read_dotenv()
    return tools_named(names or ["standard"], live=not chosen_spec().startswith(("offline", "scripted")))


def limited(name: str | None, compact: int | None, **limits: float | None) -> Model:
    """The model of that name, within the person's limits; who nears one is told."""
    return hardened(load_model(name), compact=compact, on_warning=console.complain, **limits)


def runner_for(
    model: str | Model | None,
    mode: str | None,
    max_steps: int,
    search: str | None = None,
    tools: list[str] | None = None,
    may_run: Callable[[ToolCall], bool] | None = None,
) -> Runner:
    """What answers on the command line."""
    limits: dict[str, Any] = {} if mode == "research" else {"max_steps": max_steps}
    return make_runner(model, mode, search=search, tools=tools or ["standard"], ask=may_run, **limits)


def new_trace_file() -> Path:
    """A name that sorts by time, in `./runs/`."""
    return Path("runs") / f"{datetime.now():%Y%m%d-%H%M%S-%f}.jsonl"


def carry_out(runner: Runner, trace: Trace, view: console.LiveView) -> None:
    """Run to the end; Ctrl-C stops the run, and what is recorded stays."""
    try:
        with view.showing():
            runner.resume(trace)
    except KeyboardInterrupt:
        console.complain(view.words["interrupted"].format(trace.path))
    finally:
        export_spans(trace)


def load_exporter(name: str) -> Any:
    """The exporter of that name, of those that are installed."""
    read_dotenv()
    exporters = {entry.name: entry for entry in entry_points(group="react_lab.exporters")}
    if name not in exporters:
        raise ConfigurationError(f"unknown target {name!r} for --to; use one of: {', '.join(sorted(exporters))}")
    return exporters[name].load()()


def publish_runs(exporter: Any, runs: Sequence[Trace], **options: Any) -> None:
    """Publish runs and print what became of each as it is done; exit code 1 if one failed."""
    failed = False
    with console.Progress() as progress:
        exporter.on_progress = progress.show
        for published in exporter.publish(runs, **options):
            progress.clear()
            print(published)
            failed = failed or published.action == "failed"
    if failed:
        raise typer.Exit(1)


def exit_with(trace: Trace, view: console.LiveView) -> None:
    """Exit code 0 if the run was answered, else 1 with the reason."""
    if trace.outcome == "answered":
        return
    if trace.outcome != "interrupted":
        console.complain(view.words["no answer"].format(trace.outcome, trace.reason))
    raise typer.Exit(1)


def read_line(prompt: str) -> str:
    """A line from the person, without its blanks; "exit" at the end of the input."""
    try:
        return input(prompt).strip()
    except (EOFError, KeyboardInterrupt):
        print()
        return "exit"


def mount_commands() -> None:
    """Add the commands that exporters bring (`notion setup`); loaded only when asked for, and for the help."""
    asked = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    for entry in entry_points(group="react_lab.commands"):
        if asked in (None, entry.name):
            app.add_typer(entry.load(), name=entry.name)


UsageError = typer.BadParameter.__base__  # typer keeps its own copy of click and does not export this class


def main() -> None:
    """Run the command line; every failure that was foreseen is one line on stderr and an exit code."""
    console.prepare_streams()
    try:
        console.log_if_asked()
        mount_commands()
        sys.exit(app(sys.argv[1:] or ["--help"], prog_name="react-lab", standalone_mode=False) or 0)
    except BrokenPipeError:
        console.close_stdout()
        console.complain("the output was closed before everything was printed; the trace is kept in ./runs/")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except ValueError as error:  # ConfigurationError is one
        console.complain(str(error))
        sys.exit(2)
    except ReactLabError as error:
        console.complain(str(error))
        sys.exit(1)
    except Exception as error:
        if UsageError is None or not isinstance(error, UsageError):
            raise
        console.complain(error.format_message())  # type: ignore[attr-defined]
        sys.exit(2)
