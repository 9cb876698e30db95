"""What attacks return: attempts, how they are saved, and sheets that people judge blindly."""
