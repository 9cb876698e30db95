"""Why a line misses what it must reach, where we know it."""

WHY: dict[str, str] = {}


def why(what: str) -> str:
    """The reason for a line; empty if nothing is known."""
    return next((reason for begins, reason in WHY.items() if what.startswith(begins)), "")
