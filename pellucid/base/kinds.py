"""Every kind of extension. One file with one registration adds an extension; other packages register in the same way.

Another package declares, for example, `[project.entry-points."pellucid.methods"]`; these groups are
public names and stay when files move. Beside each catalogue stand the
facts that a registration declares: those of `requires` always, those of `optional` where they differ from the default.
"""

import math
from types import MappingProxyType

from pellucid.base.catalogue import Catalogue

STATE_VECTOR = "state_vector"
WITH_VIEWS = tuple(
    f"pellucid.{room}"
    for room in (
        "drawing.table_view",
        "explaining.views",
        "explaining.read",
        "comparison",
        "corpus",
        "layers",
        "attention",
        "words",
        "errors",
        "versions",
        "attacks",
        "evidence",
        "training",
        "writing",
        "discovery",
    )
)  # rooms with pages, terminal views, figures and readers of their results
# needs: a set of the capabilities that a model must have, such as "gradient"; empty where any function will do
# cost: in words, the passes for one text, such as "1 run of the model, with gradients"; where a setting says how often
# the model runs, the cost begins with its name, and `at_equal_time` sets it
# complete: the scores add up to the target's rise over the baseline
# signed: negative scores mean "against the target"
# of_class: the scores depend on the target; else they are the model's own weights, or random
# units: what a score belongs to, "piece", "word" or "span"
# random: the scores depend on the seed
# floor: the method is a lower bound, which others must beat
# usual: it is part of "all methods"; else it runs only when it is named
# measure: the unit in which scores of all layers and models are on one scale, such as "nats"; "" where they are not
# aliases: other names that people know it by, such as "ig"
# at_text: of a method that needs gradients, whether it takes one from the text's own pass, which methods share; else
# all its gradients are of other passes, as at points of a path or by backward rules
# compares: whether the method itself compares its own passes with the model's answers, so that the guard need not
# leads: a policy under which it reads the texts above their baselines (its setting `baselines`) in one pass; where it
# runs alone, that pass gives the texts' answers too, and the guard compares them
# shares: the scores are shares of one sum; else each is a number of its unit alone, such as a probability
# reads: what of the target it reads, a "number", or a STATE_VECTOR; such a method needs a hidden state as target
attributions = Catalogue(
    "attribution method",
    room="pellucid.attribution",
    group="pellucid.methods",
    command="methods",
    requires=("needs", "cost"),
    optional=MappingProxyType(
        {
            "complete": False,
            "signed": True,
            "of_class": True,
            "units": "piece",
            "random": False,
            "floor": False,
            "usual": True,
            "at_text": True,
            "compares": False,
            "leads": "",
            "shares": True,
            "measure": "",
            "reads": "number",
            "aliases": frozenset(),
        }
    ),
)

# worst: which value speaks most against a result, "highest" or "lowest"
# brief: a function from the value to a few words
# The registered function gives a sentence for a value ("" where it has none); its docstring says what is measured.
diagnostics = Catalogue(
    "diagnostic",
    room="pellucid.attribution",
    group="pellucid.diagnostics",
    requires=("worst",),
    optional=MappingProxyType({"brief": None}),
)

# better: "higher" or "lower"
# lowest, highest: the ends of its range
# judges: "faithfulness" to the model, "plausibility" to people, or "truth" where the reason is known
# needs: what an example must have, such as "rationales" (marked evidence); empty where any example will do
# capabilities: what a model must have, in the terms of methods; empty where any function will do
# of_classes: it asks which class the model predicts, so that it judges no model that gives a value
# usual: it is part of "all metrics"; else it runs only when it is named
# column: where it stands in tables, lowest first; metrics without a number come last, by name
# curve_axis: the label of its curve's horizontal axis
# curve_reading: how a good method's line looks
metrics = Catalogue(
    "metric",
    room="pellucid.comparison.metrics",
    group="pellucid.metrics",
    requires=("better", "lowest", "highest"),
    optional=MappingProxyType(
        {
            "judges": "faithfulness",
            "needs": frozenset(),
            "capabilities": frozenset(),
            "of_classes": False,
            "usual": True,
            "column": math.inf,
            "curve_axis": "share of the text",
            "curve_reading": "",
        }
    ),
)

