"""How do results and examples leave for other tools? One file a form; packages it needs are optional."""
