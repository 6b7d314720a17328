"""The paper on top of the library: its models, figures and claims, and the report that compares them.

- `models`: ONE table of the models of the comparison, and the paper's values.
- `tasks`: what computes their scores, one file for each model; `baselines`: the MLP, CNN, RNN and LSTM.
- `figures`: one file for each figure; `claims`: every claim of the paper, with the rule that judges it.
- `inputs`: what tasks and figures are given; `results`: what a run has found, as in results.json.
- `catalogue`: all tasks and figures of a `run_scope`; `runner`: runs them, and keeps their results.
- `report`: the pages (`springback reproduce`); `tuning`: the search behind `springback tune`.
- `pretraining`: how the shipped models were made.
"""
