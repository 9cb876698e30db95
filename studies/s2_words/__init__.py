"""Tables 2 and 4 to 6 and figure 2 of Wu and Ong (2021): the words that methods score highest and lowest."""
