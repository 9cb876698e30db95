"""Every kind of extension there is. One file and one registration adds one; plug-ins use the same door.

An outside package declares, for example, `[project.entry-points."pellucid.attribution"]`.
"""

from types import MappingProxyType

from pellucid.core.foundation.catalogue import Catalogue

attributions = Catalogue(
    "attribution method",
    room="pellucid.attribution",
    requires=("needs", "cost"),
    # complete: the scores sum to the target's rise over the baseline; signed: negative scores mean "against"
    # floor: it is the level that others must beat; usual: `compare` runs it unless told otherwise
    # of_class: the scores change with what is explained; else they are the model's own, or luck, whatever the class
    # shares: scores are shares of a sum; else each is a number of its unit alone, such as a probability
    # later: settings that came after results were kept; they stand in a record only where they are not the default
    optional=MappingProxyType(
        {
            "complete": False,
            "signed": True,
            "of_class": True,
            "units": "piece",
            "random": False,
            "floor": False,
            "usual": True,
            "shares": True,
            "later": frozenset(),
        }
    ),
)
# A function from a diagnostic's value to a sentence for everybody ("" where it has none); its docstring says what is
# measured. worst: which value speaks most against a result, "highest" or "lowest"; brief: value -> a few words
diagnostics = Catalogue(
    "diagnostic",
    room="pellucid.attribution",
    requires=("worst",),
    optional=MappingProxyType({"brief": None}),
)
metrics = Catalogue(
    "metric",
    room="pellucid.evaluation.metrics",
    requires=("better", "lowest", "highest"),
    # usual: `compare` runs it unless told otherwise
    optional=MappingProxyType({"needs": frozenset(), "usual": True}),
)
datasets = Catalogue(
    "data set",
    room="pellucid.datasets.built_in",
    requires=("task", "classes"),
    optional=MappingProxyType({"rationales": False}),
)
# words: how many made-up words the reason needs
reasons = Catalogue("planted reason", room="pellucid.datasets.planted", requires=("words",))
formats = Catalogue(
    "format",
    room="pellucid.datasets.formats",
    requires=("reads",),  # its files, for people
    # data: words for what it holds; own_dev: False where dev is cut from train; package: what must be installed
    optional=MappingProxyType({"data": "", "rationales": False, "own_dev": True, "package": None}),
)
# selection: how its scores become spans unless told otherwise; selections: all that it takes
extractors = Catalogue(
    "extractor", room="pellucid.extraction.extractors", requires=("selection", "selections")
)
penalties = Catalogue("penalty", room="pellucid.training.penalties", requires=("reads",))
# explains: the capability that it gives a model, or False; alone: it reads the state of one piece and of no other;
# chooses: the text is read twice, to choose and to decide
poolers = Catalogue(
    "pooler",
    room="pellucid.models.poolers",
    requires=("explains",),
    optional=MappingProxyType({"alone": False, "chooses": False}),
)
# Encoders that are trained from word vectors on; pretrained ones are folders and hub names. learning_rate: a good one;
# sees: how much of a text a piece's state can know, "text" or "neighbours"
encoders = Catalogue("encoder", room="pellucid.models.encoders", requires=("learning_rate", "sees"))
renderers = Catalogue("renderer", room="pellucid.reports", requires=("draws",))
# conserves: without biases, relevance sums to the output; method: the one that reads it, None for relevance
policies = Catalogue(
    "relevance policy",
    room="pellucid.relevance.policies",
    requires=("conserves",),
    optional=MappingProxyType({"method": None}),
)
