import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from react_lab_exporters.notion.blocks import Block, to_blocks
from react_lab_exporters.notion.languages import ALIASES, LANGUAGES
from react_lab_exporters.notion.plan import plan
from react_lab_exporters.notion.reader import below, text_in
from react_lab_exporters.notion.text import is_address, pieces, plain, text_of, units
from tests.conftest import json_lines
from tests.notion_documents import all_links, all_text, document, lost_links, lost_words
from tests.notion_server.checks import schemas, wrong_with_request
from tests.payloads import PAYLOADS
from tests.test_markdown import HOSTILE, hostile_text


def render(markdown: str, **options: Any) -> list[Block]:
    return to_blocks(markdown, **options).blocks


def one(markdown: str) -> tuple[str, dict[str, Any]]:
    """Kind and content of the only block."""
    [block] = render(markdown)
    return block["type"], block[block["type"]]


def outline(blocks: list[Block]) -> list[Any]:
    """Kinds, texts and nesting."""
    return [(each["type"], text_in(each), *([outline(below(each))] if below(each) else [])) for each in blocks]


def wrong_with(markdown: str) -> str | None:
    """What Notion would refuse in the requests that write this text."""
    first, *more = plan(render(markdown))
    parent = {"type": "data_source_id", "data_source_id": "0" * 32}
    title = {"title": {"title": plain("t")}}
    bodies = [("CreatePage", {"parent": parent, "properties": title, "children": first.children})]
    bodies += [("AppendBlockChildren", {"block_id": "0" * 32, "children": send.children}) for send in more]
    return next((wrong for name, body in bodies if (wrong := wrong_with_request(name, body))), None)


# -- what models write ---------------------------------------------------------------------------------------


def test_a_list_keeps_its_depth_its_kinds_and_its_order():
    assert outline(render("- a\n  1. b\n     - c\n       - d\n- e")) == [
        (
            "bulleted_list_item",
            "a",
            [("numbered_list_item", "b", [("bulleted_list_item", "c", [("bulleted_list_item", "d")])])],
        ),
        ("bulleted_list_item", "e"),
    ]


def test_a_list_item_may_hold_code_a_quotation_and_a_table():
    text = "- item\n\n  ```py\n  x\n  ```\n\n  > said\n\n  |a|\n  |-|\n  |1|\n"
    [(_, text, inside)] = outline(render(text))
    assert text == "item"
    assert [kind for kind, *_ in inside] == ["code", "quote", "table"]


def test_tasks_are_ticked_or_not():
    assert [block["to_do"]["checked"] for block in render("- [ ] open\n- [x] **done**")] == [False, True]
    assert outline(render("- [x] **done** it")) == [("to_do", "done it")]


def test_a_ragged_table_stays_a_table_and_no_cell_is_lost():
    kind, table = one("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 | `4|x` |\n")
    assert kind == "table"
    assert table["table_width"] == 5
    rows = [[text_of(cell) for cell in row["table_row"]["cells"]] for row in table["children"]]
    assert rows == [["a", "b", "", "", ""], ["1", "", "", "", ""], ["1", "2", "3", "`4", "x`"]]


def test_a_ragged_table_inside_a_quotation_keeps_its_cells():
    [quote] = render("> | a |\n> |---|\n> | 1 | **2** |")
    [table] = below(quote)
    assert table["table"]["table_width"] == 2
    assert table["table"]["children"][1]["table_row"]["cells"][1][0]["annotations"] == {"bold": True}


def test_a_line_break_in_a_cell_is_a_line_break():
    _, table = one("| a |\n|---|\n| x<br>y<BR />z |")
    assert text_of(table["children"][1]["table_row"]["cells"][0]) == "x\ny\nz"


def test_an_escaped_tag_is_text():
    assert outline(render("\\<br/> and `<br>`")) == [("paragraph", "<br/> and <br>")]


def test_a_table_of_over_a_hundred_columns_joins_the_rest_in_the_last():
    _, table = one("|" + "h|" * 120 + "\n|" + "-|" * 120 + "\n|" + "c|" * 120)
    assert table["table_width"] == 100
    assert text_of(table["children"][1]["table_row"]["cells"][99]) == " | ".join("c" * 21)


