"""What all attacks share. The files in the order in which an attack runs through them:

attack_plan        which order, candidates, guards and search an attack is made of
attack_parts       their names, looked up
name_counts        names in training texts
dictionaries       WordNet, tagger and pivots, opened when first used
right_answers      which texts are attacked
attack_case        one text that is attacked
aim                which number of its answer is moved, and which way
places             its words, and where they stand once it is edited
ranking            in which order its units are edited
omission_scores    scores of units that an order asks for as questions
attack_steps       the parts of a plan joined to one generator of questions
questions          many attacks at once: their questions share passes, each with its own budget
answers            what the model answers to them, and what that costs
explained_answers  the same with explanations
attack_texts       the attempts that come of it
"""
