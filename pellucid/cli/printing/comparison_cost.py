"""What a comparison will cost, said before its work begins."""

from pellucid.cli.printing.safe_text import say
from pellucid.evaluation.comparison.comparison_cost import ComparisonCost
from pellucid.reports.terminal.pace import MINUTE, duration


def say_cost(cost: ComparisonCost | None) -> None:
    """Print the cost of work of more than a minute to standard error."""
    if cost is not None and (cost.seconds > MINUTE or cost.unknown):
        checks = f", {duration(cost.check_seconds)} of it for checks" if cost.check_seconds > MINUTE else ""
        unknown = f" How long {' and '.join(cost.unknown)} will train is not in it." if cost.unknown else ""
        say(
            f"This will take about {duration(cost.seconds)}{checks}: {cost.texts:,} texts and about {cost.evaluations:,} evaluations "
            f"of edited texts, judged by a trial with {cost.tried} texts.{unknown} --sample N compares N of them.",
            aside=True,
        )