@pytest.mark.parametrize(
    ("markdown", "expression"),
    [("$a+b$", "a+b"), (r"\(a+b\)", "a+b"), (r"\( a+b \)", "a+b"), (r"\(a*b*c\)", "a*b*c")],
)
def test_maths_in_a_line_is_an_equation(markdown, expression):
    _, paragraph = one(f"so {markdown} holds")
    assert paragraph["rich_text"][1] == {"type": "equation", "equation": {"expression": expression}}


@pytest.mark.parametrize("markdown", ["$$\na\n= b\n$$", "\\[\na\n= b\n\\]", "$$a\n= b$$"])
def test_maths_of_its_own_is_a_block(markdown):
    assert one(markdown) == ("equation", {"expression": "a\n= b"})
    assert [block["type"] for block in render(f"before\n{markdown}\nafter")][-1] == "paragraph"


def test_an_environment_of_latex_is_a_block():
    assert one("\\begin{align}\na &= b\n\\end{align}") == (
        "equation",
        {"expression": "\\begin{align}\na &= b\n\\end{align}"},
    )


@pytest.mark.parametrize(
    "text", ["It costs $5 or $10.", "from $1,000 to $2,000 a year", "\\[not closed", "\\(no", "$ 5 $"]
)
def test_prices_and_open_brackets_are_no_maths(text):
    [block] = render(text)
    assert [item["type"] for item in block["paragraph"]["rich_text"]] == ["text"]


def test_an_equation_that_is_too_long_is_code_and_a_warning():
    rendered = to_blocks("$$\n" + "x" * 1500 + "\n$$\n\nin $" + "y" * 1500 + "$ line")
    assert outline(rendered.blocks)[0] == ("code", "x" * 1500)
    assert "y" * 1500 in all_text(rendered.blocks)
    assert rendered.warnings == ["an equation of 1500 characters is shown as LaTeX code"]


@pytest.mark.parametrize(
    ("info", "language"),
    [
        ("Python  ", "python"),
        ("py", "python"),
        ("js {1,3}", "javascript"),
        ("", "plain text"),
        ("c++", "c++"),
        ("C#", "c#"),
        ("{.python .numberLines}", "python"),
        ("plain text", "plain text"),
        ("python:main.py", "python"),
        ("mermaid", "mermaid"),
    ],
)
def test_a_fence_speaks_notions_language(info, language):
    _, code = one(f"```{info}\nx = 1\n\n  y\n```")
    assert (code["language"], text_of(code["rich_text"])) == (language, "x = 1\n\n  y")


def test_a_language_that_notion_does_not_know_is_told_in_the_caption():
    _, code = one("```brainfuck x\n+\n```")
    assert (code["language"], text_of(code["caption"])) == ("plain text", "brainfuck x")


def test_our_languages_are_those_of_the_official_types():
    assert set(schemas()["requests"]["definitions"]["LanguageRequest"]["enum"]) == LANGUAGES
    assert set(ALIASES.values()) <= LANGUAGES
    assert not LANGUAGES & ALIASES.keys()


def test_footnotes_stay_where_they_were_written_also_unused_ones():
    blocks = render("See[^a] this.\n\n[^a]: Because *so*.\n[^b]: Nobody asked.\n\nEnd.")
    assert [text for _, text in outline(blocks)] == ["See[a] this.", "[a] Because so.", "[b] Nobody asked.", "End."]


def test_a_list_of_addresses_that_nothing_refers_to_is_kept():
    blocks = render("As [one] says.\n\n[one]: https://a.org/1\n[2]: https://a.org/2\n")
    assert [text for _, text in outline(blocks)] == ["As one says.", "https://a.org/2"]
    assert set(all_links(blocks)) == {"https://a.org/1", "https://a.org/2"}


