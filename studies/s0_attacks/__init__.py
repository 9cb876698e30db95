"""Table 8 of Sun et al. (2020): how few edits fool a classifier, by the explanation that says where to edit."""
