"""Pellucid: why a model of texts answered as it did, and whether that explanation can be believed."""

from typing import TYPE_CHECKING

from pellucid.base.packages import lazy_names

if TYPE_CHECKING:
    from pellucid.attacks.blind_sheet import write_blind_sheet
    from pellucid.attacks.door import attack
    from pellucid.attacks.folder import read_blind_sheets
    from pellucid.attacks.named import AttackPlan
    from pellucid.attacks.record import Attempts
    from pellucid.attention.door import attention_analysis
    from pellucid.attention.record import AttentionAnalysis
    from pellucid.base.errors import PellucidError
    from pellucid.base.packages import __version__ as __version__
    from pellucid.catalogues import attack_list, checks, formats, methods, routes
    from pellucid.comparison.door import compare, compare_cost
    from pellucid.comparison.equal_time import at_equal_time
    from pellucid.corpus.door import explain_corpus
    from pellucid.corpus.estimate import corpus_cost
    from pellucid.corpus.plan import verify
    from pellucid.corpus.record import Run, open_run
    from pellucid.data.exports.eraser import write_eraser, write_eraser_examples
    from pellucid.data.exports.json_lines import to_dataset, to_shap, write_json_lines
    from pellucid.data.exports.tables import to_data_frame, write_csv
    from pellucid.discovery.activations import concept_activations
    from pellucid.discovery.door import find_concepts
    from pellucid.discovery.judged import judge_concepts
    from pellucid.discovery.layer_map import concept_map
    from pellucid.discovery.record import LearntConcepts
    from pellucid.discovery.text_record import text_concepts
    from pellucid.errors.door import error_analysis
    from pellucid.evidence.eraser_scores import eraser_scores
    from pellucid.evidence.extract import extract
    from pellucid.evidence.spans import spans
    from pellucid.explaining.answers import accuracy, follows_planted_reason, predict, select
    from pellucid.explaining.explain import explain_all
    from pellucid.explaining.figure import figure, latex
    from pellucid.explaining.inputs.loading import load
    from pellucid.explaining.inputs.pipelines import zero_shot
    from pellucid.explaining.inputs.scikit import from_pipeline
    from pellucid.explaining.planting import plant
    from pellucid.explaining.read import examples, read
    from pellucid.explaining.report import report
    from pellucid.explaining.typed_explain import explain
    from pellucid.explaining.word_pairs import word_pairs
    from pellucid.layers.concepts_door import concepts
    from pellucid.layers.door import layer_analysis
    from pellucid.layers.lens_door import lens
    from pellucid.layers.record import LayerAnalysis
    from pellucid.models.classifiers.bi_encoder import similarity
    from pellucid.models.classifiers.function import from_function
    from pellucid.models.classifiers.network import from_network
    from pellucid.models.classifiers.service import remote
    from pellucid.results.explanation import Explanation
    from pellucid.results.extraction import Extraction
    from pellucid.results.results import Results
    from pellucid.results.storage import save
    from pellucid.results.table import Table
    from pellucid.results.word_map import WordPairs
    from pellucid.run.hidden_target import HiddenState
    from pellucid.run.labels import Labels
    from pellucid.run.word import Word
    from pellucid.studio.door import open_studio
    from pellucid.text.example import Example
    from pellucid.training.door import train
    from pellucid.training.upgrading import Upgrade
    from pellucid.versions.door import diff
    from pellucid.words.door import class_words
    from pellucid.words.shortcuts import shortcuts
    from pellucid.writing.doors import Translation, train_translator, translate, write
    from pellucid.writing.scoring import bleu, link_scores, links
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = [
    "AttackPlan",
    "Attempts",
    "AttentionAnalysis",
    "Example",
    "Explanation",
    "Extraction",
    "HiddenState",
    "Labels",
    "LayerAnalysis",
    "LearntConcepts",
    "PellucidError",
    "Results",
    "Run",
    "Table",
    "Translation",
    "Upgrade",
    "Word",
    "WordPairs",
    "accuracy",
    "at_equal_time",
    "attack",
    "attack_list",
    "attention_analysis",
    "bleu",
    "checks",
    "class_words",
    "compare",
    "compare_cost",
    "concept_activations",
    "concept_map",
    "concepts",
    "corpus_cost",
    "diff",
    "eraser_scores",
    "error_analysis",
    "examples",
    "explain",
    "explain_all",
    "explain_corpus",
    "extract",
    "figure",
    "find_concepts",
    "follows_planted_reason",
    "formats",
    "from_function",
    "from_network",
    "from_pipeline",
    "judge_concepts",
    "latex",
    "layer_analysis",
    "lens",
    "link_scores",
    "links",
    "load",
    "methods",
    "open_run",
    "open_studio",
    "plant",
    "predict",
    "read",
    "read_blind_sheets",
    "remote",
    "report",
    "routes",
    "save",
    "select",
    "shortcuts",
    "similarity",
    "spans",
    "text_concepts",
    "to_data_frame",
    "to_dataset",
    "to_shap",
    "train",
    "train_translator",
    "translate",
    "verify",
    "word_pairs",
    "write",
    "write_blind_sheet",
    "write_csv",
    "write_eraser",
    "write_eraser_examples",
    "write_json_lines",
    "zero_shot",
]
