"""`python -m studies.quoted_blocks` fills in the tables that pages quote, and draws the pictures of studies again."""

from docs.pictures import of_studies
from studies.quoted_blocks.blocks import fill_pages

if __name__ == "__main__":
    fill_pages()
    of_studies.main()
