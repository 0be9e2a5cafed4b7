"""English or Chinese: of a text, and of the person at the screen."""

from __future__ import annotations

import locale
import os
import re
from typing import Literal

Language = Literal["en", "zh"]

CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")


WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")


def words(text: str) -> list[str]:
    """The words of a text; a Chinese character counts as one."""
    return WORD.findall(text)


def language_of(text: str) -> Language:
    """The language to answer a text in: Chinese if it holds a Chinese character."""
    return "zh" if CJK.search(text) else "en"


def interface_language(chosen: str | None = None) -> Language:
    """The language of messages to the person: `chosen`, else `REACT_LAB_LANG`, else the locale.

    Raises:
        ValueError: the chosen language is neither `en` nor `zh`.
    """
    wanted = chosen or os.environ.get("REACT_LAB_LANG")
    if wanted:
        if wanted not in ("en", "zh"):
            raise ValueError(f"language {wanted!r}: use en or zh")
        return "zh" if wanted == "zh" else "en"
    names = [os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG")] + [locale.getlocale()[0] or ""]
    first = next((name for name in names if name), "")
    return "zh" if first.lower().startswith(("zh", "chinese")) else "en"
