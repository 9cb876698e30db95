"""`python -m studies.quoted_blocks` fills in the tables that pages of the documentation quote."""

from studies.quoted_blocks.blocks import fill_pages

if __name__ == "__main__":
    fill_pages()
