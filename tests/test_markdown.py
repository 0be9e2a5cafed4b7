import os
import sys
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from react_lab.errors import ConfigurationError
from react_lab.messages import Reply, ToolCall, Usage
from react_lab.models.scripted import ScriptedModel
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.base import tool
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Trace
from react_lab_exporters.exporter import Exporter, Published
from react_lab_exporters.files import file_name
from react_lab_exporters.markdown import MarkdownExporter, quoted, render
from react_lab_exporters.note import note_from_trace
from tests.payloads import PAYLOADS

URL = "https://example.org/a"


@tool
def search(query: str) -> str:
    """Look something up."""
    return f"{query} ({URL})"


def make_trace(
    question="What is it?", thought="I look.", query="it", answer="It is *that*.", model="scripted"
) -> Trace:
    call = ToolCall("c1", "search", {"query": query})
    replies = [Reply(text=thought, tool_calls=(call,), usage=Usage(100, 20)), answer]
    return ToolUseAgent(ScriptedModel(replies, name=model), ToolRegistry([search])).run(question)


def parts(text: str) -> tuple[dict, str]:
    """Front matter and body, as a reader of YAML and Markdown takes them."""
    _, front, body = text.split("---\n", 2)
    return yaml.safe_load(front), body


def publish(trace: Trace, folder: Path, **options) -> Published:
    [published] = MarkdownExporter().publish([trace], to=folder, **options)
    return published


def the_file(folder: Path) -> Path:
    [path] = folder.iterdir()
    return path


def test_the_exporter_is_found_by_its_entry_point():
    [entry] = entry_points(group="react_lab.exporters", name="markdown")
    exporter: Exporter = entry.load()()
    assert exporter.name == "markdown"


def test_react_lab_never_imports_its_exporters():
    package = Path(sys.modules["react_lab"].__file__).parent
    assert not [path for path in package.rglob("*.py") if "import react_lab_exporters" in path.read_text("utf-8")]
    assert not [path for path in package.rglob("*.py") if "from react_lab_exporters" in path.read_text("utf-8")]


def test_a_run_becomes_one_file_with_front_matter_and_sections(tmp_path):
    trace = make_trace()
    assert publish(trace, tmp_path / "notes").action == "created"
    front, body = parts(the_file(tmp_path / "notes").read_text("utf-8"))
    assert front["title"] == front["question"] == "What is it?"
    assert (front["model"], front["run_id"], front["outcome"]) == ("scripted", trace.id, "answered")
    assert (front["tokens_in"], front["tokens_out"], front["tags"]) == (100, 20, ["react-lab"])
    assert front["date"] == trace.run["started_at"]
    assert front["sources"] == [URL]
    assert "cost_usd" not in front
    headings = [line for line in body.splitlines() if line.startswith("#")]
    assert headings == [
        "# What is it?",
        "## Answer",
        "## Findings",
        "## Sources",
        "## How it was found",
        "### Step 1",
        "### Step 2",
    ]
    assert "> It is *that*." in body
    assert f"- <{URL}>" in body
    assert '`search(query="it")` → Finding 1' in body


def test_a_chinese_question_makes_a_chinese_note_with_a_chinese_file_name(tmp_path):
    publish(make_trace("上海和北京的温差是多少度？", answer="3 度"), tmp_path)
    assert "上海和北京的温差是多少度" in the_file(tmp_path).name
    assert "## 回答\n\n> 3 度\n" in the_file(tmp_path).read_text("utf-8")
    assert "### 第 1 步" in the_file(tmp_path).read_text("utf-8")


def test_the_note_says_that_the_offline_stand_in_answered(tmp_path):
    assert "offline stand-in" in render(note_from_trace(make_trace(model="offline")))
    assert "离线替身" in render(note_from_trace(make_trace("多少？", model="offline")))
    assert "stand-in" not in render(note_from_trace(make_trace()))


def test_a_run_without_an_answer_says_so():
    trace = ToolUseAgent(ScriptedModel([Reply(text="No.", stop_reason="refusal")]), ToolRegistry()).run("How?")
    assert "> There is no answer (refused): No." in render(note_from_trace(trace))


# -- again ---------------------------------------------------------------------------------------------------


def test_publishing_again_does_not_touch_the_file(tmp_path):
    trace = make_trace()
    publish(trace, tmp_path)
    path = the_file(tmp_path)
    os.utime(path, (1, 1))
    before = path.read_bytes()
    assert publish(trace, tmp_path) == Published(str(path), "unchanged")
    assert path.stat().st_mtime == 1
    assert the_file(tmp_path).read_bytes() == before