# A function of a `CheckCase` and its settings; it returns a `Findings`. What no single text can answer.
# needs: what it cannot do without, a set of
#   "twins": further trainings of the model, with other seeds
#   "trainer": texts to train on, and a model in a folder with its recipe
#   "corpora": explanations of other data sets, each by a model of its own
#   "explainer": it explains again, other texts or with another model or seed; what it needs is always there
# cost: in words, what it computes besides the comparison
# long: it trains models, or takes about as long; it runs only when it is named
# timed: its numbers are measured by a clock, so no two runs give the same
# rule: when a method passes, as "passes where …"; "" where there is no pass
# asks: what it tests, in plain words that go on after "not tested: "; needed where there is a rule
# curve_axis: what its curves run along
# of_metrics: it is made again where a comparison goes on with more metrics
# again: how often it explains the texts anew: a number, or the setting that says how often, or "twins", once for each;
# a setting `n_texts` says how many texts
# of_random: it explains with the random methods alone, once less than that, since the comparison has explained once
checks = Catalogue(
    "check",
    room="pellucid.comparison.checks",
    group="pellucid.checks",
    requires=("needs", "cost"),
    optional=MappingProxyType(
        {
            "long": False,
            "timed": False,
            "rule": "",
            "asks": "",
            "curve_axis": "",
            "of_metrics": False,
            "again": 0,
            "of_random": False,
        }
    ),
)

# needs: what it reads.
#   "weights", "user_weights", "explainer": a function of one text with its weights, unit logits and states; it
#   returns a number for each draw, nan where the text does not fit. "user_weights" reads weights that the user gives,
#   "explainer" the scores of a method.
#   "states", "train": a function of a whole corpus (`AttentionCorpus`), its word vectors and states, or texts to
#   train with; it returns lines, each with a name of its own.
# better: "higher" where a higher value says that the weights matter to the answer, or "lower"
# lowest, highest: the ends of its range
# meaning: what the number says, in one sentence
# idle: its value where the weights have nothing to do with the answer, or None
# random: the values depend on a seed
# average: the outcome is the mean over "texts", or over all their "units"
# method: the attribution method whose scores an "explainer" test reads
# along: of a test whose lines are points of a curve, what the curve runs along; "" for others
attention_tests = Catalogue(
    "test of attention",
    room="pellucid.attention.weight_tests",
    group="pellucid.attention",
    requires=("better", "lowest", "highest"),
    optional=MappingProxyType(
        {
            "needs": "weights",
            "meaning": "",
            "idle": None,
            "random": False,
            "average": "texts",
            "method": "",
            "along": "",
        }
    ),
)

# task: what its labels say, such as "sentiment"
# classes: the names of its labels
# rationales: people marked the evidence in its texts
datasets = Catalogue(
    "data set",
    room="pellucid.data.built_in",
    group="pellucid.datasets",
    requires=("task", "classes"),
    optional=MappingProxyType({"rationales": False}),
)

# words: how many made-up words the reason needs
reasons = Catalogue("planted reason", room="pellucid.data.reasons", group="pellucid.reasons", requires=("words",))

# reads: in words, the files that it reads
# data: in words, what such files contain
# rationales: such files can contain marked evidence
# own_dev: they have a dev part of their own; else dev is cut from train
# package: the optional package that must be installed, or None
formats = Catalogue(
    "format",
    room="pellucid.data.formats",
    command="formats",
    group="pellucid.formats",
    requires=("reads",),
    optional=MappingProxyType({"data": "", "rationales": False, "own_dev": True, "package": None}),
)

# A function of a path, the names of the concepts to read (none: all that the file has, where that is possible) and the
# most words of each; it returns a list of `Concept`.
# reads: in words, the files that it reads
# endings: those of the names of such files, or "folder"
# names_needed: files of this kind have millions of concepts, so names must be given
concept_readers = Catalogue(
    "reader of concepts",
    room="pellucid.data.concepts",
    group="pellucid.concepts",
    requires=("reads", "endings"),
    optional=MappingProxyType({"names_needed": True}),
)

