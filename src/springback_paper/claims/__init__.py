"""The claims of the paper, each with what was measured and a verdict by a rule that is stated beside it."""
