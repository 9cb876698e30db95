"""Every kind of extension there is. One file and one registration adds one; plug-ins use the same door.

An outside package declares, for example, `[project.entry-points."pellucid.attribution"]`.
"""

from types import MappingProxyType

from pellucid.core.catalogue import Catalogue

attributions = Catalogue(
    "attribution method",
    room="pellucid.attribution",
    requires=("needs", "cost"),
    # complete: the scores sum to the target's rise over the baseline; signed: negative scores mean "against"
    optional=MappingProxyType({"complete": False, "signed": True, "units": "piece", "random": False}),
)
metrics = Catalogue(
    "metric",
    room="pellucid.evaluation",
    requires=("better", "lowest", "highest"),
    optional=MappingProxyType({"needs": frozenset()}),
)
datasets = Catalogue(
    "data set",
    room="pellucid.datasets",
    requires=("task", "classes"),
    optional=MappingProxyType({"rationales": False}),
)
penalties = Catalogue("penalty", room="pellucid.training.penalties", requires=("reads",))
poolers = Catalogue("pooler", room="pellucid.models.poolers", requires=("explains",))
renderers = Catalogue("renderer", room="pellucid.reports", requires=("draws",))
