import json

import numpy as np

from springback_studio.replies import command, greeting, packed, raster_rows, stage
from springback_studio.session import Session
from springback_studio.view import View


def opened(data):
    length = int.from_bytes(data[:4], "little")
    return json.loads(data[4 : 4 + length]), np.frombuffer(data[4 + length :], np.uint8)


def test_a_packet_holds_the_picture():
    session = Session(View(model="spiking", source="digit", digit=6))
    session.advance()
    picture = session.advance()
    head, body = opened(packed(picture, session, True, 9))
    assert (body[:784].reshape(28, 28) == picture.shown.pixels).all()
    size = 8 * 784
    efficacy = picture.resting + picture.short_term
    for place, (name, values) in enumerate({"W": picture.resting, "F": picture.short_term, "G": efficacy}.items()):
        shown = body[784 + place * size : 784 + (place + 1) * size].reshape(8, 784) / 255
        assert np.abs(head["levels"][name] * shown**2 - values).max() < 0.005 * head["levels"][name]
    marks = body[784 + 4 * size :].view([("row", "<u2"), ("moment", "u1"), ("strength", "u1")])
    assert len(marks) == sum(head["n_marks"])
    rows, _ = raster_rows(session.pair)
    spikes = np.bincount(marks["row"][: head["n_marks"][0]], minlength=400)
    assert (spikes[rows] == picture.answers[0].response).all()
    assert head["number"] == 9
    assert head["posteriors"][1] == picture.answers[1].posterior.round(5).tolist()


def test_rows_of_the_raster_are_sorted_by_class_and_bands_cover_them():
    session = Session(View(model="spiking"))
    rows, bands = raster_rows(session.pair)
    assert sorted(rows.tolist()) == list(range(400))
    assert sum(size for _, _, size in bands) == 400
    for label, first, size in bands:
        assert (session.pair.unit_labels[(rows >= first) & (rows < first + size)] == label).all()


def test_what_the_page_must_know_is_plain_json():
    session = Session(View(model="elastic"))
    for said in (greeting(), stage(session), command(session)):
        assert json.loads(json.dumps(said, allow_nan=False)) == said
