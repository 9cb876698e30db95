"""The functions that `import pellucid` offers, one idea a file. They join the other folders and contain no mathematics."""

from typing import TYPE_CHECKING

from pellucid.base.lazy_attributes import lazy_names

if TYPE_CHECKING:
    from pellucid.api.analysing_errors import error_analysis
    from pellucid.api.analysing_spans import spans
    from pellucid.api.attacks.attacking import attack
    from pellucid.api.attention.analysing_attention import attention_analysis
    from pellucid.api.catalogues import attack_list, checks, formats, methods, routes
    from pellucid.api.comparing import compare, compare_cost, compare_with
    from pellucid.api.comparing_versions import diff
    from pellucid.api.continuing_texts import write
    from pellucid.api.counting_words import class_words
    from pellucid.api.drawing import figure, latex
    from pellucid.api.explaining import explain, explain_all
    from pellucid.api.extracting import extract
    from pellucid.api.inputs.explained_target import ALL, default_metrics, supported_methods, usual_methods
    from pellucid.api.inputs.loading import load
    from pellucid.api.judging import accuracy, follows_planted_reason
    from pellucid.api.layers.analysing_concepts import concepts
    from pellucid.api.layers.analysing_layers import layer_analysis
    from pellucid.api.planting import plant
    from pellucid.api.predicting import predict
    from pellucid.api.reading_results import examples, read
    from pellucid.api.recipes import recipe_of
    from pellucid.api.reporting import report
    from pellucid.api.selecting import select
    from pellucid.api.training import train
    from pellucid.api.training_lens import lens
    from pellucid.api.workers.comparison_of import comparison_of
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = [
    "ALL",
    "accuracy",
    "attack",
    "attack_list",
    "attention_analysis",
    "checks",
    "class_words",
    "compare",
    "compare_cost",
    "compare_with",
    "comparison_of",
    "concepts",
    "default_metrics",
    "diff",
    "error_analysis",
    "examples",
    "explain",
    "explain_all",
    "extract",
    "figure",
    "follows_planted_reason",
    "formats",
    "latex",
    "layer_analysis",
    "lens",
    "load",
    "methods",
    "plant",
    "predict",
    "read",
    "recipe_of",
    "report",
    "routes",
    "select",
    "spans",
    "supported_methods",
    "train",
    "usual_methods",
    "write",
]
