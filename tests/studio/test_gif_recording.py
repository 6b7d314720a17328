import io

import numpy as np
from PIL import Image

from springback_studio.gif_recording import FRAMES_MAX, SIZE, GifRecording, drawn
from springback_studio.session import Session
from springback_studio.view import View


def test_a_recording_is_a_gif_with_every_frame():
    session, recording = Session(View(model="elastic")), GifRecording()
    for _ in range(5):
        recording.add(session.advance())
    gif = Image.open(io.BytesIO(recording.gif()))
    assert (gif.format, gif.n_frames, gif.size) == ("GIF", 5, SIZE)


def test_a_drawn_frame_shows_the_input_pixel_by_pixel():
    picture = Session(View(model="elastic", source="digit", digit=4)).advance()
    pixels = np.asarray(drawn(picture).convert("L"))[44 : 44 + 168 : 6, 16 : 16 + 168 : 6]
    assert (pixels == picture.shown.pixels).all()


def test_a_recording_ends_when_it_is_full():
    picture = Session(View(model="elastic")).advance()
    recording = GifRecording()
    for _ in range(FRAMES_MAX + 3):
        recording.add(picture)
    assert recording.full
    assert recording.n_frames == FRAMES_MAX
