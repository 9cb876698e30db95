"""Work that several processes share, as plain arguments from which each makes the same question."""
