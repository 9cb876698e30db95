"""What a self-explaining model made of its spans."""
