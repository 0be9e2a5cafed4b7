"""Our blocks against what other converters make of the same Markdown, and against CommonMark's own examples.

Only the text counts here, without its blanks. Where we differ on purpose, `KNOWN` says why.
The examples and Martian: `npm install --prefix DIR commonmark-spec@0.31.2 @tryfabric/martian@1.2.4`, NOTION_JS=DIR.
"""

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from react_lab_exporters.notion.blocks import Block, to_blocks
from tests.notion_documents import WORDS, all_text, words

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent
DOCUMENTS = 1000


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def ours(markdown: str) -> str:
    return squeezed(all_text(to_blocks(markdown).blocks))


def modules() -> Path:
    folder = os.environ.get("NOTION_JS")
    if folder is None or shutil.which("node") is None:
        pytest.skip("needs Node.js and packages, see the top of this file")
    return Path(folder)


def notion_markdown(texts: list[str]) -> list[list[Block]]:
    convert: Any = pytest.importorskip("notion_markdown").to_notion
    return [convert(text) for text in texts]


def martian(texts: list[str]) -> list[list[Block]]:
    command = ["node", str(ROOT / "notion_server" / "martian.mjs"), str(modules())]
    done = subprocess.run(command, input=json.dumps(texts).encode(), capture_output=True, check=True, timeout=120)
    blocks: list[list[Block]] = json.loads(done.stdout)
    return blocks


# -- made-up documents of what all converters know -----------------------------------------------------------


def document(seed: int) -> str:
    """No maths, footnotes, tasks, entities, images and ragged tables: peers lose those, see facts and other tests."""
    rng = random.Random(seed)
    word = WORDS[rng.randrange(len(WORDS))]
    pieces: list[Callable[[], str]] = [
        lambda: "#" * rng.randint(1, 3) + " " + words(rng, 1, 5),
        lambda: (
            f"**{word}** is *{words(rng, 1, 2)}*, `code` and ~~gone~~ [{word}](https://a.org/{rng.randint(0, 9)}?b=c)"
        ),
        lambda: f"{words(rng)}\n{words(rng)}",
        lambda: "\n".join(f"{'  ' * depth}- {words(rng)}" for depth in range(rng.randint(1, 5))),
        lambda: "\n".join(f"{n}. {words(rng)}" for n in range(1, rng.randint(2, 5))),
        lambda: "\n".join([f"| {word} | b |", "|---|---|", *(f"| {words(rng, 1, 3)} | x |" for _ in range(3))]),
        lambda: f"```python\n{words(rng)}\n\n    {words(rng)}\n```",
        lambda: f"> {words(rng)}\n> {words(rng)}",
        lambda: rng.choice(["long ", "长文本", "🙂 "]) * rng.choice([1, 900]),
        lambda: "---",
    ]
    return "\n\n".join(rng.choice(pieces)() for _ in range(rng.randint(1, 8)))


@pytest.mark.parametrize(("peer", "loses"), [(notion_markdown, "(?!)"), (martian, r"</?b>|\$")])
def test_a_document_has_the_text_that_a_peer_gives_it(peer, loses):
    """Martian drops tags, and takes what stands between two prices for maths."""
    texts = [re.sub(loses, "", document(seed)) for seed in range(DOCUMENTS)]
    different = [
        (text, ours(text), squeezed(all_text(theirs)))
        for text, theirs in zip(texts, peer(texts), strict=True)
        if ours(text) != squeezed(all_text(theirs))
    ]
    assert not different, (len(different), different[0])


# -- the examples of CommonMark ------------------------------------------------------------------------------

KNOWN = {
    "in a block of HTML only the tags are text, and Markdown is Markdown": (
        *(148, 150, 151, 155, 156, 158, 159, 161, 162, 163, 164, 165, 166, 171, 177, 178, 186, 189),
    ),
    "an address is kept also where nothing refers to it": (
        *(207, 208, 210, 317, 536, 537, 538, 545, 563, 565, 567, 571, 592),
    ),
    "a link or image without a text shows its address": (484, 581),
}


def examples() -> dict[int, tuple[str, str]]:
    """The number of each example, its Markdown and the HTML that it stands for."""
    text = (modules() / "node_modules" / "commonmark-spec" / "spec.txt").read_text(encoding="utf-8")
    found = re.findall(r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$", text.replace("→", "\t"), re.DOTALL | re.MULTILINE)
    return dict(enumerate(found, start=1))


def text_of_html(html: str) -> str:
    page = BeautifulSoup(html, "html.parser")
    for image in page.find_all("img"):
        image.replace_with(str(image.get("alt", "")))
    return squeezed(page.get_text())


def test_an_example_of_commonmark_has_the_text_of_its_html_or_that_a_peer_gives_it():
    found = examples()
    theirs = notion_markdown([markdown for markdown, _ in found.values()])
    alone = [
        number
        for (number, (markdown, html)), blocks in zip(found.items(), theirs, strict=True)
        if ours(markdown) not in (text_of_html(html), squeezed(all_text(blocks)))
    ]
    assert len(found) == 652
    assert alone == sorted(number for numbers in KNOWN.values() for number in numbers)
