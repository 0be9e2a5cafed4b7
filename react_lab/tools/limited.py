"""A Python program in a process of its own, with limits on its time, memory and output.

The limits keep mistakes in bounds: an endless loop, a list without end, a flood of output. They are no security
boundary. The program runs as the person who started it and can read and write that person's files. On Linux, where
the system lets ordinary users have namespaces, it has no network, and no process of it outlives it; elsewhere Python's
own ways to the network and to other programs are closed, which stops an honest program and not a cunning one. Memory
is not limited on macOS and Windows, nor the number of processes outside of namespaces and for root: there only the
time is. Run what you don't trust in a container or a virtual machine.

This file is both sides: imported, it starts and watches a program; run as a script, it is what the program starts from.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

TICK_S = 0.02
# What a program gets to know of its surroundings. Keys are not among it.
SURROUNDINGS = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "MPLCONFIGDIR") + (
    ("SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA") if sys.platform == "win32" else ()
)


@dataclass(frozen=True)
class Limits:
    timeout_s: float = 10.0
    memory_mb: int = 1024  # of address space
    max_bytes: int = 50_000  # of output


@dataclass(frozen=True)
class Finished:
    """How a program ended. `output` is what it wrote to stdout and stderr; `stopped` is the limit that it ran into."""

    output: str
    exit_code: int
    stopped: Literal["time", "output"] | None = None


def run_limited(
    program: Path, arguments: Sequence[str] = (), *, folder: Path, stdin: bytes = b"", limits: Limits
) -> Finished:
    """Run a program in a folder until it ends or exceeds a limit; all that it has started ends with it."""
    launch = [sys.executable, "-E", "-P", "-X", "utf8", __file__, str(limits.timeout_s), str(limits.memory_mb)]
    surroundings = {name: os.environ[name] for name in SURROUNDINGS if name in os.environ}
    surroundings |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    surroundings |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "2")  # each takes address space
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:  # files, since a pipe has to be served
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(
            [*launch, str(program), *arguments],
            cwd=folder,
            env=surroundings,
            stdin=given,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            stopped = watch(process, output, limits)
        finally:
            end(process)
        output.seek(0)
        text = output.read(limits.max_bytes).decode("utf-8", "replace")
    return Finished(text.replace("\r\n", "\n"), process.returncode, stopped)


def watch(process: subprocess.Popen[bytes], output: IO[bytes], limits: Limits) -> Literal["time", "output"] | None:
    """Wait until the program has ended by itself, or tell which limit it has exceeded."""
    deadline = time.monotonic() + limits.timeout_s
    while not has_ended(process):
        if os.fstat(output.fileno()).st_size > limits.max_bytes:
            return "output"
        if time.monotonic() > deadline:
            return "time"
        time.sleep(TICK_S)
    return "output" if os.fstat(output.fileno()).st_size > limits.max_bytes else None


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    if sys.platform == "win32" or not hasattr(os, "waitid"):  # macOS has it from Python 3.13 on
        return process.poll() is not None
    # It stays a zombie, so that its number, which is that of the group, can't become another's before `end`.
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def end(process: subprocess.Popen[bytes]) -> None:
    """End the program and all processes of its group, also those that it left behind."""
    if sys.platform == "win32":
        if process.poll() is None:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: not permitted if all are zombies
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# -- the program's side ------------------------------------------------------------------------------------------

CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000  # of Linux' sched.h
PR_SET_PDEATHSIG = 1  # of its prctl.h
MAX_FILE_MB = 50
MAX_PROCESSES = 128  # threads included
CLOSED = {
    **dict.fromkeys(("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"), "the network"),
    **dict.fromkeys(("socket.gethostbyname", "socket.gethostbyaddr"), "the network"),
    **dict.fromkeys(("os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn"), "other programs"),
    **dict.fromkeys(("os.system", "subprocess.Popen", "os.startfile"), "other programs"),
}


def main(timeout_s: str, memory_mb: str, program: str, *arguments: str) -> None:
    apart = set_apart()
    limit(float(timeout_s), int(memory_mb), max_processes=MAX_PROCESSES if apart else None)
    sys.addaudithook(refuse)
    sys.argv[:] = [program, *arguments]
    try:
        runpy.run_path(program, run_name="__main__")
    except Exception as error:
        at = error.__traceback__
        while at and at.tb_frame.f_code.co_filename != program:  # what stands above is not of the program
            at = at.tb_next
        sys.stdout.flush()
        traceback.print_exception(error.with_traceback(at))
        sys.exit(1)


def set_apart() -> bool:
    """Go on in namespaces of its own: without network, and with none to survive. False where the system gives none."""
    if sys.platform != "linux":
        return False
    import ctypes

    libc = ctypes.CDLL(None)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET) != 0:
        return False
    if child := os.fork():  # the first process of the namespace: when it ends, all others in there are ended
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    return True


def limit(timeout_s: float, memory_mb: int, *, max_processes: int | None) -> None:
    """Set the limits that the system can keep."""
    if sys.platform == "win32":
        return
    import resource

    limits = {
        resource.RLIMIT_AS: memory_mb * 2**20,
        resource.RLIMIT_CPU: int(timeout_s) + 1,
        resource.RLIMIT_FSIZE: MAX_FILE_MB * 2**20,
        resource.RLIMIT_CORE: 0,
    }
    if max_processes:  # in a namespace of its own; elsewhere all processes of the person would count. Not for root.
        limits[resource.RLIMIT_NPROC] = max_processes
    for kind, most in limits.items():
        with contextlib.suppress(ValueError, OSError):  # macOS does not take all of them
            resource.setrlimit(kind, (most, most))


def refuse(event: str, _: object) -> None:
    """An audit hook; what it raises is what the program's call raises."""
    if event in CLOSED:
        raise PermissionError(f"{CLOSED[event]} can't be used in here ({event})")


if __name__ == "__main__":
    main(*sys.argv[1:])
