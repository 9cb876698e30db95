"""Why did the model answer so? The doors to explanations, what they take in, their pages and their commands."""
