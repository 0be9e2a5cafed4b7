"""A JupyterLab for tests, and a notebook that is open in it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.error import URLError

from playwright.sync_api import Locator, Page, expect

TOKEN = "token-of-a-test"
START_S = 90
KERNEL_ANSWERS = """async () => {
  const panel = () => window.jupyterapp?.shell.currentWidget;
  for (let tries = 0; tries < 600; tries++) {
    if (panel()?.sessionContext?.session?.kernel) break;
    await new Promise((done) => setTimeout(done, 100));
  }
  await panel().sessionContext.ready;
  await panel().sessionContext.session.kernel.info;
}"""

# JupyterLab keeps in the document only the cells near the window, so it is asked for what it knows of all.
CODE_CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter((cell) => cell.model.type === "code")
  .map((cell) => ({
    count: cell.model.executionCount,
    errors: cell.model.outputs.toJSON().filter((output) => output.output_type === "error"),
  }))"""

SHOW_CELL = """async (code) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const index = notebook.widgets.findIndex((cell) => cell.model.sharedModel.getSource().startsWith(code));
  notebook.activeCellIndex = index;
  await notebook.scrollToItem(index, "start");
}"""


class Lab:
    """A server process. It sees nothing of the person's own Jupyter settings, and asks no one for news."""

    def __init__(self, folder: Path) -> None:
        self.notebooks = folder / "notebooks"
        self.notebooks.mkdir()
        settings = folder / "settings"
        notifications = settings / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
        notifications.parent.mkdir(parents=True)
        notifications.write_text('{"fetchNews": "false"}', encoding="utf-8")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / "log.txt"
        self.environment = {
            **os.environ,
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            "IPYTHONDIR": str(folder / "ipython"),
        }
        self.command = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *(f"--port={port}", "--ServerApp.ip=127.0.0.1", "--ServerApp.port_retries=0"),
            *(f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={self.notebooks}"),
            "--LabApp.expose_app_in_browser=True",
        ]

    def __enter__(self) -> Self:
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=log, stderr=log)
        deadline = time.monotonic() + START_S
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                raise AssertionError("JupyterLab did not start:\n" + self.log.read_text(encoding="utf-8"))
            time.sleep(0.3)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def api(self, path: str, *, method: str = "GET") -> Any:
        headers = {"Authorization": f"token {TOKEN}"}
        request = urllib.request.Request(f"{self.url}/api/{path}", headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.loads(response.read() or "null")

    def _answers(self) -> bool:
        try:
            self.api("status")
        except URLError:
            return False
        return True

    def open(self, path: Path, page: Page) -> Notebook:
        """Open a copy of a notebook; what it has next to it is not copied."""
        if path.parent != self.notebooks:
            shutil.copy(path, self.notebooks)
        notebook = Notebook(page, self.notebooks / path.name)
        workspace = uuid.uuid4().hex  # two tabs in one workspace would make JupyterLab load again
        page.goto(f"{self.url}/lab/workspaces/{workspace}/tree/{path.name}?token={TOKEN}")
        notebook.wait_for_kernel()
        return notebook

    def stop_kernels(self) -> None:
        for session in self.api("sessions"):
            self.api(f"sessions/{session['id']}", method="DELETE")


class Notebook:
    """A notebook that is open in a tab."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.path = path
        self.cells = page.locator(".jp-Notebook .jp-Cell")
        self.players = page.locator(".react-lab-player")
        self.messages = 0  # to the kernel
        page.on("websocket", lambda socket: socket.on("framesent", self._count))

    def _count(self, message: str | bytes) -> None:
        self.messages += 1

    def wait_for_kernel(self) -> None:
        """Until the kernel has answered and is idle: a command that comes earlier is lost, or waits for ever."""
        self.page.evaluate(KERNEL_ANSWERS)
        indicator = self.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        expect(indicator).to_be_attached(timeout=60_000)

    def run_all(self) -> None:
        """Run all cells; fail with the traceback if one of them fails, and if one was not run."""
        self.command("notebook:run-all-cells")
        self.wait_for_kernel()
        cells = self.page.evaluate(CODE_CELLS)
        assert [error for cell in cells for error in cell["errors"]] == []
        assert all(cell["count"] for cell in cells), cells

    def show(self, code: str) -> Locator:
        """Scroll to the cell that begins with this code; gives back the cell."""
        self.page.evaluate(SHOW_CELL, code)
        return self.page.locator(".jp-Notebook .jp-Cell.jp-mod-active")

    def save(self) -> None:
        self.command("docmanager:save")

    def theme(self, name: str) -> None:
        """`JupyterLab Light`, `JupyterLab Dark` or `JupyterLab Dark High Contrast`."""
        self.command("apputils:change-theme", theme=name)
        is_light = "false" if "Dark" in name else "true"
        expect(self.page.locator(f'body[data-jp-theme-light="{is_light}"]')).to_be_attached()
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0, timeout=20_000)

    def command(self, name: str, **arguments: str) -> None:
        """Run a command of JupyterLab, and wait until it is done."""
        run = "async ([name, arguments]) => { await window.jupyterapp.commands.execute(name, arguments) }"
        self.page.evaluate(run, [name, arguments])
