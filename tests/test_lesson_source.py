import ast
import json

import jupytext
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_lab.course import build, prose
from react_lab.course.source import cell_ids, notebook, read_source, to_json

SOURCE = '''\
"""What stands before the first cell is for authors."""

# %% [markdown] lang="en"
# # Multiply
#
# - read **this**
#   and that

# %% [markdown] lang="zh"
# # 相乘
#
# - 读**这个**

# %% lang="en" tags=["given"]
# Ask anything.
question = "What is 6 × 7?"
unit = (
    "apples"
    " and pears"
)
# %% lang="zh" tags=["given"]
question = "6 × 7 等于多少？"
unit = "苹果和梨"

# %% tags=["predict:first", "live"]
# en: Nothing runs yet:
# en: it is a function.
# zh: 这里还不会运行。
def multiply(a, b):
    # en: Here.
    # zh: 在这里。
    return a * b  # a plain comment stays


# %% [markdown] lang="en"
# ## Run it
# %% [markdown] lang="zh"
# ## 运行
# %%
await multiply(6, 7)
'''


def code_of(language: str) -> list[str]:
    cells = notebook("00_test", read_source(SOURCE), language)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_each_language_gets_its_prose_and_the_shared_code():
    cells = read_source(SOURCE)
    assert [cell.kind for cell in cells] == ["markdown", "code", "code", "markdown", "code"]
    assert cells[0].text == {
        "en": "# Multiply\n\n- read **this**\n  and that",
        "zh": "# 相乘\n\n- 读**这个**",
    }
    assert code_of("en")[1:] == [
        "# Nothing runs yet:\n# it is a function.\ndef multiply(a, b):\n    # Here.\n"
        "    return a * b  # a plain comment stays",
        "await multiply(6, 7)",
    ]
    assert code_of("zh")[1].startswith("# 这里还不会运行。\ndef multiply(a, b):\n    # 在这里。\n")


def test_a_notebook_is_valid_has_no_outputs_and_knows_its_language():
    for language in ("en", "zh"):
        data = notebook("00_test", read_source(SOURCE), language)
        nbformat.validate(nbformat.from_dict(data))
        assert all(cell["outputs"] == [] for cell in data["cells"] if cell["cell_type"] == "code")
        assert data["metadata"]["kernelspec"]["name"] == "python3"
        assert data["metadata"]["react_lab"] == {"language": language, "lesson": "00_test"}


def test_tags_reach_the_notebook():
    cells = notebook("00_test", read_source(SOURCE), "zh")["cells"]
    assert [cell["metadata"].get("tags") for cell in cells] == [
        None,
        ["given"],
        ["predict:first", "live"],
        None,
        None,
    ]


def test_the_same_source_makes_the_same_bytes():
    first, second = (to_json(notebook("00_test", read_source(SOURCE), "zh")) for _ in range(2))
    assert first == second
    assert first.endswith("}\n")
    assert "相乘" in first


def test_ids_are_unique_and_the_same_in_both_languages():
    english, chinese = (notebook("00_test", read_source(SOURCE), item)["cells"] for item in ("en", "zh"))
    ids = [cell["id"] for cell in english]
    assert len(set(ids)) == len(ids)
    assert ids == [cell["id"] for cell in chinese]
    assert not set(ids) & set(cell_ids("01_other", read_source(SOURCE)))


def test_ids_stay_when_text_is_edited_and_when_a_cell_comes_into_another_section():
    before = list(cell_ids("00_test", read_source(SOURCE)))
    edited = SOURCE.replace("读**这个**", "仔细读").replace("return a * b", "return b * a")
    assert list(cell_ids("00_test", read_source(edited))) == before
    longer = SOURCE.replace('# %% [markdown] lang="en"\n# ## Run', '# %%\npass\n\n# %% [markdown] lang="en"\n# ## Run')
    assert [key for key in cell_ids("00_test", read_source(longer)) if key in before] == before


def test_jupytext_reads_the_same_cells():
    """The format is the one that editors know."""
    theirs = jupytext.reads(SOURCE, fmt="py:percent").cells[1:]  # the first is what stands before the cells
    ours = [text for cell in read_source(SOURCE) for text in cell.text.values()]
    assert [cell.source for cell in theirs if cell.cell_type == "markdown"] == [ours[0], ours[1], ours[6], ours[7]]
    assert [cell.metadata.get("tags") for cell in theirs][2:5] == [["given"], ["given"], ["predict:first", "live"]]


