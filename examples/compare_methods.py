"""Which explanation can I trust, for my model? Four methods against chance, judged without labels.

python examples/compare_methods.py path/or/hub-name --limit 100 --out comparison.html
"""

import argparse
from pathlib import Path

import pellucid

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", help="a folder with a classifier, or a hub name")
parser.add_argument("--data", default="pocket", help="a data set's name, a .jsonl file, or a folder of them")
parser.add_argument("--limit", type=int, default=20)
parser.add_argument("--out", type=Path, default=Path("comparison.html"))
arguments = parser.parse_args()

table = pellucid.compare(
    pellucid.load(arguments.model),
    pellucid.examples(arguments.data)[: arguments.limit],
    methods=[
        "gradient",
        "gradient_x_input",
        ("integrated_gradients", {"n_steps": 8}),
        "occlusion",
        ("chance", {"n_draws": 5}),
    ],
    metrics=["comprehensiveness", "sufficiency", ("hiding", {"reference": "prediction"})],
)
print(table)
for method in table.methods:
    print(f"{method}: {table.cell(method, 'comprehensiveness').verdict}")
print("Written:", pellucid.report([], table, path=arguments.out))
