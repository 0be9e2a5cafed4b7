"""Many questions: each agent answers each of them, on any executor, and what came of it is scored and kept.

Answers are compared as SQuAD does it (arXiv 1606.05250 §6): exact match, and F1 over words; Chinese characters count as
words. An agent answers in sentences, so `holds` tells besides whether the answer holds the expected one.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from react_lab.errors import ConfigurationError
from react_lab.messages import known_fields
from react_lab.runner import Runner
from react_lab.trace import Trace

WORKERS = 4


@dataclass(frozen=True)
class Question:
    """What to ask, and the answers that would be right, if they are known."""

    id: str
    text: str
    gold: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """What came of a question. The scores are None without a known answer; `error` says why there is no trace."""

    id: str
    agent: str
    outcome: str
    answer: str | None = None
    model: str = ""
    steps: int = 0
    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    exact: bool | None = None
    f1: float | None = None
    holds: bool | None = None
    error: str | None = None


Make = Callable[[], Runner]
Answer = tuple[Result, str | None]  # and the text of the trace, if there is one


def evaluate(
    questions: Sequence[Question],
    agents: Mapping[str, Make],
    *,
    executor: Executor | None = None,
    folder: str | Path | None = None,
    on_result: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Have every agent answer every question.

    Args:
        questions: What to ask.
        agents: For each name a function that makes the agent; an executor of other processes has to pickle it.
        executor: Any executor; threads by default.
        folder: Where `results.jsonl` is written as results come, and a trace of each run, `AGENT/QUESTION.jsonl`. What
            is there already and did not fail is not asked again.
        on_result: Told of every new result as it comes.
    Returns:
        One result for each agent and question, agent by agent, in the order of the questions.
    """
    kept = _kept(folder)
    todo = [(question, name) for name in agents for question in questions if (name, question.id) not in kept]
    pool = executor or ThreadPoolExecutor(WORKERS)
    futures = {pool.submit(answer, question, name, agents[name]): (question, name) for question, name in todo}

    def keep(done: Iterable[Future[Answer]]) -> None:
        for future in done:
            question, name = futures.pop(future)
            result, trace = _outcome(future, question, name)
            _keep(folder, result, trace)
            kept[name, question.id] = result
            if on_result:
                on_result(result)

    try:
        keep(as_completed(list(futures)))
    except BaseException:
        keep(as_completed([future for future in futures if not future.cancel()]))  # what is under way is paid for
        raise
    finally:
        if executor is None:
            pool.shutdown()
    return [kept[name, question.id] for name in agents for question in questions]


def answer(question: Question, name: str, make: Make) -> Answer:
    """One run: its result, and its trace as text. Whatever goes wrong is a result too."""
    trace = None
    try:
        runner = make()
        trace = runner.start(question.text)
        runner.resume(trace)
    except Exception as error:  # one question must not stop the others
        failure = f"{type(error).__name__}: {error}"
        return Result(question.id, name, "error", error=failure), trace.to_jsonl() if trace else None
    return score(question, name, trace), trace.to_jsonl()


def score(question: Question, name: str, trace: Trace) -> Result:
    """What a run says of itself, and how its answer compares with the expected ones."""
    usage = trace.usage
    scores: dict[str, Any] = {}
    if question.gold:
        said = without_sources(trace.answer or "")
        scores["exact"] = any(words(said) == words(gold) for gold in question.gold)
        scores["f1"] = round(max(f1(said, gold) for gold in question.gold), 4)
        scores["holds"] = any(holds(said, gold) for gold in question.gold)
    return Result(
        id=question.id,
        agent=name,
        outcome=trace.outcome,
        answer=trace.answer,
        model=trace.model,
        steps=len(trace.steps),
        calls=sum(len(step.calls) for step in trace.steps),
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cost_usd=trace.cost_usd,
        seconds=trace.seconds,
        **scores,
    )


# -- comparing answers ---------------------------------------------------------------------------------------

ARTICLES = {"a", "an", "the"}
SOURCES = re.compile(r"(?ms)^\s*(?:Sources?|来源)\s*[:：].*\Z")
CITATION = re.compile(r"\[\d+(?:, *\d+)*\]")


def without_sources(text: str) -> str:
    """The answer without its list of sources and without citations."""
    return CITATION.sub("", SOURCES.sub("", text)).strip()


WORD = re.compile(r"(?<![\w)])-?\d+(?:\.\d+)?|[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")


