"""The numbers of Tutek & Šnajder (2020) that ours stand beside, in points."""

from collections.abc import Mapping

POOLER_SIGNS = {"additive": "+", "dot": "·"}

# Table 1: corpus -> pooler -> variant -> F1 with the model's own weights, its change under uniform and under permuted
# weights. One layer of table 6 repeats the additive rows.
TABLE_1: Mapping[str, Mapping[str, Mapping[str, tuple[float, float, float]]]] = {
    "SST": {
        "additive": {
            "base": (84.2, -2.8, -5.0),
            "concat": (83.7, -1.9, -4.7),
            "tying": (83.5, -7.0, -18.0),
            "masked_words": (82.8, -5.9, -15.6),
        },
        "dot": {
            "base": (84.3, -2.6, -6.5),
            "concat": (84.1, -3.4, -7.4),
            "tying": (83.5, -9.9, -20.0),
            "masked_words": (82.7, -3.0, -5.4),
        },
    },
    "AG": {
        "additive": {
            "base": (95.9, -2.3, -3.9),
            "concat": (95.9, -1.5, -2.6),
            "tying": (95.0, -3.3, -14.6),
            "masked_words": (95.2, -1.5, -6.6),
        },
        "dot": {
            "base": (95.9, -2.3, -3.8),
            "concat": (96.1, -1.9, -3.0),
            "tying": (95.4, -3.0, -12.2),
            "masked_words": (95.4, -2.0, -5.3),
        },
    },
    "NG": {
        "additive": {
            "base": (90.9, -9.8, -14.1),
            "concat": (91.3, -25.0, -28.2),
            "tying": (91.4, -39.7, -43.2),
            "masked_words": (91.5, -76.3, -66.0),
        },
        "dot": {
            "base": (91.1, -35.2, -36.8),
            "concat": (91.0, -40.4, -37.1),
            "tying": (90.9, -37.0, -42.8),
            "masked_words": (89.1, -79.6, -72.8),
        },
    },
    "IM": {
        "additive": {
            "base": (88.3, -10.0, -13.4),
            "concat": (88.3, -10.2, -14.0),
            "tying": (87.1, -56.2, -43.3),
            "masked_words": (87.5, -22.8, -26.5),
        },
        "dot": {
            "base": (88.2, -18.6, -22.9),
            "concat": (87.9, -17.2, -20.8),
            "tying": (87.2, -57.7, -45.3),
            "masked_words": (87.8, -15.3, -18.5),
        },
    },
    "ANM": {
        "additive": {
            "base": (92.4, -21.6, -22.4),
            "concat": (92.8, -19.3, -22.2),
            "tying": (91.3, -31.4, -27.6),
            "masked_words": (89.7, -35.0, -37.7),
        },
        "dot": {
            "base": (92.7, -10.2, -14.4),
            "concat": (92.4, -15.2, -17.2),
            "tying": (91.0, -91.0, -59.7),
            "masked_words": (90.7, -37.8, -33.9),
        },
    },
}

# Table 2: corpus -> vocabulary -> variant -> mutual information of word vectors and states, additive attention.
TABLE_2: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "SST": {
        "most frequent words": {"base": 2.324, "residual": 5.062, "tying": 4.870, "masked_words": 3.662},
        "random words": {"base": 2.435, "residual": 4.289, "tying": 4.216, "masked_words": 3.808},
    },
    "AG": {
        "most frequent words": {"base": 1.940, "residual": 5.467, "tying": 4.075, "masked_words": 3.845},
        "random words": {"base": 2.078, "residual": 4.518, "tying": 4.177, "masked_words": 3.980},
    },
    "NG": {
        "most frequent words": {"base": 1.566, "residual": 4.345, "tying": 3.985, "masked_words": 3.677},
        "random words": {"base": 1.828, "residual": 3.843, "tying": 3.784, "masked_words": 3.458},
    },
    "IM": {
        "most frequent words": {"base": 2.455, "residual": 4.998, "tying": 5.186, "masked_words": 3.728},
        "random words": {"base": 2.682, "residual": 4.366, "tying": 4.434, "masked_words": 3.885},
    },
    "ANM": {
        "most frequent words": {"base": 3.711, "residual": 5.253, "tying": 4.239, "masked_words": 4.016},
        "random words": {"base": 3.780, "residual": 4.477, "tying": 3.950, "masked_words": 3.921},
    },
}

# Table 3: the mean probability that one word's state alone gives the predicted class, over right answers.
TABLE_3: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "SST": {
        "additive": {"base": 0.712, "residual": 0.685, "tying": 0.586, "masked_words": 0.630},
        "dot": {"base": 0.693, "residual": 0.701, "tying": 0.600, "masked_words": 0.664},
    },
    "AG": {
        "additive": {"base": 0.887, "residual": 0.822, "tying": 0.615, "masked_words": 0.695},
        "dot": {"base": 0.862, "residual": 0.876, "tying": 0.646, "masked_words": 0.698},
    },
    "NG": {
        "additive": {"base": 0.811, "residual": 0.551, "tying": 0.577, "masked_words": 0.514},
        "dot": {"base": 0.687, "residual": 0.755, "tying": 0.516, "masked_words": 0.482},
    },
    "IM": {
        "additive": {"base": 0.625, "residual": 0.609, "tying": 0.533, "masked_words": 0.562},
        "dot": {"base": 0.590, "residual": 0.608, "tying": 0.539, "masked_words": 0.553},
    },
    "ANM": {
        "additive": {"base": 0.568, "residual": 0.547, "tying": 0.531, "masked_words": 0.515},
        "dot": {"base": 0.542, "residual": 0.534, "tying": 0.515, "masked_words": 0.519},
    },
}

# Table 5: words of a text in the mean, and words of the vocabulary.
TABLE_5 = {
    "SST": (17, 17_310),
    "AG": (31, 15_286),
    "NG": (164, 15_590),
    "IM": (234, 41_919),
    "ANM": (1_927, 20_290),
}

# Table 6, SST, additive, two and three layers, as table 1.
TABLE_6: Mapping[int, Mapping[str, tuple[float, float, float]]] = {
    1: TABLE_1["SST"]["additive"],
    2: {
        "base": (84.2, -1.0, -1.2),
        "concat": (84.5, -0.8, -4.6),
        "tying": (84.1, -3.7, -14.5),
        "masked_words": (84.4, -3.8, -5.9),
    },
    3: {
        "base": (84.2, -0.7, -0.7),
        "concat": (83.3, -1.3, -1.3),
        "tying": (84.6, -2.7, -13.9),
        "masked_words": (82.3, -7.3, -18.0),
    },
}
