"""What the evidence of a model's mistakes has in common."""
