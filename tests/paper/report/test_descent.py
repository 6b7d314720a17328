"""The table of learning rates."""

from springback_paper.report.descent import descent_table
from springback_paper.tasks.descent import DescentRates


def test_a_row_is_a_network_with_its_accuracy_at_each_rate():
    found = {
        "lstm_omnist_sgd_rates-0": DescentRates(
            model="lstm", rates=(0.001, 0.1), accuracies=(0.25, 0.8512), n_train=58_000, n_held_out=2000
        ),
        "rnn_omnist_sgd_rates-0": DescentRates(
            model="rnn", rates=(0.001, 1.0), accuracies=(0.5, 0.4), n_train=58_000, n_held_out=2000
        ),
        "lstm_omnist_sgd-0": object(),
    }
    table = descent_table(found)
    assert table.columns == ("network, learning rate", "0.001", "0.1", "1", "best")
    assert table.rows == (("LSTM", "25.00", "85.12", "-", "0.1"), ("RNN", "50.00", "-", "40.00", "0.001"))
    assert "2,000 training digits" in table.caption


def test_without_rates_there_is_no_table():
    assert descent_table({"elastic-0": object()}) is None
