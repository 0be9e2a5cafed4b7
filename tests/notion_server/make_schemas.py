"""Make schemas.json.gz from the official TypeScript types. Run: python -m tests.notion_server.make_schemas (needs npm).

The types are © Notion Labs, Inc., under the MIT licence, and so is what is made of them: LICENSE.notionhq-client.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

PACKAGES = ("@notionhq/client@5.26.0", "ts-json-schema-generator@2.4.0")
SCHEMAS = Path(__file__).with_name("schemas.json.gz")
TYPES = "@notionhq/client/build/src/api-endpoints"

# Requests are checked closed (no key that the types do not name), responses open.
ROOTS = {
    "requests": {
        "CreatePage": "CreatePageParameters",
        "UpdatePage": "UpdatePageParameters",
        "MovePage": "MovePageParameters",
        "UpdatePageMarkdown": "UpdatePageMarkdownParameters",
        "AppendBlockChildren": "AppendBlockChildrenParameters",
        "UpdateBlock": "UpdateBlockParameters",
        "CreateDatabase": "CreateDatabaseParameters",
        "UpdateDatabase": "UpdateDatabaseParameters",
        "UpdateDataSource": "UpdateDataSourceParameters",
        "QueryDataSource": "QueryDataSourceParameters",
        "CreateFileUpload": "CreateFileUploadParameters",
    },
    "responses": {
        "Page": "PageObjectResponse",
        "Block": "BlockObjectResponse",
        "BlockList": "ListBlockChildrenResponse",
        "Database": "DatabaseObjectResponse",
        "DataSource": "DataSourceObjectResponse",
        "Query": "QueryDataSourceResponse",
        "PageMarkdown": "GetPageMarkdownResponse",
        "User": "UserObjectResponse",
        "FileUpload": "FileUploadObjectResponse",
    },
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "install", "--prefix", folder, *PACKAGES], check=True)
        schemas = {kind: generate(Path(folder), kind) for kind in ROOTS}
    text = json.dumps(schemas, separators=(",", ":"), sort_keys=True)
    SCHEMAS.write_bytes(gzip.compress(text.encode(), mtime=0))


def generate(folder: Path, kind: str) -> Any:
    lines = [f"export type {name} = N.{parameters};" for name, parameters in ROOTS[kind].items()]
    source = folder / f"{kind}.ts"
    source.write_text("\n".join([f'import type * as N from "{TYPES}";', *lines]), encoding="utf-8")
    options = ["--type", "*", "--no-type-check", *(["--additional-properties"] if kind == "responses" else [])]
    command = ["npx", "ts-json-schema-generator", "--path", source.name, *options]
    return json.loads(subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout)


if __name__ == "__main__":
    main()
