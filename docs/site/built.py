"""Reads the built site as a browser does: every link and anchor leads somewhere, nothing is fetched from elsewhere."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


@dataclass
class Page(HTMLParser):
    """The addresses that a page fetches and leads to, its anchors, and its pictures without a text."""

    fetched: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    silent: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag fetches, leads to and is called."""
        values = {key: value or "" for key, value in attrs}
        self.anchors.add(values.get("id", ""))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if values.get(FETCHED.get(tag, "")):
            self.fetched.append(values[FETCHED[tag]])
        if tag == "img" and not values.get("alt", "").strip():
            self.silent.append(values.get("src", ""))


def check(site: Path) -> int:
    """How many pages there are; raises `SystemExit` with every fault, a line each."""
    pages = {path.resolve(): read(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
    faults = [
        f"{path.relative_to(site.resolve())}: {fault}"
        for path, page in pages.items()
        for fault in faults_of(path, page, pages)
    ]
    if faults:
        raise SystemExit("\n".join([*faults, f"{len(faults)} faults; mend the pages that they come from."]))
    return len(pages)


def read(path: Path) -> Page:
    """A page of the site."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def faults_of(path: Path, page: Page, pages: dict[Path, Page]) -> list[str]:
    """What is wrong with one page, in words."""
    faults = [f"the picture {name} has no text" for name in page.silent]
    faults += [f"it fetches {address}, which is not in the site" for address in page.fetched if leads_out(address)]
    inside = [address for address in (*page.links, *page.fetched) if not leads_out(address)]
    return faults + [
        f"{address} leads nowhere" for address in dict.fromkeys(inside) if not leads_somewhere(address, path, pages)
    ]


def leads_out(address: str) -> bool:
    """Whether an address is that of another site."""
    parts = urlsplit(address)
    return bool(parts.scheme and parts.scheme != "data") or bool(parts.netloc)


def leads_somewhere(address: str, path: Path, pages: dict[Path, Page]) -> bool:
    """Whether there is the file, and in it the anchor."""
    parts = urlsplit(address)
    if parts.scheme == "data":
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    anchor = unquote(parts.fragment)
    return target.is_file() and (not anchor or target not in pages or anchor in pages[target].anchors)
