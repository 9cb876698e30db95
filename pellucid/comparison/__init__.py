"""Which explanation can be believed? Methods x metrics over many texts. The files in the order in which a comparison
runs:

door                what a user calls, and `comparison_of`, which reads it
comparison          what is compared, checked before any work, and cut into parts
compared_part       one part: every method explains its examples, every metric (`metrics/`) judges the explanations
case                what a metric judges, with `removed_words` and `selection`
judged_part         the values of a part, and how a file keeps them
table               from the values of all parts to the table, with its caveats
leads, trust_card   how far each method is ahead of random scores, tested, and what follows, in words
checking            the checks (`checks/`) that were asked for, run by `run_checks` on a `check_case`
folder              the same with every part kept on disk, so that an interrupted comparison can go on
checks_view, frontier, figure, terminal   how all this is seen; the page is `explaining/report.py`, with
                    `drawing/comparison_section.py` and `drawing/table_view.py`
"""
