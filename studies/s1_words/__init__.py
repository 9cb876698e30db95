"""Figures 1, 4 and 7 to 9, tables 3 to 9 and appendix A.5 of Hou and Castañón (2023)."""
