"""What version 0.1.0 saved, in one archive each; later versions must read it as it was."""
