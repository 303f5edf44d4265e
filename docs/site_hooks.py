# SPDX-License-Identifier: Apache-2.0
"""What the site shows beside this folder's pages: proofs from the source, and notebooks as they were run.

MkDocs calls the functions whose names begin with ``on_``. Nothing here runs a notebook or needs the package.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "anonymaly"
NAMES = {"questions/explain/everyone": "explain for everyone", "questions/explain": "explain under a rule"}
LINK = re.compile(r"\]\(([^)\s]*GUARANTEE\.md)(#[^)\s]*)?\)")
MENTION = re.compile(r"(?<!\[)`((?:[\w-]+/)*GUARANTEE\.md)`")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
LONG, SHORT = 60, 14  # letters of a cell
CODE = re.compile(r"(<code\b[^>]*>)(.*?)(</code>)", re.DOTALL)
# An option, or a name with hyphens: shorter than a phone's line, and no part of a path or of an address.
HYPHENS = re.compile(r"(?<![\w./-])(?=[\w-]{2,30}(?![\w/-]))-{0,2}\w+(?:-\w+)*(?<=[\w-]{2})")


def proofs() -> dict[str, Path]:
    """Return the page of each proof on the site, with the file that it is made from."""
    files = sorted(SOURCE.rglob("GUARANTEE.md"))
    return {f"proofs/{_name(file).replace(' ', '-').replace('_', '-')}.md": file for file in files}


def _name(file: Path) -> str:
    folder = file.parent.relative_to(SOURCE).as_posix()
    return NAMES.get(folder, folder.rpartition("/")[2])


def _proof_page(path: Path) -> str | None:
    return next((page for page, file in proofs().items() if file == path), None)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the proofs, and a page for each notebook; the notebook itself stays to be downloaded."""
    for page, source in proofs().items():
        files.append(File.generated(config, page, content=source.read_text("utf-8")))
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        text = notebook_page(json.loads(Path(str(file.abs_src_path)).read_text("utf-8")), file.src_uri)
        files.append(File.generated(config, file.src_uri.removesuffix("ipynb") + "md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to, and mentions of, a proof's file into links to its page."""
    return with_proof_links(markdown, page.file.src_uri)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show charts as wide as a page is, and mark what lines and columns need room for."""
    shown = with_charts(html, Path(str(page.file.abs_src_path)).parent)
    return with_whole_options(with_marked_cells(shown))


def with_charts(text: str, folder: Path) -> str:
    """Return a page with the charts of its pictures in it, so that their words are as large on a phone.

    A chart's places are percentages: in the page it has the page's width and colours, which a picture that is
    fetched has not. Drawings and pictures of other programs stay what they are.
    """

    def shown(match: re.Match[str]) -> str:
        # A page lies in a folder of its own, one below that of its text; index.md does not.
        places = (folder / match[1], folder / match[1].removeprefix("../"))
        place = next((place for place in places if place.is_file()), None)
        svg = place.read_text("utf-8").strip() if place else ""
        opening, closing, rest = svg.partition(">")
        if ' class="drawing"' not in opening or opening.count("<svg") != 1:
            return match[0]
        opening = re.sub(r' viewBox="[^"]*"| color="[^"]*"', "", opening)
        opening = re.sub(r' width="\d+"', ' width="100%"', opening)
        drawn = re.sub(r'^<rect [^>]*\bheight="100%"[^>]*>', "", rest)  # the paper
        return f'<span class="chart">{opening}{closing}{drawn}</span>'

    return re.sub(r'<img\b[^>]*?\bsrc="([^":]+\.svg)"[^>]*>', shown, text)


def with_marked_cells(text: str) -> str:
    """Return a page whose cells are marked: long text is not to be a word wide, a figure is one line."""

    def marked(match: re.Match[str]) -> str:
        words = html.unescape(re.sub(r"<[^>]*>", "", match[2]))
        figure = len(words) < SHORT and any(map(str.isdigit, words))
        kind = "long" if len(words) > LONG else "figure" if figure else ""
        return f'<td class="{kind}"{match[1]}>{match[2]}' if kind else match[0]

    return re.sub(r"<td((?:(?! class=)[^>])*)>(.*?)(?=</td>)", marked, text, flags=re.DOTALL)


def with_whole_options(text: str) -> str:
    """Return a page whose lines do not end within ``--option`` or ``share-sample``, as a browser's would."""

    def kept(match: re.Match[str]) -> str:
        word = match[0]
        return f'<span class="whole">{word}</span>' if "-" in word else word

    def coded(match: re.Match[str]) -> str:
        parts = re.split(r"(<[^>]*>)", match[2])  # tags stay as they are
        return (
            match[1]
            + "".join(part if part[:1] == "<" else HYPHENS.sub(kept, part) for part in parts)
            + match[3]
        )

    return CODE.sub(coded, text)


def with_proof_links(markdown: str, page: str) -> str:
    """Return a page's text with links to proofs as the site has them; ``page`` is its path below docs."""
    origin = proofs().get(page, ROOT / "docs" / page).parent

    def link(path: Path, rest: str = "") -> str | None:
        found = _proof_page(Path(posixpath.normpath(path.as_posix())))
        return found and posixpath.relpath(found, posixpath.dirname(page) or ".") + rest

    def linked(match: re.Match[str]) -> str:
        place = link(origin / match[1], match[2] or "")
        return f"]({place})" if place else match[0]

    def mentioned(match: re.Match[str]) -> str:
        # A name on the page of a question is of that question's own folder, unless it names another one.
        own = SOURCE / "questions" / Path(page).stem.replace("-", "_")
        homes = [folder / match[1] for folder in (SOURCE, origin, own, SOURCE / Path(page).stem)]
        place = next(filter(None, map(link, homes)), None)
        return f"[{match[0]}]({place})" if place else match[0]

    return MENTION.sub(mentioned, LINK.sub(linked, markdown))


def notebook_page(notebook: dict[str, Any], path: str) -> str:
    """Return a notebook that was run as a page: its texts, its code, and what each cell showed."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif source:
            parts.append(f"```python\n{source}\n```")
            parts += [_shown(output) for output in cell["outputs"]]
    name = posixpath.basename(path)
    heading, _, rest = "\n\n".join(parts).partition("\n")
    note = (
        f"This page is a notebook as it was run. [Download {name}]({name}){{ download }} to run it yourself."
    )
    return f"{heading}\n\n{note}\n{rest}"


def _shown(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        # Blank lines would end the block of HTML.
        lines = "".join(data["text/html"]).splitlines()
        return '<div class="shown drawn">\n' + "\n".join(line for line in lines if line.strip()) + "\n</div>"
    text = COLOURS.sub("", "".join(data.get("text/plain", output.get("text", []))))
    return f'<div class="shown"><pre><code>{html.escape(text.rstrip())}</code></pre></div>'
