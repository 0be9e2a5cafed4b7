"""Which claims their sources support."""

import pytest

from react_lab.workflow.citations import cited, flag, is_supported

SOURCES = {
    1: "K2: K2 is 8,611 metres high. It lies in Kashmir.",
    2: "珠穆朗玛峰海拔 8848.86 米，位于中国与尼泊尔边境。",
}


def test_the_sources_of_a_text_are_listed_once_each() -> None:
    assert cited("A [2]. B [1, 2]. C [3，4]. D[5].") == [2, 1, 3, 4, 5]


@pytest.mark.parametrize(
    ("claim", "number"),
    [
        ("K2 is 8,611 metres high [1].", 1),
        ("K2 is 8611 m high [1].", 1),
        ("It is the highest in Kashmir [1].", 1),
        ("珠穆朗玛峰高 8848.86 米 [2]。", 2),
        ("珠穆朗玛峰高 ８８４８．８６ 米 [2]。", 2),
        ("Everest is 8,848.86 m high [2].", 2),  # another language: only the number can be checked
    ],
)
def test_a_claim_with_the_numbers_and_names_of_its_source_is_supported(claim: str, number: int) -> None:
    assert is_supported(claim, [SOURCES[number]])


@pytest.mark.parametrize(
    ("claim", "number"),
    [
        ("K2 is 8,612 metres high [1].", 1),
        ("The mountain lies in Nepal and Tibet [1].", 1),
        ("乞力马扎罗山位于坦桑尼亚 [2]。", 2),
        ("珠穆朗玛峰高 8849 米 [2]。", 2),
    ],
)
def test_another_number_or_name_is_not_supported(claim: str, number: int) -> None:
    assert not is_supported(claim, [SOURCES[number]])


def test_without_a_source_nothing_is_supported() -> None:
    assert not is_supported("K2 is high.", [])


def test_only_claims_that_cite_are_checked_and_the_wrong_ones_are_marked_where_they_stand() -> None:
    english = "I looked this up.\nK2 is 8,611 metres high [1]. K2 is 28,251 feet high [1]."
    answer = f"{english}\n- 它位于尼泊尔。[2] 它位于印度半岛。[2]"
    marked, claims = flag(answer, SOURCES, "en")
    mark = " (not supported by its source)"
    assert claims == ["K2 is 28,251 feet high [1].", "它位于印度半岛。[2]"]
    assert marked.replace(mark, "") == answer
    assert f"feet high [1].{mark}\n" in marked


def test_a_source_that_does_not_exist_supports_nothing() -> None:
    assert flag("K2 is high [1][7].", SOURCES, "zh")[0] == "K2 is high [1][7].（来源不支持）"
