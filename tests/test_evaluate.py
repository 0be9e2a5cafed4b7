"""Many questions: scores, files, and going on where it stopped."""

import json
import os
import signal
import time
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path

import pytest

from react_lab import ConfigurationError, OfflineModel, ScriptedModel, TextReActAgent, ToolRegistry, Trace
from react_lab.evaluate import Question, Result, evaluate, f1, holds, read_questions, summary, words
from react_lab.modes import MODES, make_runner

QUESTIONS = [
    Question("sum", "What is 6 * 7?", ("42",)),
    Question("capital", "What is the capital of France?", ("Paris", "Lutetia")),
    Question("首都", "法国的首都是哪座城市？", ("巴黎",)),
]
TEXT = {"text": partial(make_runner, "offline", "text")}


# -- comparing answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Eiffel Tower!", ["eiffel", "tower"]),
        ("1,234.5 km", ["1234.5", "km"]),
        ("-6 °C", ["-6", "c"]),
        ("8849-8611", ["8849", "8611"]),
        ("法国的首都是巴黎。", list("法国的首都是巴黎")),
        ("Ｐａｒｉｓ", ["paris"]),
    ],
)
def test_what_is_compared_are_words_without_case_punctuation_and_articles(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    assert f1("Paris", "the Paris") == 1.0
    assert f1("Paris, France", "Paris") == pytest.approx(2 / 3)
    assert f1("Rome", "Paris") == f1("", "Paris") == 0.0


def test_an_answer_holds_what_stands_in_it_word_by_word() -> None:
    assert holds("The capital is New York City.", "New York")
    assert not holds("New bridges of York", "New York")
    assert not holds("It is 142.", "42")


# -- evaluating ----------------------------------------------------------------------------------------------


def test_every_agent_answers_every_question_and_is_scored() -> None:
    results = evaluate(QUESTIONS, {mode: partial(make_runner, "offline", mode) for mode in ("text", "plan")})
    assert [(result.agent, result.id) for result in results] == [
        (mode, question.id) for mode in ("text", "plan") for question in QUESTIONS
    ]
    assert all(result.holds and result.outcome == "answered" for result in results)
    assert results[0].exact is True
    assert results[1].f1 == pytest.approx(2 / 6, abs=1e-4)


def test_without_a_known_answer_there_is_no_score() -> None:
    [result] = evaluate([Question("1", "What is 6 * 7?")], TEXT)
    assert (result.exact, result.f1, result.holds) == (None, None, None)


def test_all_modes_can_be_compared_on_one_question() -> None:
    results = evaluate(QUESTIONS[1:2], {mode: partial(make_runner, "offline", mode) for mode in MODES})
    assert {result.agent: result.holds for result in results} == {
        "direct": False,  # the stand-in knows nothing without tools
        "thought": False,
        "text": True,
        "native": True,
        "plan": True,
        "research": True,
    }


def test_one_question_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    def broken() -> TextReActAgent:
        return TextReActAgent(ScriptedModel([]), ToolRegistry())

    results = evaluate([*QUESTIONS, Question("empty", " ")], {**TEXT, "broken": broken}, folder=tmp_path)
    assert [result.error is None for result in results] == [True, True, True, False] + [False] * 4
    assert "the question is empty" in (results[3].error or "")
    assert Trace.load(tmp_path / "broken" / "sum.jsonl").outcome == "error"


def test_results_and_traces_are_on_disk(tmp_path: Path) -> None:
    results = evaluate(QUESTIONS, TEXT, folder=tmp_path)
    lines = (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == sorted(question.id for question in QUESTIONS)
    assert [Trace.load(tmp_path / "text" / f"{question.id}.jsonl").answer for question in QUESTIONS] == [
        result.answer for result in results
    ]


def test_what_is_finished_is_not_asked_again_and_what_failed_is(tmp_path: Path) -> None:
    asked: list[str] = []

    def counting() -> TextReActAgent:
        asked.append("once")
        return TextReActAgent(OfflineModel(), ToolRegistry())

    def broken() -> TextReActAgent:
        raise ConnectionError("down")

    evaluate(QUESTIONS[:1], {"a": counting}, folder=tmp_path)
    evaluate(QUESTIONS[1:2], {"a": broken}, folder=tmp_path)
    told: list[Result] = []
    results = evaluate(QUESTIONS, {"a": counting}, folder=tmp_path, on_result=told.append)
    assert len(asked) == 3
    assert sorted(result.id for result in told) == ["capital", "首都"]
    assert [result.id for result in results] == [question.id for question in QUESTIONS]


def test_a_results_file_that_was_cut_off_is_gone_on_with(tmp_path: Path) -> None:
    evaluate(QUESTIONS, TEXT, folder=tmp_path)
    path = tmp_path / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    assert len(evaluate(QUESTIONS, TEXT, folder=tmp_path)) == 3
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


def test_an_interruption_keeps_what_is_under_way(tmp_path: Path) -> None:
    def interrupt(result: Result) -> None:
        if not seen:
            seen.append(result.id)
            raise KeyboardInterrupt

    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        evaluate(QUESTIONS, TEXT, folder=tmp_path, on_result=interrupt)
    assert len((tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()) >= 1
    assert len(evaluate(QUESTIONS, TEXT, folder=tmp_path)) == 3


def test_an_executor_that_fails_is_a_result_too() -> None:
    class Failing(Executor):
        def submit(self, *args: object, **options: object) -> Future:  # type: ignore[type-arg, override]
            future: Future[object] = Future()
            future.set_exception(RuntimeError("the worker was killed"))
            return future

    [result] = evaluate(QUESTIONS[:1], TEXT, executor=Failing())
    assert result.error == "RuntimeError: the worker was killed"


def test_the_summary_gives_means_of_what_is_known() -> None:
    rows = summary(evaluate(QUESTIONS, TEXT))
    assert (rows[0]["questions"], rows[0]["answered"], rows[0]["holds"], rows[0]["cost_usd"]) == (3, 3, 1.0, None)


# -- files ---------------------------------------------------------------------------------------------------


def test_questions_come_from_json_lines_or_csv(tmp_path: Path) -> None:
    lines, table = tmp_path / "q.jsonl", tmp_path / "q.csv"
    lines.write_text('{"id": "a", "question": "?", "answer": ["x", "y"]}\n\n"Bare?"\n', encoding="utf-8")
    table.write_text('\ufeffquestion,answer\n"法国的首都是哪座城市？",巴黎\nOpen?,\n', encoding="utf-8")
    assert read_questions(lines) == [Question("a", "?", ("x", "y")), Question("2", "Bare?")]
    assert read_questions(table) == [Question("1", "法国的首都是哪座城市？", ("巴黎",)), Question("2", "Open?")]


def test_a_question_may_hold_line_ends_of_any_kind(tmp_path: Path) -> None:
    lines, table = tmp_path / "q.jsonl", tmp_path / "q.csv"
    lines.write_text('"One\u2028two\x85three?"\n', encoding="utf-8")
    table.write_text('question,answer\n"One\ntwo?",2\n', encoding="utf-8")
    assert read_questions(lines) == [Question("1", "One\u2028two\x85three?")]
    assert read_questions(table) == [Question("1", "One\ntwo?", ("2",))]


def test_an_answer_with_a_line_separator_is_kept_as_it_is(tmp_path: Path) -> None:
    def answering(*replies: str) -> TextReActAgent:
        return TextReActAgent(ScriptedModel(replies), ToolRegistry())

    first = evaluate(QUESTIONS[:1], {"a": partial(answering, "Final Answer: 42\u2028yes")}, folder=tmp_path)
    assert evaluate(QUESTIONS[:1], {"a": answering}, folder=tmp_path) == first
    assert first[0].answer == "42\u2028yes"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no question"),
        ("{", "line 1: no JSON"),
        ('{"query": "?"}', 'row 1: it needs a "question"'),
        ('{"question": "?", "id": "../up"}', "can't be the name of a file"),
        ('{"question": "?", "id": "a"}\n{"question": "!", "id": "a"}', "'a' stands there more than once"),
    ],
)
def test_a_bad_file_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=told):
        read_questions(path)


# -- on a cluster --------------------------------------------------------------------------------------------


def kill_the_first_worker(flag: str) -> TextReActAgent:
    """An agent whose first maker takes its process with it."""
    try:
        Path(flag).touch(exist_ok=False)
    except FileExistsError:
        time.sleep(0.2)
        return make_runner("offline", "text")  # type: ignore[return-value]
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_a_dask_cluster_survives_the_death_of_a_worker(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    questions = [Question(str(number), f"What is {number} * 7?", (str(number * 7),)) for number in range(12)]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, local_directory=str(tmp_path)
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        make = partial(kill_the_first_worker, str(tmp_path / "killed"))
        results = evaluate(questions, {"text": make}, executor=client.get_executor(), folder=tmp_path / "out")
    assert (tmp_path / "killed").exists()
    assert [result.holds for result in results] == [True] * 12
    assert len(list((tmp_path / "out" / "text").glob("*.jsonl"))) == 12