@pytest.mark.parametrize(
    ("markdown", "text", "url"),
    [
        ("https://x.io/?path=/story/x", "https://x.io/?path=/story/x", "https://x.io/?path=/story/x"),
        ("<https://x.io>", "https://x.io", "https://x.io"),
        ("见https://x.io/答。", "https://x.io/答", "https://x.io/答"),
        ("[a](https://x.io/?a=1&b=2)", "a", "https://x.io/?a=1&b=2"),
        ("[https://a.io](https://b.io)", "https://a.io", "https://b.io"),
        ("[mail](mailto:a@b.org)", "mail", "mailto:a@b.org"),
        ("[](https://x.io)", "https://x.io", "https://x.io"),
        ("![chart](https://x.io/c.png)", "chart", "https://x.io/c.png"),
        ("[`code`](https://x.io)", "code", "https://x.io"),
    ],
)
def test_a_link_is_kept(markdown, text, url):
    linked = [item["text"] for item in one(markdown)[1]["rich_text"] if item["text"].get("link")]
    assert linked == [{"content": text, "link": {"url": url}}]


@pytest.mark.parametrize(
    "url", ["a/b.md", "#part", "/root", "javascript:alert(1)", "https://", "https://a.io/" + "x" * 2000]
)
def test_what_is_no_web_address_is_text_and_a_warning(url):
    rendered = to_blocks(f"- [the file]({url})")
    assert text_in(rendered.blocks[0]).startswith(("the file", "[the file"))
    assert not all_links(rendered.blocks)
    assert rendered.warnings or url.startswith("javascript")  # which the parser leaves as text, word for word


def test_an_image_is_embedded_only_where_that_is_wanted():
    picture = "![chart](https://x.io/c.png)"
    assert one(picture)[0] == "paragraph"
    [block] = render(picture, embed_images=True)
    assert block["image"]["external"] == {"url": "https://x.io/c.png"}
    assert text_of(block["image"]["caption"]) == "chart"


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ('<a title="*x*" href="a_b_c">*it*</a>', '<a title="*x*" href="a_b_c">it</a>'),  # no Markdown inside a tag
        ("\\(\\) \\[\\\\\\]", "() [\\]"),  # escapes, and no maths without a letter or digit
        ("![a *b* [c](/d)](https://x.io)", "a b c"),  # what an image shows is text
    ],
)
def test_the_text_is_the_one_of_commonmark(markdown, text):
    assert text_in(render(markdown)[0]) == text


def test_a_fence_may_escape_its_language():
    _, code = one("```c\\+\\+\nx\n```")
    assert (code["language"], code.get("caption")) == ("c++", None)


def test_html_is_text():
    assert outline(render("<div>\n<b>bold</b> & &amp;\n</div>")) == [("paragraph", "<div>\n<b>bold</b> & &\n</div>")]


def test_headings_of_level_five_and_six_are_level_four_and_a_warning():
    rendered = to_blocks("#### d\n\n##### e")
    assert [block["type"] for block in rendered.blocks] == ["heading_4", "heading_4"]
    assert rendered.warnings == ["a heading of level 5 has level 4 in Notion"]


def test_styles_are_kept():
    items = one("**a *b* ~~c~~ `d`**")[1]["rich_text"]
    assert [
        (item["text"]["content"], sorted(item["annotations"])) for item in items if item["text"]["content"] != " "
    ] == [
        ("a ", ["bold"]),
        ("b", ["bold", "italic"]),
        ("c", ["bold", "strikethrough"]),
        ("d", ["bold", "code"]),
    ]


# -- limits --------------------------------------------------------------------------------------------------


def test_length_counts_utf16_units():
    assert units("a🙂b") == 4
    assert [units(piece) for piece in pieces("x" * 1999 + "🙂")] == [1999, 2]


@given(st.text(), st.integers(2, 9))
def test_a_text_is_cut_without_losing_or_halving_a_character(text, limit):
    text = text.encode("utf-8", "replace").decode()
    cut = list(pieces(text, limit))
    assert "".join(cut) == text
    assert all(0 < units(piece) <= limit for piece in cut)
    assert not [piece for piece in cut if piece.encode("utf-16-le") == b""]


def test_a_long_paragraph_is_one_block_of_several_items():
    [block] = render("长" * 5000)
    assert [units(item["text"]["content"]) for item in block["paragraph"]["rich_text"]] == [2000, 2000, 1000]


