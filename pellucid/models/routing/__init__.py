"""What routes share, and how one of them is chosen for a model by trial."""
