"""What a comparison will cost, said before its work begins."""

from pellucid.cli.printing.safe_text import say
from pellucid.evaluation.comparison.comparison_cost import ComparisonCost
from pellucid.reports.terminal.pace import MINUTE, duration


def say_cost(cost: ComparisonCost | None) -> None:
    """Print the cost of work of more than a minute to standard error."""
    if cost is not None and cost.seconds > MINUTE:
        say(
            f"This will take about {duration(cost.seconds)}: {cost.texts:,} texts and about {cost.evaluations:,} evaluations of "
            f"edited texts, judged by a trial with {cost.tried} texts. --sample N compares N of them.",
            aside=True,
        )
