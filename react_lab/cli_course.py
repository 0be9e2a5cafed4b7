"""The commands of the course; see `react_lab.course.commands` for what they do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from react_lab.language import interface_language

Workspace = Annotated[Path | None, typer.Option("--dir", help="The workspace · 工作区")]
Lang = Annotated[str | None, typer.Option("--lang", metavar="en|zh", help="Language of what is printed · 界面语言")]
Lesson = Annotated[str, typer.Argument(metavar="LESSON", help="04, or 04_loop · 课程编号")]
MaybeLesson = Annotated[str | None, typer.Argument(metavar="LESSON", help="04; without it all of them · 课程编号")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON · 输出 JSON")]

PANEL = "Course · 课程"
course = typer.Typer(help="For authors of lessons · 供课程作者使用")


def add_course_commands(app: typer.Typer) -> None:
    """Mount the commands below."""
    for command in (check, progress, review, upgrade, reset):
        app.command(rich_help_panel=PANEL)(command)
    app.command("class", rich_help_panel=PANEL)(class_)
    app.add_typer(course, name="course", rich_help_panel=PANEL)


def check(lesson: MaybeLesson = None, folder: Workspace = None, lang: Lang = None) -> None:
    """Check the saved notebooks once more, in a clean process · 在干净的进程里重新检查练习"""
    from react_lab.course import commands

    raise typer.Exit(commands.check(folder, lesson, interface_language(lang)))


def progress(
    folder: Workspace = None,
    to: Annotated[Path | None, typer.Option("--export", metavar="FILE", help="A file for your teacher · 导出")] = None,
    name: Annotated[str, typer.Option("--name", help="Your name, in that file · 姓名")] = "",
    lang: Lang = None,
) -> None:
    """Where you stand in the course · 学习进度"""
    from react_lab.course import commands

    raise typer.Exit(commands.progress(folder, interface_language(lang), to=to, name=name))


def review(folder: Workspace = None, lang: Lang = None) -> None:
    """Questions about what you learned some days ago · 复习几天前学过的内容"""
    from react_lab.course import commands

    raise typer.Exit(commands.review(folder, interface_language(lang)))


def upgrade(folder: Workspace = None, lang: Lang = None) -> None:
    """Bring new lessons; what you wrote stays, with a copy · 更新课程，保留你写的内容"""
    from react_lab.course import commands

    raise typer.Exit(commands.upgrade_lessons(folder, interface_language(lang)))


def reset(lesson: Lesson, folder: Workspace = None, lang: Lang = None) -> None:
    """Put a lesson back to its beginning; your notebook is kept as a copy · 重置一课，保留备份"""
    from react_lab.course import commands

    raise typer.Exit(commands.reset_lesson(folder, lesson, interface_language(lang)))


def class_(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="With the files of the learners · 学生进度文件夹")],
    as_json: AsJson = False,
) -> None:
    """Collect the progress files of a class into a table · 汇总全班的学习进度"""
    from react_lab.course import commands

    raise typer.Exit(commands.class_progress(folder, as_json=as_json))


@course.command()
def lint(lesson: MaybeLesson = None, as_json: AsJson = False) -> None:
    """Try every exercise and read every text · 检查课程：逐个验证练习和文字"""
    from react_lab.course import commands

    raise typer.Exit(commands.lint(lesson, as_json=as_json))


@course.callback()
def about() -> None:
    """For authors of lessons · 供课程作者使用"""