def words(text: str) -> list[str]:
    """The words that are compared: small letters, no punctuation, no articles; each Chinese character is one."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return [word for word in WORD.findall(re.sub(r"(?<=\d),(?=\d{3})", "", plain)) if word not in ARTICLES]


def f1(said: str, gold: str) -> float:
    """The harmonic mean of precision and recall over words."""
    ours, theirs = Counter(words(said)), Counter(words(gold))
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def holds(said: str, gold: str) -> bool:
    """Whether the words of the expected answer stand in the answer, one after the other."""
    text, wanted = words(said), words(gold)
    return any(text[i : i + len(wanted)] == wanted for i in range(len(text) - len(wanted) + 1)) if wanted else False


# -- files ---------------------------------------------------------------------------------------------------


def read_questions(path: str | Path) -> list[Question]:
    """Questions from JSON Lines or CSV: `question`, and if known `answer` (a text or a list) and `id`.

    Raises:
        ConfigurationError: the file can't be read, or has no such column; the message names the line.
    """
    source = Path(path)
    try:
        text = source.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"can't read {source}: {error}") from error
    rows = list(csv.DictReader(io.StringIO(text))) if source.suffix.lower() == ".csv" else list(_objects(source, text))
    questions = [_question(source, number, row) for number, row in enumerate(rows, start=1)]
    twice = [id for id, count in Counter(question.id for question in questions).items() if count > 1]
    if twice:
        raise ConfigurationError(f"{source}: the id {twice[0]!r} stands there more than once")
    if not questions:
        raise ConfigurationError(f"{source} holds no question")
    return questions


def _objects(source: Path, text: str) -> Iterator[Any]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                raise ConfigurationError(f"{source}, line {number}: no JSON ({error})") from error


def _question(source: Path, number: int, row: Any) -> Question:
    text = row.get("question") if isinstance(row, dict) else row
    if not isinstance(text, str) or not text.strip():
        raise ConfigurationError(f'{source}, row {number}: it needs a "question"')
    given = row.get("answer") if isinstance(row, dict) else None
    gold = [given] if isinstance(given, str) else given or []
    id = str((row.get("id") if isinstance(row, dict) else None) or number)
    if set(id) & set('/\\:*?"<>|') or id.strip(".") == "":
        raise ConfigurationError(f"{source}, row {number}: the id {id!r} can't be the name of a file")
    return Question(id, text, tuple(str(item) for item in gold if str(item).strip()))


def _kept(folder: str | Path | None) -> dict[tuple[str, str], Result]:
    """The results of an earlier call that need not be made again; a last line that was cut off counts as none."""
    path = Path(folder) / "results.jsonl" if folder else None
    if path is None or not path.exists():
        return {}
    *lines, rest = path.read_text(encoding="utf-8").split("\n")
    if rest:
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    results = (known_fields(Result, json.loads(line)) for line in lines)
    return {(result.agent, result.id): result for result in results if result.error is None}


def _keep(folder: str | Path | None, result: Result, trace: str | None) -> None:
    if folder is None:
        return
    path = Path(folder) / result.agent / f"{result.id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    if trace is not None:
        path.write_text(trace, encoding="utf-8", errors="backslashreplace", newline="\n")
    with (Path(folder) / "results.jsonl").open("a", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")


def _outcome(future: Future[Answer], question: Question, name: str) -> Answer:
    """What a future holds; an executor may fail too (a worker that was killed too often)."""
    try:
        return future.result()
    except Exception as error:
        return Result(question.id, name, "error", error=f"{type(error).__name__}: {error}"), None


def summary(results: Iterable[Result]) -> list[dict[str, Any]]:
    """A row for each agent: how many were answered, and the means of what is known."""
    rows = []
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.agent, []).append(result)
    for name, group in groups.items():
        rows.append(
            {
                "agent": name,
                "questions": len(group),
                "answered": sum(result.outcome == "answered" for result in group),
                **{field: mean([getattr(result, field) for result in group]) for field in MEANS},
            }
        )
    return rows


MEANS = ("exact", "f1", "holds", "steps", "calls", "input_tokens", "output_tokens", "cost_usd", "seconds")


def mean(values: Sequence[float | None]) -> float | None:
    """Of the values that are known; None if none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """The executor of a Dask cluster; its workers need react-lab, and the key of the provider, too.

    Raises:
        ConfigurationError: Dask is not installed, or nothing answers at the address.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ConfigurationError("--dask needs Dask: pip install 'react-lab[dask]'") from None
    try:
        client = Client(address, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"no Dask scheduler answers at {address}: {error}") from error
    with client, client.get_executor() as executor:  # type: ignore[no-untyped-call]
        yield executor
