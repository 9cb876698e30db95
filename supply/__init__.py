"""How what Pellucid is developed with gets installed: locked, listed, checked."""
