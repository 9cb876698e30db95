"""How does a person see it? What all pages, terminal views and figures are drawn with."""
