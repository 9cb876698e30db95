"""What a dictionary says of words: senses, synonyms, antonyms, and the forms that a word takes."""
