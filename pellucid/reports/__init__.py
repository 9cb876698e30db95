"""How does a person see it? One renderer for notebook, file and terminal."""