# A function of states [state width], the number of concepts and a seed; it returns a `Dictionary`.
# signed: activations may be below 0
discoveries = Catalogue(
    "discovery of concepts",
    room=("pellucid.discovery.dictionaries", "pellucid.discovery.autoencoders"),
    group="pellucid.discoveries",
    requires=("signed",),
)

# A function of a `JudgedCase`; it returns a `BesideChance`.
# better: "higher" or "lower"
concept_judges = Catalogue(
    "judge of concepts",
    room="pellucid.discovery.judges",
    group="pellucid.judges",
    requires=("better",),
)

# selection: how scores become spans unless the user chooses another way
# selections: all ways that it accepts
extractors = Catalogue(
    "extractor",
    room="pellucid.evidence.extractors",
    group="pellucid.extractors",
    requires=("selection", "selections"),
)

# reads: what of the network's output it reads: "spans", "units", "weights" (either of them), "gates" or "states"
# same_width: it compares states with word vectors, so both must have equally many numbers
penalties = Catalogue(
    "penalty",
    room="pellucid.training.penalties",
    group="pellucid.penalties",
    requires=("reads",),
    optional=MappingProxyType({"same_width": False}),
)

# A class of the context of a training and its settings; its method `losses` gives a number a text, to be minimised.
# reads: what of the model it needs, in the terms of penalties, or "logits", which every model has
# same_width: it compares states with word vectors, so both must have equally many numbers
# freezes: it needs word vectors that stay as they are; training freezes them unless it is told otherwise
# instead_of_labels: it stands in place of the cross-entropy of the labels
# marks: it reads the evidence that people marked in the train texts
# model: its setting that names another model, which it reads; "" for none
# pooler_setting: without this setting of the pooler it would change nothing; "" for none
objectives = Catalogue(
    "objective",
    room="pellucid.training.objectives",
    group="pellucid.objectives",
    requires=("reads",),
    optional=MappingProxyType(
        {
            "same_width": False,
            "freezes": False,
            "instead_of_labels": False,
            "marks": False,
            "model": "",
            "pooler_setting": "",
        }
    ),
)

# explains: the capability that it gives a model, such as "span_weights", or False
# alone: it reads the state of one piece and of no other
# chooses: the text is read twice, once to choose words and once to decide
# linear: what it gives is a sum of parts of the states that it reads, without constants
poolers = Catalogue(
    "pooler",
    room="pellucid.models.poolers",
    group="pellucid.poolers",
    requires=("explains",),
    optional=MappingProxyType({"alone": False, "chooses": False, "linear": False}),
)

# Only encoders that are trained from word vectors register; pretrained encoders are folders and names on the hub.
# learning_rate: one that works well
# sees: how much of a text the state of a piece can depend on, "text" or "neighbours"
encoders = Catalogue(
    "encoder",
    room="pellucid.models.encoders",
    group="pellucid.encoders",
    requires=("learning_rate", "sees"),
)

# A class of a network, a `Route`: how its passes are computed, never what (`models/routing/trial.py`).
# devices: kinds of devices that it computes on, such as "cpu"; empty where any will do
# trains: whether it computes steps of training
# mixes: whether it computes in mixed precision too
# answers_only: whether it leaves passes with a graph, and those that record what is on the way, to PyTorch
routes = Catalogue(
    "route",
    room="pellucid.models.routing.routes",
    group="pellucid.routes",
    optional=MappingProxyType({"devices": frozenset(), "trains": True, "mixes": False, "answers_only": False}),
)

