"""The paper on top of the library: its models, figures, baselines, tuning, and the report that compares them."""
