"""Notes as Markdown files with front matter: one a run, for Obsidian, GitHub or any editor."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from markdown_it import MarkdownIt

from react_lab.errors import ConfigurationError
from react_lab.messages import ToolCall, ToolResult
from react_lab.trace import Step, Trace
from react_lab_exporters.exporter import Action, Published
from react_lab_exporters.note import Note, note_from_trace

MAX_SLUG_CHARS = 50  # of up to 4 bytes each: with date and id, well within the 255 bytes of a file name

WORDS = {
    "en": {
        "question": "Question",
        "answer": "Answer",
        "findings": "Findings",
        "sources": "Sources",
        "steps": "How it was found",
        "step": "Step",
        "finding": "Finding",
        "failed": "failed",
        "reminder": "The reply could not be read; the model was told:",
        "no answer": "There is no answer",
        "stand-in": "Answered by the offline stand-in: a small set of rules, not a language model.",
    },
    "zh": {
        "question": "问题",
        "answer": "回答",
        "findings": "发现",
        "sources": "来源",
        "steps": "查找过程",
        "step": "第",
        "finding": "发现",
        "failed": "失败",
        "reminder": "这条回复无法解析，模型收到的提醒：",
        "no answer": "没有答案",
        "stand-in": "由离线替身作答：它只是一小组规则，不是语言模型。",
    },
}


class MarkdownExporter:
    """One file a run, named by date, question and run id.

    The front matter keeps a hash of the note as it was written. A run that has not changed leaves its file
    alone, whatever the person has made of it; a run that has changed replaces only a file that nobody edited.
    """

    name = "markdown"

    def publish(self, traces: Iterable[Trace], *, to: str | Path = "notes", dry_run: bool = False) -> list[Published]:
        """Write the runs' notes into the folder `to`.

        Raises:
            ConfigurationError: the folder or a file in it can't be read or written.
        """
        return [publish_note(note_from_trace(trace), Path(to), dry_run=dry_run) for trace in traces]


def publish_note(note: Note, folder: Path, *, dry_run: bool) -> Published:
    path = folder / file_name(note)
    text = seal(render(note))
    try:
        action = what_to_do(path, text)
        if action in ("unchanged", "kept"):
            return Published(str(path), action)
        if dry_run:
            return Published(str(path), "would create" if action == "created" else "would update")
        write(path, text)
    except OSError as error:
        raise ConfigurationError(f"can't write {path}: {error.strerror}") from error
    return Published(str(path), action)


def what_to_do(path: Path, text: str) -> Action:
    if not path.exists():
        return "created"
    there = path.read_text(encoding="utf-8", errors="replace")
    if recorded_hash(there) == recorded_hash(text):
        return "unchanged"
    return "updated" if recorded_hash(there) == content_hash(there) else "kept"


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", errors="replace", newline="\n")  # a lone surrogate becomes "?"
    part.replace(path)


def file_name(note: Note) -> str:
    """Letters and digits of any script and hyphens: legal on every system, and no way out of the folder."""
    slug = hyphenated(note.question)[:MAX_SLUG_CHARS].rstrip("-").lower()
    parts = (hyphenated(note.started_at[:10]), slug, hyphenated(note.run_id)[:32])
    return "-".join(part for part in parts if part) + ".md"


def hyphenated(text: str) -> str:
    return re.sub(r"[\W_]+", "-", text).strip("-")


# -- the hash in the front matter ----------------------------------------------------------------------------

HASH_LINE = re.compile(r'^content_hash: "?(\w*)"?\n', re.MULTILINE)  # editors of front matter drop the quotes
NO_HASH = 'content_hash: ""\n'


def seal(text: str) -> str:
    """The note with its hash filled in."""
    return text.replace(NO_HASH, f'content_hash: "{content_hash(text)}"\n', 1)


def recorded_hash(text: str) -> str | None:
    found = HASH_LINE.search(text)
    return found[1] if found else None


def content_hash(text: str) -> str:
    return hashlib.sha256(HASH_LINE.sub("", text, count=1).encode("utf-8", errors="replace")).hexdigest()[:16]


# -- the note as text ----------------------------------------------------------------------------------------


def render(note: Note) -> str:
    """The note as Markdown, its hash still empty."""
    return "---\n" + "".join(front_matter(note)) + "---\n\n" + "\n\n".join(body(note)) + "\n"


def front_matter(note: Note) -> Iterator[str]:
    """YAML, each value on one line and quoted; what is unknown is left out."""
    fields: dict[str, str | int | float | tuple[str, ...] | None] = {
        "title": note.title,
        "question": note.question,
        "date": note.started_at,
        "tags": note.tags,
        "outcome": note.outcome,
        "model": note.model,
        "agent": note.agent,
        "tokens_in": note.input_tokens,
        "tokens_out": note.output_tokens,
        "cost_usd": note.cost_usd,
        "seconds": round(note.seconds, 3),
        "sources": note.sources,
        "run_id": note.run_id,
    }
    for name, value in fields.items():
        if isinstance(value, tuple):
            yield f"{name}: [{', '.join(quoted(item) for item in value)}]\n"
        elif value is not None:
            yield f"{name}: {quoted(value) if isinstance(value, str) else value}\n"
    yield NO_HASH


def quoted(text: str) -> str:
    """A YAML string in double quotes; what YAML does not allow in a file is written as its code point."""
    escaped = (char if char.isprintable() and char not in '"\\' else f"\\U{ord(char):08x}" for char in text)
    return '"' + "".join(escaped) + '"'


def body(note: Note) -> Iterator[str]:
    words = WORDS[note.language]
    yield f"# {one_line(note.title)}"
    if note.by_stand_in:
        yield f"*{words['stand-in']}*"
    if note.question != note.title:
        yield f"## {words['question']}"
        yield quotation(note.question)
    yield f"## {words['answer']}"
    yield quotation(note.answer or f"{words['no answer']} ({note.outcome}): {note.reason or '–'}")
    if note.findings:
        yield f"## {words['findings']}"
    for number, finding in enumerate(note.findings, start=1):
        yield f"{number}. {code(call_text(finding.call))}"
        yield fenced(finding.text)
        if finding.sources:
            yield links(finding.sources)
    if note.sources:
        yield f"## {words['sources']}"
        yield links(note.sources)
    yield f"## {words['steps']}"
    for step in note.steps:
        yield from step_text(note, step)


def step_text(note: Note, step: Step) -> Iterator[str]:
    words = WORDS[note.language]
    yield f"### {words['step']} {step.index}" + (" 步" if note.language == "zh" else "")
    if step.thought:
        yield quotation(step.thought)
    results = {result.call_id: result for result in step.results}
    for call in step.calls:
        yield from observation_text(note, call, results.get(call.id))
    if step.reminder is not None:
        yield words["reminder"]
        yield fenced(step.reminder)
    if step.answer is not None:
        yield f"→ {words['answer']}"


def observation_text(note: Note, call: ToolCall, result: ToolResult | None) -> Iterator[str]:
    words = WORDS[note.language]
    asked = code(call_text(call))
    if result is None:
        yield asked
    elif number := note.finding_number(result):
        yield f"{asked} → {words['finding']} {number}"
    else:
        yield f"{asked} → {words['failed']}" if result.is_error else asked
        yield fenced(result.content)


def call_text(call: ToolCall) -> str:
    arguments = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items())
    return f"{call.name}({', '.join(arguments)})"


# -- text that others wrote: questions, models, tools --------------------------------------------------------
#
# It must not become HTML, load an image, or reach beyond its own place in the note.


def harmless(line: str) -> str:
    """Markdown without HTML, embedded images and the comments of Obsidian (%% hides what follows)."""
    return line.replace("<", "&lt;").replace("![", "!\\[").replace("%%", "%\\%")


def one_line(text: str) -> str:
    return harmless(" ".join(text.split()))


def quotation(text: str) -> str:
    """A text that may be Markdown, as a block quotation: whatever it leaves open ends with the quotation.

    Code in fences is kept as it is; the parser, not a guess, says where that is.
    """
    lines = [f"> {line}" if line else ">" for line in normal_lines(text)]
    tokens = MarkdownIt("commonmark").disable(["html_block", "html_inline"]).parse("\n".join(lines))
    code_lines = {n for token in tokens if token.type == "fence" and token.map for n in range(*token.map)}
    return "\n".join(line if n in code_lines else harmless(line) for n, line in enumerate(lines))


def fenced(text: str) -> str:
    """A text word for word, in a fence longer than any in it."""
    fence = "`" * max(3, longest_run(text) + 1)
    return "\n".join([f"{fence}text", *normal_lines(text), fence])


def code(text: str) -> str:
    """A text on one line, as a span of code."""
    ticks = "`" * (longest_run(text) + 1)
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{' '.join(text.split())}{pad}{ticks}"


def longest_run(text: str) -> int:
    """How many backticks stand together at most."""
    return max(map(len, re.findall("`+", text)), default=0)


def links(urls: Iterable[str]) -> str:
    whole = re.compile(r"https?://[^\s<>]+")
    return "\n".join(f"- <{url}>" if whole.fullmatch(url) else f"- {one_line(url)}" for url in urls)


def normal_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
