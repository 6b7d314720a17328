"""Records in the order of time: prices of electricity, and a survey of forests."""

import numpy as np
import pytest

from springback.check import DataError
from springback_bench.stream_sets import covtype, elec
from springback_bench.stream_sets._tabular import split_of


def part(rows, seed):
    """Records whose first column tells the class; the second never changes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 2, rows)
    records = np.stack([100 + 9 * labels + rng.normal(size=rows), np.full(rows, 7.0)], axis=1)
    return records.astype(np.float32), labels


def test_records_are_standardised_by_those_the_head_has_learned_from():
    learned, later = part(200, 0), part(50, 1)
    made = split_of("small", 0, learned=[learned], validation=[later], test=[later, later], n_classes=2, step=0.5)
    scored = learned[0][learned[1] >= 0]
    shown = made.test[1].features
    np.testing.assert_allclose(shown[:, 0], (later[0][:, 0] - scored[:, 0].mean()) / scored[:, 0].std(), rtol=1e-4)
    assert (shown[:, 1] == 0).all()
    assert made.head.accuracy(made.test) > 0.95
    assert (made.test[0].labels == later[1]).all()
    assert made.test[0].times[:3].tolist() == [0.0, 0.5, 1.0]


def test_another_object_begins_where_the_label_changes():
    records = np.zeros((5, 1), np.float32)
    learned = (np.arange(4, dtype=np.float32)[:, None], np.array([0, 0, 1, 1]))
    known = np.array([1, 1, 0, -1, 1])
    made = split_of("small", 0, learned=[learned], validation=[(records, known)], test=[(records, known)], n_classes=2)
    assert made.test[0].objects.tolist() == [0, 0, 1, 2, 3]


def test_prices_that_are_not_all_there_are_refused(monkeypatch):
    monkeypatch.setattr(elec, "_RECORDS", 2)
    rows = "1,2,3,4,5,6,0\n1,2,3,4,5,6,1\n"
    assert elec.table_in(f"names\n{rows}".encode())[:, -1].tolist() == [0, 1]
    for wrong in (rows + rows, rows.replace("0\n", "2\n"), rows.replace("5", "x")):
        with pytest.raises(DataError, match="must hold the prices of electricity"):
            elec.table_in(f"names\n{wrong}".encode())


def test_parts_of_the_survey_do_not_overlap():
    spans = sorted(covtype.places().values())
    assert spans[0] == (0, covtype._LEARNED)
    ends = [start + count for start, count in spans]
    assert all(end <= start for end, (start, _) in zip(ends, spans[1:], strict=False))
    assert ends[-1] <= covtype._RECORDS


def test_a_survey_with_other_labels_or_columns_is_refused():
    row = ",".join(["1"] * covtype._COLUMNS)
    lines = ["names", row, row[:-1] + "7", row[:-1] + "8", row[:-2]]
    assert covtype.records_in(lines, 0, 2)[:, -1].tolist() == [1, 7]
    for start in (1, 2, 3, 9):
        with pytest.raises(DataError, match="must hold the survey of forests"):
            covtype.records_in(lines, start, 2)
