"""Gathers the pages of the site: every Markdown page of the repository's root and of docs/, and all that they lead to.

A page has the path that it has in the repository, so that links stay as they are written. A link to code or data leads
to a page that shows that file. A link that leads nowhere and a picture without a text end the build.
"""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = (".png", ".svg")
# code, in which nothing is a link, or the words, the path and the anchor of a link or picture
LINK = re.compile(
    r"```.*?^[ ]*```|`[^`\n]*`|(!?)\[((?:[^][`]|`[^`\n]*`|\[[^]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)", re.S | re.M
)
# pages of code, and the tables of studies, which pages on papers lead to: whoever searches wants the other pages first
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"
CODE_PAGE = UNSEARCHED + "# {path}\n\n````{language}\n{text}\n````\n"
LANGUAGES = {".py": "python", ".json": "json", ".toml": "toml", ".csv": "text"}


def gather(folder: Path, root: Path = ROOT) -> list[Path]:
    """Write every page and picture below the folder, which is emptied first; returns their paths in the repository.

    Raises `SystemExit` where a link leads nowhere or out of the repository, or a picture has no text.
    """
    shutil.rmtree(folder, ignore_errors=True)
    waiting = sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])
    known = set(waiting)
    for path in waiting:  # grows while it is read
        linked = write(path, folder, root)
        waiting += [target for target in linked if target not in known]
        known.update(linked)
    return [path.relative_to(root) for path in waiting]


def write(path: Path, folder: Path, root: Path) -> list[Path]:
    """Write one file's page, or copy a picture; returns the files that it leads to."""
    target = folder / path.relative_to(root)
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in PICTURES:
        shutil.copyfile(path, target)
        return []
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        page = LINK.sub(lambda link: site_link(link, path), text)
        is_of_study = path.is_relative_to(root / "studies")
        target.write_text(f"{UNSEARCHED}{page}" if is_of_study else page, encoding="utf-8")
        return list(dict.fromkeys(linked_files(text, path, root)))
    language = LANGUAGES.get(path.suffix, "text")
    page = CODE_PAGE.format(path=path.relative_to(root), language=language, text=text.rstrip())
    target.with_name(f"{target.name}.md").write_text(page, encoding="utf-8")
    return []


def linked_files(text: str, path: Path, root: Path) -> list[Path]:
    """The files that a page leads to."""
    files = []
    for picture, words, place, _ in LINK.findall(text):
        if picture and not words.strip():
            raise SystemExit(f"{path.relative_to(root)}: the picture {place} has no text; write what it shows: ![…].")
        if place and not re.match(r"[a-z]+:", place):
            files.append(
                checked((path.parent / place).resolve(), f"{path.relative_to(root)}: the link to {place}", root)
            )
    return files


def checked(target: Path, link: str, root: Path) -> Path:
    """A file of the repository."""
    if not target.is_relative_to(root) or not target.exists():
        raise SystemExit(f"{link} leads nowhere; name a file of the repository, by its path from this page.")
    if target.is_dir():
        raise SystemExit(f"{link} leads to a folder, which is no page; name a file in it.")
    return target


def site_link(link: re.Match[str], path: Path) -> str:
    """A link as the site has it: a file that is neither page nor picture has a page named after it."""
    place = link[3] or ""
    if not place or re.match(r"[a-z]+:", place) or (path.parent / place).suffix in (".md", *PICTURES):
        return link[0]
    start, end = link.start(3) - link.start(), link.end(3) - link.start()
    return f"{link[0][:start]}{place}.md{link[0][end:]}"
