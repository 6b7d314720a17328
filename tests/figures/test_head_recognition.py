"""The figure of the rotating head."""

import io

import numpy as np

from springback.experiments import head_recognition
from springback.figures.head_recognition import draw_head_recognition


def test_each_view_has_its_picture_its_synapses_and_its_spikes():
    params = head_recognition.HeadRecognition(size=16, n_turn=3, n_training=5, n_repeats=2)
    result = head_recognition.run(params)
    figure = draw_head_recognition(result)
    columns = [figure.axes[3 * one : 3 * one + 3] for one in range(5)]
    titles = [column[0].get_title() for column in columns]
    assert titles == ["alone", "90°", "45°", "0°", "pause"]
    for column, frame in zip(columns[1:], (0, 1, 2, 5), strict=True):
        np.testing.assert_array_equal(column[0].images[0].get_array(), result.frames[frame])
        np.testing.assert_array_equal(column[1].images[0].get_array(), result.efficacy[frame])
        heights = [bar.get_height() for bar in column[2].patches]
        assert heights == [result.static_spikes[:, frame].mean(), result.spikes[:, frame].mean()]
    figure.savefig(io.BytesIO(), format="png")
