"""Figure 1 as our own drawing: a state of two tokens, read back as a mixture of both, one after each layer.

The picture is computed: two unit vectors stand for the tokens; a layer mixes the states by an attention of ours, and
each state is decoded by a softmax over its inner products with the tokens. What is drawn are these numbers.
"""

from html import escape

import numpy as np

WIDTH, HEIGHT = 760, 330
RADIUS, LEFT, LOW = 205, 60, 270  # of the circle, and where its middle lies
ANGLES = (72.0, 12.0)  # degrees of the two tokens on the circle
MIXING = np.array([[0.9, 0.1], [0.25, 0.75]])  # row: where a state's next value comes from
SHARPNESS = 3.0  # of the softmax that decodes a state
LAYERS = 3
TOKENS = ("big", "dog")
ALPHA = (0.3, 0.9)  # saliency of both places at the last layer, made up for the drawing
INK, MUTED, RULE, COLOURS = "#1c1f24", "#5d6470", "#c9cdd3", ("#0b6fb8", "#c95a06")
FONT = "font-family='system-ui,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif'"


def tokens() -> np.ndarray:
    """[token axis]: two unit vectors."""
    angles = np.deg2rad(ANGLES)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def states(layers: int = LAYERS) -> np.ndarray:
    """[layer place axis]: the states of both places, from the word vectors on."""
    rows = [tokens()]
    for _ in range(layers):
        rows.append(MIXING @ rows[-1])
    return np.stack(rows)


def decoded(state: np.ndarray) -> np.ndarray:
    """[token place]: the probability of each token at each place, D of equation 5; columns add up to 1."""
    products = SHARPNESS * tokens() @ state.T
    weights = np.exp(products - products.max(0))
    return np.asarray(weights / weights.sum(0))


def geometry_picture() -> str:
    """The circle with tokens and the paths of both states; beside it D, the saliency of places, and that of tokens."""
    parts = [*_circle(), *_paths(), *_matrix()]
    about = (
        "Left: two tokens on a circle, and how their states move towards each other from layer to layer. Right: each "
        "state decoded as a mixture of both tokens, which shares the saliency of the two places among the two tokens."
    )
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}' "
        f"role='img'><title>Saliency read back in words</title><desc>{about}</desc>"
    )
    ground = f"<rect x='1' y='1' width='{WIDTH - 2}' height='{HEIGHT - 2}' rx='14' fill='#ffffff' stroke='{RULE}'/>"
    return "\n".join([head, ground, *parts, "</svg>"]) + "\n"


def _at(point: np.ndarray) -> tuple[float, float]:
    return round(LEFT + RADIUS * float(point[0]), 1), round(LOW - RADIUS * float(point[1]), 1)


def _circle() -> list[str]:
    angles = np.deg2rad(np.linspace(0, 90, 60))
    arc = " ".join("{},{}".format(*_at(np.array([np.cos(one), np.sin(one)]))) for one in angles)
    origin = _at(np.zeros(2))
    parts = [
        _text(20, 30, "States of “big dog”, layer by layer", weight=600),
        f"<polyline points='{arc}' fill='none' stroke='{RULE}' stroke-width='1.5'/>",
        f"<circle cx='{origin[0]}' cy='{origin[1]}' r='2.5' fill='{MUTED}'/>",
    ]
    for token, point, colour in zip(TOKENS, tokens(), COLOURS, strict=True):
        x, y = _at(point)
        parts += [
            f"<line x1='{origin[0]}' y1='{origin[1]}' x2='{x}' y2='{y}' stroke='{RULE}' stroke-dasharray='3 4'/>",
            f"<circle cx='{x}' cy='{y}' r='6' fill='{colour}'/>",
            _text(x + 11, y - 6, token, colour=colour, weight=650),
        ]
    return parts


def _paths() -> list[str]:
    parts = []
    for place, colour in enumerate(COLOURS):
        points = [_at(state[place]) for state in states()]
        path = " ".join(f"{x},{y}" for x, y in points)
        parts.append(
            f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='1.6' stroke-opacity='.6'/>"
        )
        for x, y in points[1:]:
            parts.append(f"<circle cx='{x}' cy='{y}' r='4' fill='#ffffff' stroke='{colour}' stroke-width='1.8'/>")
    return [
        *parts,
        _text(
            20,
            HEIGHT - 18,
            f"dots: word vectors; rings: states after layers 1 to {LAYERS}",
            size=12,
            colour=MUTED,
        ),
    ]


def _matrix() -> list[str]:
    """D, the saliency of places, and their product."""
    shares, left = decoded(states()[-1]), 380
    scores = shares @ np.array(ALPHA)
    parts = [
        _text(left, 30, "Saliency of places, shared among tokens", weight=600),
        _text(left + 90, 64, "place 1", size=12, colour=MUTED),
        _text(left + 180, 64, "place 2", size=12, colour=MUTED),
        _text(left + 280, 64, "token’s score", size=12, colour=MUTED),
    ]
    for row, token in enumerate(TOKENS):
        y = 104 + 54 * row
        parts.append(_text(left, y + 5, token, colour=COLOURS[row], weight=650))
        for place in range(2):
            parts += _share(left + 90 + 90 * place, y, float(shares[row, place]), COLOURS[row])
        parts.append(_text(left + 280, y + 5, f"{scores[row]:.2f}", size=15, weight=650))
    y = 104 + 54 * 2
    parts.append(_text(left, y + 5, "saliency α", colour=MUTED))
    parts += [_text(left + 90 + 90 * place, y + 5, f"{alpha:.2f}") for place, alpha in enumerate(ALPHA)]
    parts.append(_text(left + 280, y + 5, f"Σ {sum(ALPHA):.2f}", colour=MUTED))
    return [
        *parts,
        _text(
            left,
            HEIGHT - 18,
            "each column adds up to 1; the other tokens are left out here",
            size=12,
            colour=MUTED,
        ),
    ]


def _share(x: float, y: float, share: float, colour: str) -> list[str]:
    return [
        f"<rect x='{x}' y='{y - 14}' width='64' height='26' rx='4' fill='{colour}' "
        f"fill-opacity='{0.08 + 0.5 * share:.2f}'/>",
        _text(x + 14, y + 4, f"{share:.2f}"),
    ]


def _text(x: float, y: float, text: str, *, size: int = 14, weight: int = 400, colour: str = INK) -> str:
    look = f"{FONT} font-size='{size}' font-weight='{weight}' fill='{colour}'"
    return f"<text x='{x:.1f}' y='{y:.1f}' {look}>{escape(text)}</text>"
