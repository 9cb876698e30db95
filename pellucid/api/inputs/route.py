"""The route that a model is loaded with: the one that was named, else the environment's, else eager."""

import os

from pellucid.core.explaining.route_record import EAGER
from pellucid.models.routing.route_choice import check_route

VARIABLE = "PELLUCID_ROUTE"


def route_to_load(route: str | None) -> str:
    """A route's name or "auto"; raises `UnknownName` for others."""
    name = route or os.environ.get(VARIABLE) or EAGER
    check_route(name)
    return name
