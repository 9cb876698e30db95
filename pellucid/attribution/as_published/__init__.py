"""Methods as other tools or papers published them, with their choices."""
