"""Pieces of Markdown that several pages have."""

from collections.abc import Iterable, Mapping, Sequence


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with one line a row."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def not_run_yet(missing: Iterable[str]) -> str:
    """The paragraph about missing work; "" where nothing is missing."""
    listed = "; ".join(missing)
    return f"**Not run yet, so not judged:** {listed}.\n\n" if listed else ""


def models_with_seeds(missing: Mapping[str, Sequence[int]]) -> list[str]:
    """Names, each with its seeds in brackets; those without seeds are left out."""
    return [f"{name} ({listed_seeds(seeds)})" for name, seeds in missing.items() if seeds]


def listed_seeds(seeds: Sequence[int]) -> str:
    """Seeds as a page lists them."""
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"


def noted(page: str, notes: Sequence[str]) -> str:
    """A page with paragraphs below its title."""
    title, rest = page.split("\n", 1)
    return "\n\n".join([title, *notes]) + "\n" + rest