# draws: the kind of result, such as "table"
# page_of: the classes of results whose page it writes; heading: of that page, a format of the result. It is called with
# the result, path, title and about.
# sections_of: the classes of results whose sections it writes, for a page that may have a comparison too; it is called
# with the result and returns the sections, the guide to reading them, and the opening
# figure, figure_of: the kind of figure that it draws, and of which classes of results; first_of: where it is the
# usual one
# latex_of: the classes of results that it writes as LaTeX; all of them by their full names, since other libraries have
# a `Table`, too
renderers = Catalogue(
    "renderer",
    room=WITH_VIEWS,
    group="pellucid.renderers",
    requires=("draws",),
    optional=MappingProxyType(
        {
            "page_of": (),
            "heading": "",
            "sections_of": (),
            "figure": "",
            "figure_of": (),
            "first_of": (),
            "latex_of": (),
        }
    ),
)

# A function of a path that returns what it holds, or None where that is something else.
readers = Catalogue("reader of results", room=WITH_VIEWS, group="pellucid.readers")

# conserves: in a network without biases, the relevance of the words adds up to the output
# method: the attribution method that uses it; None for `relevance`
policies = Catalogue(
    "relevance policy",
    room="pellucid.attribution.backward.policies",
    group="pellucid.policies",
    requires=("conserves",),
    optional=MappingProxyType({"method": None}),
)

# The five parts of an attack, and the attacks made of them.
# A function of an `AttackCase` and settings; it returns a `Ranking` of the case's units. It may be a generator that
# asks.
# method: the attribution method whose scores it reads; "" for none
# asks: it asks for the scores of "occlusion" itself where a case has `omissions` in place of scores
# (`attacks/omission_scores.py`)
attack_orders = Catalogue(
    "order of an attack",
    room="pellucid.attacks.orders",
    group="pellucid.orders",
    optional=MappingProxyType({"method": "", "asks": False}),
)
# A function of an `AttackCase`, the number of a unit and settings; it returns the texts that may stand in the unit's
# place.
# needs: what must be installed, such as "wordnet"
attack_candidates = Catalogue(
    "candidates of an attack",
    room="pellucid.attacks.candidates",
    group="pellucid.candidates",
    optional=MappingProxyType({"needs": frozenset()}),
)
# A function of an `AttackCase`, the edits so far, the next edit and settings; it returns whether the edit is allowed.
attack_guards = Catalogue("guard of an attack", room="pellucid.attacks.guards", group="pellucid.guards")
# A generator of an `AttackCase`, a ranking, candidates, a guard and settings: it yields lists of edited texts, gets the
# model's answers to them, and returns its edits.
# needs: capabilities that a model must have; with "gradient" the case says what each replacement gains to first order
attack_searches = Catalogue(
    "search of an attack",
    room="pellucid.attacks.searches",
    group="pellucid.searches",
    optional=MappingProxyType({"needs": frozenset()}),
)
# A class of the model's answer to the text as it is, of what it reads of that text [number], and settings; `nearness`
# and `reached` judge answers to edited texts, `aim` says which number an order explains. A setting `label` names the
# class that it is about.
# reads: what an answer is: "probabilities" [class], "logits" [logit], or "explanation", probabilities [class] and then
# the score of each word of the original text; a setting `method` says by which attribution method
# problems: those of the models that it makes sense for
attack_goals = Catalogue(
    "goal of an attack",
    room="pellucid.attacks.goals",
    group="pellucid.goals",
    optional=MappingProxyType(
        {
            "reads": "probabilities",
            "problems": frozenset({"single_label", "one_logit", "multi_label", "regression"}),
        }
    ),
)
# A function of settings that returns an `AttackPlan`.
# unit: what it edits, "word" or "span"
# needs: capabilities that a model must have
# source: where it was published
attacks = Catalogue(
    "attack",
    room="pellucid.attacks.named",
    group="pellucid.attacks",
    requires=("unit",),
    optional=MappingProxyType({"needs": frozenset(), "source": ""}),
)

# A function of a run's work that is left (`RunWork`) and settings: it computes the shards, in processes of its own.
engines = Catalogue("engine", room="pellucid.corpus.engines", group="pellucid.engines")

# A function of a `Visit` that returns what the reader gets: a page, another address or a file (`studio/visit.py`).
# title: in the navigation; "" of a view that others lead to
views = Catalogue("view of the studio", room="pellucid.studio.views", group="pellucid.studio", requires=("title",))
