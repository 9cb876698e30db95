"""Models that write: translations and continuations, how good they are, and how a translator is trained."""
