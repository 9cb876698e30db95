"""What each version saved, in an archive each; later versions must read it as it was."""
