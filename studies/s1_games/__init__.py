"""Tables 1 and 2, figures 2, 3, 5 and 6 of Hou and Castañón (2023)."""
