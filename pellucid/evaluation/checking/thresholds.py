"""When a method passes a check. Each number stands here once, with its reason; none was fitted to a result."""

# Kendall's tau between explanations of the trained model and of one whose weights, or labels, mean nothing. Unrelated rankings
# have 0 on average, and scores that ignore the model have 1. Scores may still follow what the text and the architecture alone
# give (a full stop's gradient is small in most networks), so 0 itself is not asked for. The middle is: nearer to "knows nothing
# of the model" than to "follows what it has learnt" fails.
RANDOMISED_TAU = 0.5

# The same after a part of the weights alone was randomised. The rest still carries what it learnt, so more may stay the same;
# but scores that hardly notice it (the order of one pair of words in twenty changes, tau .9) do not read that part.
PART_RANDOMISED_TAU = 0.9

# The share of a word that the model cannot read, times the number of words: 1 for a word of average weight, which is what scores
# give it that know nothing of it, 0 for exact ones. Sampling methods leave a rest that shrinks with their samples; half of an
# average word is more than a rest.
DEAD_SHARE = 0.5

# How far scores move when all word vectors are shifted and the shift is taken back before the network reads them, as a share of
# the scores. The function of the text is the same, so exact scores move by rounding alone; a twentieth leaves room for that in
# sixteen bits.
SHIFT_CHANGE = 0.05
