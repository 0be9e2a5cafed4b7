import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_lab.course.workspace import check_port, copy_lessons, lab, lessons_folder, prepare
from react_lab.errors import ConfigurationError


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_workspace_holds_the_lessons_of_both_languages(tmp_path):
    first = prepare(tmp_path / "new" / "workspace", "zh")
    assert first == (tmp_path / "new" / "workspace").resolve() / "zh" / "00_start.ipynb"
    there = files(tmp_path / "new" / "workspace")
    shipped = {name: content for name, content in files(lessons_folder()).items() if name.endswith(".ipynb")}
    assert shipped
    assert there.keys() - shipped.keys() == {f".react-lab/copied/{name}" for name in shipped}
    assert {name: there[name] for name in shipped} == shipped


def test_preparing_again_changes_nothing(tmp_path):
    lesson = prepare(tmp_path, "en")
    os.utime(lesson, (1, 1))
    before = files(tmp_path)
    prepare(tmp_path, "en")
    assert files(tmp_path) == before
    assert lesson.stat().st_mtime == 1


def test_what_the_learner_wrote_stays_and_a_deleted_lesson_comes_back(tmp_path):
    lesson = prepare(tmp_path, "en")
    lesson.write_text("mine", encoding="utf-8")
    (tmp_path / "zh" / "00_start.ipynb").unlink()
    (tmp_path / "en" / "my own.ipynb").write_text("also mine", encoding="utf-8")
    prepare(tmp_path, "en")
    assert lesson.read_text("utf-8") == "mine"
    assert (tmp_path / "zh" / "00_start.ipynb").exists()
    assert (tmp_path / "en" / "my own.ipynb").read_text("utf-8") == "also mine"


def test_a_file_that_was_there_before_is_left_alone(tmp_path):
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "00_start.ipynb").write_text("mine", encoding="utf-8")
    assert prepare(tmp_path, "en").read_text("utf-8") == "mine"


def test_without_the_second_copy_a_lesson_is_the_learners(tmp_path):
    lesson = prepare(tmp_path, "en")
    lesson.write_text("mine", encoding="utf-8")
    shutil.rmtree(tmp_path / ".react-lab" / "copied")
    assert prepare(tmp_path, "en").read_text("utf-8") == "mine"


NAMES = ["en/00_start.ipynb", "zh/00_start.ipynb", "en/01_tool.ipynb"]
writes = st.tuples(st.sampled_from(["the learner", "the course"]), st.sampled_from(NAMES), st.binary(max_size=3))
events = st.lists(st.one_of(st.just("prepare"), st.just("lose the copies"), writes), max_size=20)


@settings(max_examples=60, deadline=None)
@given(events)
def test_nothing_that_a_learner_wrote_is_ever_lost(happening):
    """And what no learner touched is up to date, as long as the second copies are there."""
    with TemporaryDirectory() as folder:
        lessons, workspace = Path(folder, "lessons"), Path(folder, "workspace")
        for path in [
            workspace / ".react-lab",
            *(top / language for top in (lessons, workspace) for language in ("en", "zh")),
        ]:
            path.mkdir(parents=True)
        written: dict[str, bytes] = {}
        copies_lost = False
        for event in [*happening, "prepare"]:
            match event:
                case "prepare":
                    copy_lessons(lessons, workspace)
                case "lose the copies":
                    shutil.rmtree(workspace / ".react-lab" / "copied", ignore_errors=True)
                    copies_lost = True
                case ("the learner", name, content):
                    written[name] = b"learner " + content
                    (workspace / name).write_bytes(written[name])
                case ("the course", name, content):
                    (lessons / name).write_bytes(b"course " + content)
        there = files(workspace)
        assert written.items() <= there.items()
        if not copies_lost:
            untouched = {name: content for name, content in files(lessons).items() if name not in written}
            assert untouched.items() <= there.items()
        assert not [name for name in there if name.endswith(".part")]


@pytest.mark.parametrize("below", ["", "workspace", "deep/workspace"])
def test_a_workspace_that_is_a_file_is_named(tmp_path, below):
    (tmp_path / "file").write_text("I am a file", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"can't write the workspace .*file.*--dir"):
        prepare(tmp_path / "file" / below, "en")
    assert (tmp_path / "file").read_text("utf-8") == "I am a file"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs a user who may not write everywhere")
def test_a_workspace_that_cannot_be_written_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigurationError, match="Permission denied"):
        prepare(tmp_path / "workspace", "en")
    tmp_path.chmod(0o700)


def test_a_port_in_use_is_named_with_the_way_out(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=rf"can't use port {port}: .*--port"):
            lab(tmp_path, "en", browser=False, port=port)
    check_port(port)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_cannot_exist_is_refused(port):
    with pytest.raises(ConfigurationError, match=f"can't use port {port}: it must be between 0 and 65535"):
        check_port(port)


# -- JupyterLab, in a process of its own ---------------------------------------------------------------------

LAB = "import sys; from react_lab.course.workspace import lab; lab(sys.argv[1], sys.argv[2], browser=False)"
not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="a test can't press Ctrl-C there")


@contextmanager
def running_lab(home: Path, language: str):
    """JupyterLab as a person starts it, without that person's own settings."""
    places = {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    process = subprocess.Popen(
        [sys.executable, "-c", LAB, str(home / "workspace"), language],
        env={**os.environ, **places, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def get(address: str, **headers: str) -> tuple[int, str]:
    url = urlsplit(address)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
    connection.request("GET", f"{url.path}?{url.query}", headers=headers)
    response = connection.getresponse()
    status, text = response.status, response.read().decode()
    connection.close()
    return status, text


@pytest.mark.slow
@not_on_windows
def test_jupyterlab_opens_the_first_lesson_and_stops_on_ctrl_c(tmp_path):
    foreign = tmp_path / "data" / "kernels" / "python3" / "kernel.json"  # of another Python, by the same name
    foreign.parent.mkdir(parents=True)
    foreign.write_text('{"argv": ["other-python"], "display_name": "Other"}', encoding="utf-8")
    with running_lab(tmp_path, "zh") as process:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:(\d+)/lab/tree/zh/00_start\.ipynb\?token=\S+", line)[0]
        status, page = get(address)
        assert status == 200
        assert '"news": {"disabled": true}' in page
        server, token = address.split("/lab")[0], address.split("token=")[1]
        assert get(address.split("?")[0])[0] != 200  # without the token
        status, lesson = get(f"{server}/api/contents/zh/00_start.ipynb", Authorization=f"token {token}")
        assert (status, json.loads(lesson)["type"]) == (200, "notebook")
        _, specs = get(f"{server}/api/kernelspecs", Authorization=f"token {token}")
        assert json.loads(specs)["kernelspecs"]["python3"]["spec"]["argv"][0] == sys.executable
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert errors == ""
    assert output.splitlines()[-1].startswith("已停止")


@pytest.mark.slow
@not_on_windows
def test_where_the_port_is_in_use_the_next_lab_takes_another(tmp_path):
    with running_lab(tmp_path / "a", "en") as first:
        port = re.search(r"127\.0\.0\.1:(\d+)/", first.stdout.readline())[1]
        with running_lab(tmp_path / "b", "en") as second:
            assert re.search(r"127\.0\.0\.1:(\d+)/", second.stdout.readline())[1] != port
