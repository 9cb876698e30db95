"""Every weight of tying and of masked words, each judged by itself."""
