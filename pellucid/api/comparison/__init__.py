"""What a call of `compare` describes, and how several processes share it."""
