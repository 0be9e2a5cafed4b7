"""Read the text out of a page or a PDF: `python extract.py page|pdf MAX_CHARS < FILE`, in a process of its own.

Parsers fed by strangers can be made to run for minutes: a page of a few hundred kilobytes is enough. So this is run
with a time limit from outside and, where the system can do that, a memory limit.
"""

import io
import sys

MAX_MEMORY_BYTES = 2 * 1024**3


def limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


def text_of_page(page: str) -> str:
    """The main text as Markdown, without menus, advertisements and links."""
    import trafilatura

    return trafilatura.extract(page, output_format="markdown", include_comments=False, include_tables=True) or ""


def text_of_pdf(file: bytes, max_chars: int) -> str:
    """The text of as many pages as are needed."""
    import pypdf

    text = ""
    for page in pypdf.PdfReader(io.BytesIO(file)).pages:
        text += page.extract_text() + "\n\n"
        if len(text) > max_chars:
            break
    return text.strip()


def main() -> None:
    kind, max_chars = sys.argv[1], int(sys.argv[2])
    limit_memory()
    file = sys.stdin.buffer.read()
    text = text_of_pdf(file, max_chars) if kind == "pdf" else text_of_page(file.decode("utf-8"))
    sys.stdout.buffer.write(text[:max_chars].encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
