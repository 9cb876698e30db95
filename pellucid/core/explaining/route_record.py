"""What results and saved work say of the route that computed a model's passes."""

from pellucid.core.passes.model import Model

EAGER = "eager"


def route_record(model: Model) -> dict[str, str]:
    """The name of the route as {"route": name}; {} for eager, so that records of earlier versions match.

    Models of other packages need not have a route.
    """
    name = getattr(model, "route_in_use", EAGER)
    return {} if name == EAGER else {"route": name}
