"""Options that several commands share, as records, and how they are read."""
