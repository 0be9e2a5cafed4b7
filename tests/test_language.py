"""Which language a text is in, and which one the person reads."""

from __future__ import annotations

import pytest

from react_lab.language import interface_language, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("hello", "en"),
        ("你好", "zh"),
        ("Python 的作者", "zh"),
        ("한국어", "en"),
        ("𬬻", "zh"),
        ("\ud83d", "en"),
        ("", "en"),
        ("！", "en"),
    ],
)
def test_a_chinese_character_makes_a_text_chinese(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("chosen", "variable", "locale", "language"),
    [
        ("zh", "en", "en_US.UTF-8", "zh"),
        (None, "zh", "en_US.UTF-8", "zh"),
        (None, "", "zh_CN.UTF-8", "zh"),
        (None, "", "de_DE.UTF-8", "en"),
        (None, "", "C", "en"),
    ],
)
def test_the_interface_follows_choice_then_variable_then_locale(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None, variable: str, locale: str, language: str
) -> None:
    monkeypatch.setenv("REACT_LAB_LANG", variable)
    monkeypatch.setenv("LC_ALL", locale)
    assert interface_language(chosen) == language


def test_a_language_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="language 'fr': use en or zh"):
        interface_language("fr")
