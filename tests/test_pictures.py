"""Drawings of tools in the player: shown where they are ours, and nothing else is read."""

from pathlib import Path

import pytest

from react_lab import Reply, ScriptedModel, ToolCall, ToolRegistry, ToolUseAgent, Trace, tool
from react_lab.replay.pictures import MAX_BYTES, PNG
from react_lab.replay.story import story, tell


def drawn(content: str, folder: Path, name: str = "t") -> Trace:
    @tool
    def table(name: str) -> str:
        """Sum up a file."""
        return content

    call = Reply(tool_calls=(ToolCall("1", "table", {"name": "a.csv"}),))
    agent = ToolUseAgent(ScriptedModel([call, "Done."]), ToolRegistry([table]))
    return agent.run("?", save=folder / "runs" / f"{name}.jsonl")


def pictures(trace: Trace) -> list[str]:
    return [
        part["picture"] for step in tell(story(trace), "en")["steps"] for part in step["parts"] if "picture" in part
    ]


@pytest.fixture
def plots(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "plots"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("label", ["Plot: ", "图："])
def test_a_drawing_beside_the_trace_is_shown(tmp_path: Path, plots: Path, label: str) -> None:
    (plots / "a_bar-12.png").write_bytes(PNG + b"image")
    trace = drawn(f"3 rows\n\n{label}runs/plots/a_bar-12.png (the person sees it)", tmp_path)
    (picture,) = pictures(trace)
    assert picture.startswith("data:image/png;base64,")
    assert picture in trace.to_html()
    assert pictures(Trace.load(tmp_path / "runs" / "t.jsonl")) == [picture]


@pytest.mark.parametrize("name", ["../../secret.png", "/etc/secret.png", "runs/plots/missing.png", "C:\\secret.png"])
def test_a_file_elsewhere_is_not_read(tmp_path: Path, plots: Path, name: str) -> None:
    (tmp_path / "secret.png").write_bytes(PNG)
    assert pictures(drawn(f"Plot: {name}", tmp_path)) == []


def test_what_is_no_png_too_large_or_a_link_is_not_shown(tmp_path: Path, plots: Path) -> None:
    (plots / "text.png").write_text("<svg onload=alert(1)>", encoding="utf-8")
    (plots / "large.png").write_bytes(PNG + bytes(MAX_BYTES))
    (tmp_path / "secret.png").write_bytes(PNG)
    (plots / "link.png").symlink_to(tmp_path / "secret.png")
    (plots / "good.png").write_bytes(PNG)
    shown = [len(pictures(drawn(f"Plot: {name}.png", tmp_path, name))) for name in ("text", "large", "link", "good")]
    assert shown == [0, 0, 0, 1]