PAIR = '# %% [markdown] lang="en"\n# Hi\n# %% [markdown] lang="zh"\n# 你好\n'


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("# %% [markdown]\n# Hi\n", "line 1: prose needs a language"),
        ('# %% [markdown] lang="en"\n# Hi\n', "line 1: .* twin"),
        ('# %% [markdown] lang="zh"\n# 你好\n', "line 1: .* twin"),
        (PAIR + '# %% [markdown] lang="en"\n# Hi\n# %%\npass\n', "line 5: .* twin"),
        (PAIR.replace('"zh"', '"zh" tags=["x"]'), "line 1: .* equal tags"),
        ('# %% [markdown] lang="zh"\n# 你好\n# %% [markdown] lang="en"\n# Hi\n', "line 1: .* twin"),
        ('# %% lang="en"\na = "x"\n# %% lang="zh"\nb = "x"\n', "line 3: .* same names"),
        (
            '# %% lang="en"\na = "x"\n# %% lang="zh"\n\na = 1\n',
            'line 5: code in one language may only be name = "text"',
        ),
        ('# %% lang="en"\na = f"{x}"\n# %% lang="zh"\na = "x"\n', "line 2: code in one language"),
        ("# %%\npass\n# en: Only here.\npass\n", "line 3: this comment stands in one language only"),
        ('# %%\na = """\n# en: x\n# zh: y\n"""\n', "line 1: this code is not the same in both languages"),
        ("# %%\n\nif True\n", "line 3: expected ':'"),
        ("# %% [raw]\n", "line 1: '# %% .raw.' is not like"),
        ("# %% tags='x'\n", "line 1: .* is not like"),
        ("# %% tags=[x]\n", "line 1: tags=.x. is not a list of names"),
        ('# %% [markdown] lang="en"\nHi\n', "line 2: prose lines start with #"),
    ],
)
def test_a_source_that_breaks_a_rule_is_refused_with_its_line(source, message):
    with pytest.raises(ValueError, match=message):
        read_source(source)


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20)))
def test_prose_comes_through_unchanged(lines):
    prose = "\n".join(line.rstrip() for line in lines).strip("\n")
    commented = "\n".join(f"# {line}" for line in prose.split("\n"))
    [cell] = read_source(f'# %% [markdown] lang="en"\n{commented}\n# %% [markdown] lang="zh"\n{commented}\n')
    assert cell.text == {"en": prose, "zh": prose}


# -- the files -----------------------------------------------------------------------------------------------


@pytest.fixture
def lessons(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "00_test.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def test_building_writes_both_notebooks_and_then_nothing(lessons):
    assert build.write(lessons) == ["en/00_test.ipynb", "zh/00_test.ipynb"]
    assert json.loads((lessons / "zh" / "00_test.ipynb").read_text("utf-8"))["nbformat_minor"] == 5
    assert b"\r" not in (lessons / "zh" / "00_test.ipynb").read_bytes()
    assert build.stale(lessons) == build.write(lessons) == []


def test_a_notebook_that_was_edited_or_lost_its_source_is_stale(lessons):
    build.write(lessons)
    (lessons / "en" / "00_test.ipynb").write_text("{}", encoding="utf-8")
    (lessons / "zh" / "01_gone.ipynb").write_text("{}", encoding="utf-8")
    assert build.stale(lessons) == ["en/00_test.ipynb", "zh/01_gone.ipynb"]
    build.write(lessons)
    assert build.stale(lessons) == []
    assert not (lessons / "zh" / "01_gone.ipynb").exists()


def test_the_check_names_the_stale_notebook_and_fails(lessons, capsys):
    assert build.main(["--check"], lessons) == 1
    assert "lessons/en/00_test.ipynb is not what its source makes" in capsys.readouterr().out
    assert not (lessons / "en").exists()
    assert build.main([], lessons) == 0
    assert build.main(["--check"], lessons) == 0


EXERCISE = '\n# %% tags=["exercise:tool-error"]\n\n# %%\ncheck("tool-error")\n'


def test_the_code_of_an_exercise_stands_in_its_spec_alone(lessons):
    source = lessons / "source" / "00_test.py"
    source.write_text(SOURCE + EXERCISE, encoding="utf-8")
    starter, solution = (build.read_lesson(source, solved=solved)[-2] for solved in (False, True))
    assert "def height(mountain):" in starter.text["zh"]
    assert "raise ToolError" in solution.text["en"]
    assert starter.tags == solution.tags == ("exercise:tool-error",)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ('# %% tags=["exercise:no-such"]\n', "no exercise has the id 'no-such'; there are: .*tool-class"),
        ('# %% tags=["exercise:tool-error"]\nx = 1\n', "the cell of exercise 'tool-error' must be empty"),
    ],
)
def test_an_exercise_that_is_not_there_or_written_twice_is_refused(lessons, cell, message):
    (lessons / "source" / "00_test.py").write_text(SOURCE + "\n" + cell, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        build.build_all(lessons)


# -- translations --------------------------------------------------------------------------------------------


def left_behind(lessons):
    source = lessons / "source" / "00_test.py"
    return prose.untranslated(source, build.read_lesson(source))


def edit(lessons, old, new):
    source = lessons / "source" / "00_test.py"
    source.write_text(source.read_text("utf-8").replace(old, new), encoding="utf-8")
    build.main([], lessons)


def test_a_translation_older_than_its_original_is_told_until_someone_has_read_it(lessons, capsys):
    build.main([], lessons)
    assert left_behind(lessons) == []
    edit(lessons, "read **this**", "read **that**")
    [cell] = left_behind(lessons)
    edit(lessons, "and that", "and more")  # building again is not reading again
    assert left_behind(lessons) == [cell]
    edit(lessons, "读**这个**", "读**那个**")
    assert left_behind(lessons) == []
    edit(lessons, "## Run it", "## Run it now")  # a new heading makes a new cell
    edit(lessons, "read **that**", "read **it**")
    assert left_behind(lessons)
    build.main(["--translated", "00_test"], lessons)
    assert left_behind(lessons) == []


def test_a_better_translation_needs_no_new_original(lessons, capsys):
    build.main([], lessons)
    edit(lessons, "读**这个**", "读一读**这个**")
    assert left_behind(lessons) == []


def test_a_broken_source_is_named_with_its_line(lessons):
    (lessons / "source" / "00_test.py").write_text("# %% [markdown]\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"00_test\.py, line 1: prose needs a language"):
        build.stale(lessons)


def test_the_two_languages_run_the_same_code():
    english, chinese = (code_of(item)[1:] for item in ("en", "zh"))
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    for one, other in zip(english, chinese, strict=True):
        assert ast.dump(compile(one, "en", "exec", flags)) == ast.dump(compile(other, "zh", "exec", flags))
