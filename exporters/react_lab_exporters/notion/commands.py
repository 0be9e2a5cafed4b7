"""`react-lab notion …`: each command reads its options, calls the library and says how it went."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from react_lab.models.catalogue import read_dotenv
from react_lab_exporters.notion.client import Notion
from react_lab_exporters.notion.database import setup as set_up
from react_lab_exporters.notion.exporter import open_writer
from react_lab_exporters.notion.organize import Plan, apply, propose, undo
from react_lab_exporters.notion.report import publish_report as publish
from react_lab_exporters.notion.smoke import smoke as try_out

app = typer.Typer(help="Publish to Notion · 发布到 Notion", no_args_is_help=True)

Parent = Annotated[str | None, typer.Option("--parent", metavar="PAGE", help="A page to make it in · 所在页面")]
Database = Annotated[str | None, typer.Option("--database", metavar="ADDRESS", help="An existing one · 已有的数据库")]


@app.command()
def setup(
    parent: Parent = None,
    database: Database = None,
    add_columns: Annotated[bool, typer.Option("--add-columns", help="Add what is missing · 补上缺少的列")] = False,
) -> None:
    """Check the token, make or adopt the database · 检查令牌，建立或接管数据库"""
    with connection() as notion:
        for line in set_up(notion, parent=parent, database=database, add_columns=add_columns):
            print(line)


@app.command()
def smoke(parent: Annotated[str, typer.Argument(metavar="PAGE", help="A page to try in · 用来测试的页面")]) -> None:
    """Try a dozen requests on the real Notion, and clean up · 实际发送十几个请求，然后清理"""
    with connection() as notion:
        for line in try_out(notion, parent):
            print(line)


@app.command("publish-report")
def publish_report(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Markdown files · Markdown 文件")],
    database: Database = None,
) -> None:
    """Publish any Markdown report as a page · 把任意 Markdown 报告发布为页面"""
    failed = False
    with connection() as notion, open_writer(notion, database or "") as (writer, warnings):
        for file in files:
            published = publish(writer, file)
            failed |= published.action == "failed"
            print("\n  ".join([f"{published.action}: {published.target}", *warnings, *published.details]))
    raise typer.Exit(1 if failed else 0)


@app.command()
def organize(
    file: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan's file · 方案文件")] = Path("notion-plan.json"),
    carry_out: Annotated[bool, typer.Option("--apply", help="Carry out the plan · 执行方案")] = False,
    take_back: Annotated[bool, typer.Option("--undo", help="Take it back · 撤销方案")] = False,
    database: Database = None,
) -> None:
    """Propose tags, relations and weekly digests, to review and apply · 提出整理方案，供检查后执行"""
    with connection() as notion, open_writer(notion, database or "") as (writer, _):
        if carry_out or take_back:
            plan = Plan.load(file)
            for line in undo(writer, plan) if take_back else apply(writer, plan):
                print(line)
            return
        plan = propose(writer)
        plan.save(file)
        for change in plan.changes:
            print(f"{change.title}: {', '.join(change.tags[1])}; related: {len(change.related[1])}")
        print(f"{len(plan.changes)} changes, {len(plan.digests)} digests: review {file}, then add --apply")


def connection() -> Notion:
    read_dotenv()
    return Notion.from_environment()
