"""From a plan to a network that is not trained yet, and its tokenizer."""

from collections.abc import Sequence
from pathlib import Path

from pellucid.base.errors import BadSetting
from pellucid.base.kinds import encoders, poolers
from pellucid.base.local_random import OwnDraws
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.source_digest import load_encoder
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.composed.composed import (
    CONFIG,
    as_classifier,
    is_composed,
    load_composed,
    strip_final_full_stop,
)
from pellucid.models.composed.composed_network import ComposedNetwork, composed_network
from pellucid.models.composed.joined_windows import check_ends
from pellucid.models.composed.lower_layers import (
    B_COS,
    fitting_poolers,
    has_b_cos_layers,
    remove_upper_blocks,
)
from pellucid.models.composed.plan import Plan, read_plan
from pellucid.models.composed.word_vectors import new_encoder
from pellucid.models.families.encoder import Encoder
from pellucid.models.folders.configuration import read_object
from pellucid.models.folders.kinds_of_model import CLASSIFIER, class_names


def compose(plan: Plan, seed: int, texts: Sequence[Sequence[str]] = ()) -> tuple[ComposedNetwork, Tokenizer]:
    """A network whose new parts are drawn from the seed, and the tokenizer; raises `BadSetting` for parts that do not fit.

    texts: the train texts and pairs; an encoder on a file of word vectors knows their words.
    """
    fresh = plan.encoder in encoders.names() and not plan.started_from
    if plan.encoder_settings and not fresh:
        raise BadSetting(
            f"encoder_settings belong to {', '.join(encoders.names())}; {plan.encoder} is trained already and has none."
        )
    pretrained = None if fresh else _pretrained(plan.encoder)
    with OwnDraws(seed):
        encoder, tokenizer = pretrained or new_encoder(plan.encoder, plan.encoder_settings, texts)
        if plan.strip_final_full_stop:
            strip_final_full_stop(tokenizer)
        _check_reads_the_text(encoder.config.model_type, plan.pooler)
        layer = plan.pooler_settings.get("layer")
        if isinstance(layer, int):
            remove_upper_blocks(encoder, layer, plan.encoder)
        if has_b_cos_layers(encoder) and plan.layer_form != B_COS:
            raise BadSetting(
                f"{plan.encoder} has B-cos layers; give form='b_cos' with {fitting_poolers()}, or begin with another model."
            )
        network = composed_network(encoder, plan)
    if network.joins and plan.layer_form == B_COS:
        raise BadSetting(
            f"form='b_cos' explains texts that are read as one, and max_length={plan.max_length} joins windows; leave one of them away."
        )
    if network.joins:
        check_ends(tokenizer, plan.encoder)
    return network, tokenizer


def _pretrained(source: str) -> tuple[Encoder, Tokenizer]:
    """The encoder of a composed model or of Hugging Face's, and its tokenizer."""
    if is_composed(source):
        started = load_composed(source)
        return started.network.encoder, started.tokenizer
    return load_encoder(source)


def _check_reads_the_text(encoder: str, pooler: str) -> None:
    """Raise `BadSetting` where the pooler reads one piece alone and a piece knows its neighbours alone."""
    alone = encoder in encoders.names() and poolers.get(pooler).facts["alone"]
    if alone and encoders.get(encoder).facts["sees"] != "text":
        raise BadSetting(
            f"In a {encoder} a piece knows its neighbours alone, so pooler={pooler!r} would not read the text; give span, "
            "mean or maximum."
        )


# A pretrained encoder as a model, before it is fine-tuned: its states can be read, and its answers mean
# nothing.


LABELS = ("first", "second")  # of a head that nothing reads


def encoder_model(source: str | Path) -> Classifier:
    """The encoder of a name or folder under a head that nobody trained; of a composed model, the one that it began with, in its own
    form (without B-cos layers).

    Raises `BadSetting` for a classifier whose encoder before fine-tuning is not known, `BadFile` where there is none.
    """
    name = _beginning(source)
    encoder, tokenizer = load_encoder(name)
    plan = Plan(str(name), "mean", {}, LABELS)
    with OwnDraws(0):
        network = composed_network(encoder, plan)
    return as_classifier(network.eval(), tokenizer, plan, str(name))


def is_encoder(source: str | Path) -> bool:
    """Whether a source plainly is an encoder without a classifier: "minilm", or the folder of one."""
    if str(source) == "minilm":
        return True
    folder = Path(source)
    if not folder.is_dir() or is_composed(folder) or not (folder / CONFIG).is_file():
        return False
    return not any(name.endswith(CLASSIFIER) for name in class_names(folder))


def _beginning(source: str | Path) -> str | Path:
    """What an encoder is loaded from; of a composed model's folder, what its plan names."""
    if is_composed(source):
        plan = read_plan(read_object(Path(source) / CONFIG))
        if plan.started_from or plan.encoder in encoders.names():
            raise BadSetting(
                f"{source} was not begun with a pretrained encoder, so there is none before fine-tuning; leave "
                "on='encoder' (--on encoder) away."
            )
        return plan.encoder
    if Path(source).is_dir() and any(name.endswith(CLASSIFIER) for name in class_names(Path(source))):
        raise BadSetting(
            f"{source} is fine-tuned, and does not say from which encoder; give that encoder's folder or name in its place, "
            "or leave on='encoder' (--on encoder) away."
        )
    return source
