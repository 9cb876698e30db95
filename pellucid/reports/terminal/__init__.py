"""Results and progress in a terminal."""
