"""A section of a page: a heading, a sentence or two in plain words, and what it shows."""

from dataclasses import dataclass

from pellucid.reports.markup.html import Markup


@dataclass(frozen=True)
class Section:
    """heading and intro are plain text and will be escaped; body is finished markup."""

    heading: str
    intro: str
    body: Markup
