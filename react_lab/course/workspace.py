"""A learner's workspace: a folder with copies of the lessons, and JupyterLab open in it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from react_lab.errors import ConfigurationError
from react_lab.language import Language

FIRST_LESSON = "00_start.ipynb"
DEFAULT_PORT = 8888
LOOPBACK = "127.0.0.1"

OPEN = {"en": "JupyterLab: {}\nCtrl-C stops it.", "zh": "JupyterLab：{}\n按 Ctrl-C 停止。"}
STOPPED = {"en": "Stopped. Your work is in {}", "zh": "已停止。你的文件都在 {}"}


def prepare(folder: str | Path, language: Language) -> Path:
    """Copy the lessons into a workspace; what the learner changed is never overwritten.

    A lesson that is missing is copied. One that is still as it was copied is brought up to date. Any other
    is the learner's, and is left alone.

    Args:
        folder: The workspace; made if it isn't there.
        language: Whose first lesson is given back; the lessons of both languages are copied.
    Returns:
        The first lesson in the workspace.
    Raises:
        ConfigurationError: the folder can't be written.
    """
    workspace = Path(folder).resolve()
    try:
        (workspace / ".react-lab").mkdir(parents=True, exist_ok=True)
        copy_lessons(lessons_folder(), workspace)
    except OSError as error:
        raise ConfigurationError(
            f"can't write the workspace {workspace}: {error.strerror}; choose another folder with --dir"
        ) from error
    return workspace / language / FIRST_LESSON


def copy_lessons(lessons: Path, workspace: Path) -> None:
    """Copy each lesson that is not the learner's; each is kept a second time, as it was copied."""
    for lesson in sorted(lessons.glob("[ez][nh]/*.ipynb")):
        name = lesson.relative_to(lessons).as_posix()
        target, new = workspace / name, lesson.read_bytes()
        there, copied = content(target), content(as_copied(workspace, name))
        if there in (None, copied, new):  # else it is the learner's
            hand_out(workspace, name, new)


def hand_out(workspace: Path, name: str, new: bytes) -> None:
    """Put a lesson into the workspace, and its second copy after it: without one, a lesson is the learner's."""
    for path in (workspace / name, as_copied(workspace, name)):
        if content(path) != new:
            write(path, new)


def as_copied(workspace: Path, name: str) -> Path:
    """A lesson as it was copied, to tell what the learner has changed since."""
    return workspace / ".react-lab" / "copied" / name


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def lessons_folder() -> Path:
    """The lessons as they ship: inside the installed package, or in the clone that it is run from."""
    here = Path(__file__).parent
    for folder in (here / "lessons", here.parents[1] / "lessons"):
        if (folder / "en" / FIRST_LESSON).exists():
            return folder
    raise ConfigurationError("this installation has no lessons; install react-lab again")


# -- JupyterLab ----------------------------------------------------------------------------------------------


def tell(text: str) -> None:
    print(text, flush=True)


def lab(
    folder: str | Path,
    language: Language,
    *,
    browser: bool = True,
    port: int | None = None,
    say: Callable[[str], None] = tell,
) -> None:
    """Prepare a workspace, open JupyterLab on its first lesson, and serve until Ctrl-C.

    The server listens on this machine alone and asks for the token in the address.

    Args:
        folder: The workspace.
        language: The language of the lesson that is opened and of what is said.
        browser: Whether to open a browser.
        port: Where to listen; None takes 8888 or, if that is in use, another.
        say: Called with what the person should read.
    Raises:
        ConfigurationError: the workspace can't be written, or the port can't be used.
    """
    lesson = prepare(folder, language)
    if port is not None:
        check_port(port)
    with contextlib.suppress(KeyboardInterrupt):  # before the server takes over the signal
        serve(lesson, browser=browser, port=port, announce=lambda url: say(OPEN[language].format(url)))
    say(STOPPED[language].format(lesson.parents[1]))


def check_port(port: int) -> None:
    """Raise a ConfigurationError if nothing can listen on the port."""
    with socket.socket() as probe:
        if os.name != "nt":  # as the server does; on Windows the option means something else
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it must be between 0 and 65535"
            raise ConfigurationError(f"can't use port {port}: {reason}; choose another with --port") from error


def serve(lesson: Path, *, browser: bool, port: int | None, announce: Callable[[str], None]) -> None:
    """Run JupyterLab in this process until SIGINT."""
    from jupyter_server.serverapp import ServerApp  # a second of imports, which no other command should pay
    from traitlets.config import Config

    workspace = lesson.parents[1]
    use_own_kernel(workspace)
    token = secrets.token_urlsafe(24)
    address = f"/lab/tree/{lesson.relative_to(workspace).as_posix()}"
    settings = {
        "Application": {"log_level": "ERROR"},
        "ServerApp": {
            "ip": LOOPBACK,
            "port": DEFAULT_PORT if port is None else port,
            "port_retries": 50 if port is None else 0,
            "root_dir": str(workspace),
            "base_url": "/",
            "default_url": address,
            "open_browser": browser,
            "jpserver_extensions": {"jupyterlab": True},
            "allow_root": True,  # containers; the server is on loopback, behind a token
        },
        "IdentityProvider": {"token": token},
        "LabApp": {
            "news_url": None,
            "check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "workspaces_dir": str(workspace / ".react-lab" / "jupyterlab"),
            "user_settings_dir": str(quiet_settings(workspace)),
        },
    }
    server = ServerApp.instance(config=Config(settings))
    server.initialize(argv=[])
    # Jupyter asks whether it shall really stop; here Ctrl-C simply stops.
    signal.signal(signal.SIGINT, lambda *_: server.stop(from_signal=True))
    # The loop's first task is to listen; the address is told after that.
    server.io_loop.add_callback(announce, f"http://{LOOPBACK}:{server.port}{address}?token={token}")
    server.start()


def quiet_settings(workspace: Path) -> Path:
    """JupyterLab's settings in this workspace; at first there is one: not to ask about news before the first lesson."""
    folder = workspace / ".react-lab" / "settings"
    notification = folder / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    if not notification.exists():
        notification.parent.mkdir(parents=True, exist_ok=True)
        write(notification, b'{"fetchNews": "false"}')
    return folder


def use_own_kernel(workspace: Path) -> None:
    """Have notebooks run on this Python, even if it isn't activated or another kernel has the same name."""
    folder = workspace / ".react-lab" / "jupyter"
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"],
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "metadata": {"debugger": True},
    }
    kernel = folder / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True, exist_ok=True)
    write(kernel, json.dumps(spec, indent=1).encode())
    others = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = os.pathsep.join([str(folder), others]) if others else str(folder)
