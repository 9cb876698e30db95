"""What all attacks share. The files in the order in which an attack runs through them:

attack_plan     which order, candidates, guards and search an attack is made of
dictionaries    WordNet, tagger and pivots, opened when first used
attack_case     one text that is attacked
ranking         in which order its units are edited
attack_steps    the parts of a plan joined to one generator of questions
questions       many attacks at once: their questions share passes, each with its own budget
"""
