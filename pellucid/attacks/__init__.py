"""How can a model be fooled? The files in the order in which an attack runs through them:

door, question      what a user calls, and what an attack is asked
named               which `orders`, `candidates`, `guards` and `searches` an attack is made of
dictionaries        WordNet, tagger and pivots (`apertium/`), opened when first used
cases, attack_case  what may be edited in a text, what the model answers, and what is wanted (`goals`)
omission_scores     scores of units that an order asks for as questions
attack_steps        the parts of a plan joined to one generator of questions
questions           many attacks at once: their questions share passes, each with its own budget
explained_answers   what the model answers, with explanations
attack_texts        the attempts that come of it
attempt, record     what an attack did to one text, and to many; `storage`, `folder` and `blind_sheet` keep them
"""
