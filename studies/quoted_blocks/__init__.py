"""The tables that pages of the documentation quote from the studies."""
