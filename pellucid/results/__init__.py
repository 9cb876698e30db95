"""What Pellucid returns: explanations, tables, analyses, and how they are saved."""