def test_a_trace_read_from_its_file_makes_the_same_note(tmp_path):
    trace = make_trace("Why <b> & 为什么?")
    loaded = Trace.load(trace.save(tmp_path / "run.jsonl"))
    assert render(note_from_trace(loaded)) == render(note_from_trace(trace))


def test_what_the_person_wrote_into_a_note_stays(tmp_path):
    trace = make_trace()
    publish(trace, tmp_path)
    path = the_file(tmp_path)
    path.write_text(path.read_text("utf-8") + "\nMy own thought.\n", encoding="utf-8")
    assert publish(trace, tmp_path).action == "unchanged"
    assert path.read_text("utf-8").endswith("My own thought.\n")


def test_a_run_that_went_on_updates_its_note(tmp_path):
    trace = make_trace()
    publish(Trace(trace.events[:-1]), tmp_path)
    assert publish(trace, tmp_path).action == "updated"
    assert parts(the_file(tmp_path).read_text("utf-8"))[0]["outcome"] == "answered"


@pytest.mark.parametrize("edit", ["{}\nmine\n", "mine\n", "", "---\ntitle: mine\n---\n{}"])
def test_a_run_that_went_on_leaves_an_edited_note_alone(tmp_path, edit):
    trace = make_trace()
    publish(Trace(trace.events[:-1]), tmp_path)
    path = the_file(tmp_path)
    mine = edit.replace("{}", path.read_text("utf-8"))
    path.write_text(mine, encoding="utf-8")
    assert publish(trace, tmp_path).action == "kept"
    assert the_file(tmp_path).read_text("utf-8") == mine


def test_line_ends_of_windows_are_no_edit(tmp_path):
    trace = make_trace()
    publish(Trace(trace.events[:-1]), tmp_path)
    path = the_file(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert publish(trace, tmp_path).action == "updated"


def test_two_runs_of_one_question_are_two_notes(tmp_path):
    actions = MarkdownExporter().publish([make_trace(), make_trace()], to=tmp_path)
    assert [item.action for item in actions] == ["created", "created"]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_dry_run_writes_nothing(tmp_path):
    trace = make_trace()
    assert publish(trace, tmp_path / "notes", dry_run=True).action == "would create"
    assert not (tmp_path / "notes").exists()
    publish(Trace(trace.events[:-1]), tmp_path / "notes")
    before = the_file(tmp_path / "notes").read_bytes()
    assert publish(trace, tmp_path / "notes", dry_run=True).action == "would update"
    assert the_file(tmp_path / "notes").read_bytes() == before


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "notes").write_text("I am a file", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="notes"):
        publish(make_trace(), tmp_path / "notes")
    assert (tmp_path / "notes").read_text("utf-8") == "I am a file"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs a user who may not write everywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigurationError, match="Permission denied"):
        publish(make_trace(), tmp_path)
    tmp_path.chmod(0o700)


def test_the_experiment_sheet_leaves_room_for_the_person(tmp_path):
    publish(make_trace(query="a | b"), tmp_path, template="experiment")
    text = the_file(tmp_path).read_text("utf-8")
    assert "## Objective\n\n- [ ] What do I want to find out" in text
    assert "| Model | `scripted` |" in text
    assert publish(make_trace(), tmp_path).action == "created"  # another run


# -- text of others ------------------------------------------------------------------------------------------

HOSTILE = [
    "---\ntitle: other\n---",
    "```\nnever closed",
    "~~~~~\n```\n~~~\n<img src=x>",
    "<script>alert(1)</script>",
    "\\<img src=https://evil.example/x.png>",
    "![x](https://evil.example/x.png)",
    "\\![x](https://evil.example/x.png)",
    "![x]\n\n[x]: https://evil.example/x.png",
    "- ~~~\n```\n<b>not code</b>\n```",
    "\t<div>\n\n\t```\n<b>",
    "<!--",
    "%%",
    "# A heading\n\nSetext\n===",
    "a ```` b ``` c ` d",
    'quote " backslash \\ colon: # hash',
    "\x00\x07\x1b[31m\x85\u2028\ufeff\U000e0041",
    "\ud800",
    "\r\r\n\r",
    "> > - 1. ```\n> > <img src=x>",
    "[^1]:\n\n    ```\n<img src=x>",
]
# The offending pieces, joined in any order, with the line ends and indents that Markdown cares about.
hostile_text = st.lists(
    st.sampled_from([*HOSTILE, "\n", "\n\n", "    ", "\t", "> ", "- ", "`", "```", "~~~", "<b>", "![", "text", "\\"]),
    min_size=1,
    max_size=12,
).map("".join)