def test_a_text_of_many_styles_is_several_blocks():
    blocks = render(" ".join(f"a *b{n}*" for n in range(150)))
    assert [len(block["paragraph"]["rich_text"]) for block in blocks] == [100, 100, 100]
    inside = below(render("- " + " ".join(f"a *b{n}*" for n in range(150)))[0])
    assert [block["type"] for block in inside] == ["paragraph", "paragraph"]


def test_a_text_that_nests_too_deeply_is_shown_word_for_word():
    for text in ("> " * 300 + "x", "- " * 300 + "x", "**" * 500 + "x" + "**" * 500):
        rendered = to_blocks(text)
        assert outline(rendered.blocks)[0] == ("code", text)
        assert rendered.warnings == ["a text that nests too deeply is shown as its source"]


def test_lone_surrogates_and_nul_become_the_replacement_character():
    assert text_in(render("a\ud800b\0c")[0]) == "a\ufffdb\ufffdc"


@pytest.mark.parametrize("size", [1, 60, 200])
def test_a_huge_cell_is_within_every_limit(size):
    assert wrong_with("| a | b |\n|---|---|\n| x | " + "字" * size * 1000 + " |") is None


def test_a_cell_of_many_styles_loses_them_and_not_its_words():
    rendered = to_blocks("| a |\n|---|\n| " + " ".join(f"a *b{n}*" for n in range(150)) + " |")
    assert "b149" in all_text(rendered.blocks)
    assert rendered.warnings == ["a table cell with over 100 changes of style is shown without them"]


@pytest.mark.parametrize("text", ["", "\n", "-", ">", "```\n```", "|a|\n|-|", "# ", "[^1]: ", "$$\n$$", "- \n\n  - x"])
def test_almost_nothing_is_a_page_too(text):
    assert wrong_with(text) is None


# -- properties ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_requests_that_notion_takes(text):
    assert wrong_with(text) is None


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_text)
def test_hostile_text_of_every_shape_makes_requests_that_notion_takes(text):
    assert wrong_with(text) is None


@pytest.mark.parametrize("seed", range(40))
def test_a_made_up_document_keeps_its_words_and_links_within_the_limits(seed):
    markdown = document(seed)
    blocks = render(markdown)
    assert wrong_with(markdown) is None
    assert not lost_links(markdown, blocks)
    assert sum((lost_words(markdown, blocks) - Counter({"cd": 99})).values()) == 0  # c*d c*d may be cut between blocks


def test_the_cases_from_the_field_that_are_about_text(shared):
    cases = {case["id"]: case for case in json_lines(shared / "cases" / "notion.jsonl")}
    assert "Bullet list 4 levels deep" in cases["N01"]["input"]
    assert len(plan(render("- a\n  - b\n    - c\n      - d"))) == 3  # N01
    assert len(plan(render("\n\n".join(f"p{n}" for n in range(191))))) == 2  # N16
    sends = plan(render("".join(f"- b{n}\n" for n in range(150)) + "\n```\n" + "x" * 3000 + "\n```"))  # N17
    assert len(sends) == 2
    assert [len(item["text"]["content"]) for item in sends[1].children[-1]["code"]["rich_text"]] == [2000, 1000]
    two = render("x" * 1999 + "🙂")[0]["paragraph"]["rich_text"]  # N14, N15
    assert [units(item["text"]["content"]) for item in two] == [1999, 2]
    pipe = render("- **Label** [x](https://a.org) **|** more\n  - sub")[0]  # N03
    assert text_in(pipe) == "Label x | more"


@pytest.mark.parametrize("url", ["https://a.org/x?y#z", "http://localhost:8888/x", "https://例子.中国/路"])
def test_addresses_of_the_web_are_addresses(url):
    assert is_address(url)


def test_rendering_is_a_matter_of_the_text_alone():
    text = document(7)
    assert json.dumps(render(text)) == json.dumps(render(text))


@pytest.mark.parametrize("text", PAYLOADS)
def test_a_payload_is_kept_as_text_and_links_only_to_the_web(text):
    blocks = render(text)
    assert not lost_words(text, blocks)
    assert all(url.startswith(("http://", "https://", "mailto:")) for url in all_links(blocks))
    assert not [each for each in blocks if each["type"] in ("image", "embed", "video", "file", "bookmark")]
    assert wrong_with(text) is None
