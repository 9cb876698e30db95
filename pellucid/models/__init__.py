"""What classifies: Hugging Face classifiers, and models composed of an encoder, a pooler and a head."""
