"""What reads hidden states back as words: pretrained masked-language-model heads, and trained lenses."""
