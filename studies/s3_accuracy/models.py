"""The four kinds of models of the paper, small: one pretrained encoder, and three that begin with random word
vectors.
"""

from dataclasses import replace

from pellucid.models.composed.networks import Plan
from pellucid.training.recipe import Recipe

PRETRAINED = "pretrained"
TITLES = {PRETRAINED: "MiniLM", "transformer": "Transformer", "bilstm": "BiLSTM", "cnn": "CNN"}
PAPER_NAMES = {PRETRAINED: "BERT", "transformer": "Transformer", "bilstm": "LSTM", "cnn": "CNN"}
WIDTHS = (1, 3, 5, 7)  # of the CNN's filters, each a layer of its own in the paper
# What a text's vector is: BERT and the Transformer read their first token, the LSTM the largest entries of its states.
POOLERS = {PRETRAINED: "first_token", "transformer": "first_token", "bilstm": "maximum", "cnn": "maximum"}
RATES = {PRETRAINED: 5e-5, "transformer": 3e-4, "bilstm": 1e-3, "cnn": 1e-3}
HEADS, BLOCKS, LSTM_LAYERS = 4, 3, 4


def model_plan(name: str, labels: tuple[str, ...], encoder: str, width: int) -> Plan:
    """A model's plan. encoder: the pretrained one, by name or folder. width: numbers of a state and of a random word
    vector.
    """
    if name == PRETRAINED:
        return Plan(encoder, POOLERS[name], {}, labels)
    own: dict[str, dict[str, object]] = {
        "transformer": {"heads": HEADS, "feed_forward": 4 * width, "layers": BLOCKS, "width": width},
        "bilstm": {"layers": LSTM_LAYERS, "width": width},
        "cnn": {"widths": list(WIDTHS), "filters": width // len(WIDTHS)},
    }
    settings = {"vectors": "random", "vector_width": width, **own[name]}
    return Plan(name, POOLERS[name], {}, labels, encoder_settings=settings)


def model_recipe(name: str, epochs: int, seed: int) -> Recipe:
    """A model's recipe; the head of a model that begins with random vectors learns as fast as the rest of it."""
    recipe = Recipe(epochs=epochs, batch_size=32, learning_rate=RATES[name], seed=seed)
    return recipe if name == PRETRAINED else replace(recipe, new_parts_factor=1.0)
