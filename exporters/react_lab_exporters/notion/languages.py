"""The languages of Notion's code blocks, and what people write for them."""

from __future__ import annotations

LANGUAGES = frozenset(
    "abap|abc|agda|arduino|ascii art|assembly|bash|basic|bnf|c|c#|c++|clojure|coffeescript|coq|css|dart|dhall|diff|"
    "docker|ebnf|elixir|elm|erlang|f#|flow|fortran|gherkin|glsl|go|graphql|groovy|haskell|hcl|html|idris|java|"
    "javascript|json|julia|kotlin|latex|less|lisp|livescript|llvm ir|lua|makefile|markdown|markup|matlab|mathematica|"
    "mermaid|nix|notion formula|objective-c|ocaml|pascal|perl|php|plain text|powershell|prolog|protobuf|purescript|"
    "python|r|racket|reason|ruby|rust|sass|scala|scheme|scss|shell|smalltalk|solidity|sql|swift|toml|typescript|"
    "vb.net|verilog|vhdl|visual basic|webassembly|xml|yaml|java/c/c++/c#".split("|")
)

ALIASES = {
    alias: language
    for language, aliases in {
        "assembly": "asm nasm x86asm",
        "bash": "zsh",
        "c": "h",
        "c#": "cs csharp",
        "c++": "cc cpp cxx hpp cplusplus",
        "clojure": "clj edn",
        "coffeescript": "coffee",
        "diff": "patch",
        "docker": "dockerfile",
        "elixir": "ex exs",
        "erlang": "erl",
        "f#": "fs fsharp",
        "fortran": "f90 f95",
        "go": "golang",
        "haskell": "hs",
        "hcl": "terraform tf",
        "html": "htm xhtml vue svelte",
        "javascript": "js jsx mjs cjs node",
        "json": "json5 jsonc jsonl ndjson geojson",
        "julia": "jl",
        "kotlin": "kt kts",
        "latex": "tex math",
        "lisp": "cl elisp emacs-lisp common-lisp",
        "llvm ir": "llvm",
        "makefile": "make mk",
        "markdown": "md mdx",
        "objective-c": "objc objectivec",
        "ocaml": "ml",
        "perl": "pl",
        "plain text": "text txt plain plaintext none console-output output",
        "powershell": "ps1 pwsh ps",
        "protobuf": "proto",
        "python": "py py3 python3 pycon ipython sage",
        "ruby": "rb",
        "rust": "rs",
        "scheme": "scm",
        "shell": "sh console shell-session shellsession terminal fish cmd bat",
        "solidity": "sol",
        "sql": "mysql postgres postgresql psql sqlite plsql tsql",
        "toml": "ini conf",
        "typescript": "ts tsx",
        "vb.net": "vb vbnet",
        "verilog": "v systemverilog sv",
        "visual basic": "vba",
        "webassembly": "wasm wat",
        "xml": "svg xsl xslt rss plist",
        "yaml": "yml",
    }.items()
    for alias in aliases.split()
}


def notion_language(info: str) -> str | None:
    """Notion's name for what stands behind a fence; None where it has no such language."""
    name = info.strip().lower()
    if name in LANGUAGES:
        return name
    word = name.split()[0].strip("{}.").partition(":")[0].partition("{")[0].partition(",")[0] if name else "plain text"
    return word if word in LANGUAGES else ALIASES.get(word)