def assert_contained(question: str, thought: str, query: str, answer: str) -> None:
    """No HTML, no image, our headings and no others, front matter that YAML reads."""
    note = note_from_trace(make_trace("q " + question, thought, query, answer + " a"))
    front, body = parts(render(replace(note, language="en")))
    assert front["outcome"] == "answered"
    tokens = MarkdownIt("commonmark").parse(body)
    flat = tokens + [child for token in tokens for child in token.children or ()]
    assert not {"html_block", "html_inline", "image"} & {token.type for token in flat}
    top = [token for token in tokens if token.level == 0]
    headings = [tokens[tokens.index(token) + 1].content for token in top if token.type == "heading_open"]
    assert headings[-6:] == ["Answer", "Findings", "Sources", "How it was found", "Step 1", "Step 2"]
    assert len(headings) in (7, 8)  # title, and the question where the title is shorter


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_place(text):
    assert_contained(text, text, text, text)


@pytest.mark.parametrize("template", ["research", "experiment"])
@pytest.mark.parametrize("text", [*HOSTILE, *PAYLOADS])
def test_hostile_names_stay_in_their_place(text, template):
    """Of a file that somebody sent: names of models, tools, settings and nodes are not ours either."""
    trace = make_trace("q " + text, text, text, text + " a")
    trace.run.update(model=text, agent=text, settings={text: text}, tools=[{"name": text}])
    trace.events[-1].update(findings=[{"text": text, "sources": [text]}], sources=[text], notes=[text])
    note = note_from_trace(trace)
    note = replace(note, steps=tuple(replace(step, node=text) for step in note.steps))
    tokens = MarkdownIt("commonmark").parse(parts(render(note, template))[1])
    flat = tokens + [child for token in tokens for child in token.children or ()]
    assert not {"html_block", "html_inline", "image"} & {token.type for token in flat}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_text, hostile_text, hostile_text, hostile_text)
def test_hostile_text_of_every_shape_stays_in_its_place(question, thought, query, answer):
    assert_contained(question, thought, query, answer)


@given(st.text())
def test_every_text_survives_the_front_matter(text):
    line = quoted(text)
    assert "\n" not in line
    assert yaml.safe_load(line) == text


def test_code_in_an_answer_is_kept_word_for_word():
    answer = "Use this:\n\n1. First\n   ```cpp\n   vector<int> v; // ![x]\n   ```\n\nand `a` but <b>not</b> this."
    text = render(note_from_trace(make_trace(answer=answer)))
    assert ">    vector<int> v; // ![x]\n" in text
    assert "&lt;b>not&lt;/b>" in text


def test_an_observation_is_kept_word_for_word_in_a_fence_longer_than_any_in_it():
    text = render(note_from_trace(make_trace(query="```` <b> **x**")))
    assert f"\n`````text\n```` <b> **x** ({URL})\n`````\n" in text


def test_a_source_that_is_no_address_is_no_link():
    trace = make_trace()
    trace.events[-1]["sources"] = ["https://a.example/> <img src=x>", "javascript:alert(1)"]
    text = render(note_from_trace(trace))
    assert "- https://a.example/> &lt;img src=x>\n- javascript:alert(1)" in text


@pytest.mark.parametrize(
    ("question", "run_id"),
    [
        ('a/b\\c:d*e?f"g<h>i|j', "abc"),
        ("...", "../../etc/passwd"),
        ("CON", "x" * 500),
        ("長" * 500, "abc"),
        ("𠮷" * 500, "abc"),
        ("🙂🙂 \ud800 \x00", "abc"),
    ],
)
def test_a_file_name_is_legal_everywhere(question, run_id, tmp_path):
    trace = make_trace(question)
    trace.run["id"] = run_id
    name = file_name(note_from_trace(trace), ".md")
    assert not set(name) & set('/\\:*?"<>|')
    assert name.isprintable()
    assert len((name + ".part").encode()) <= 255
    assert not name.startswith(".")
    assert publish(trace, tmp_path).action == "created"
    assert the_file(tmp_path).name == name
