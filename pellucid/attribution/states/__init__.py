"""Which words does a hidden state hold? The methods that Guan et al. (2019) compare with theirs, for states as vectors."""
