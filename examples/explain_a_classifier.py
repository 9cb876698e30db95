"""Why did my classifier say that? One text and one pair, in the terminal and as a page.

python examples/explain_a_classifier.py path/or/hub-name --out report.html
"""

import argparse
from pathlib import Path

import pellucid

TEXTS = ["A gripping, lovely film.", ("The café was closed on Monday.", "Nobody could eat there.")]

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", help="a folder with a classifier, or a hub name")
parser.add_argument("--out", type=Path, default=Path("report.html"))
arguments = parser.parse_args()

model = pellucid.load(arguments.model)
results = pellucid.explain(model, TEXTS, method="integrated_gradients", n_steps=16)
for result in results:
    print(result)
    print([(word.text, round(word.score, 4)) for word in result.words().top(3)])

pellucid.save(results, arguments.out.with_suffix(".parquet"))
assert pellucid.read(arguments.out.with_suffix(".parquet")) == results  # nothing is lost
print("Written:", pellucid.report(results, path=arguments.out))
