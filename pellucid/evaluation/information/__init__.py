"""How much of a word its state holds: states of many texts, grouped, and what the groups say of the words."""
