"""The studio: short-term plasticity, live in the browser (`springback studio`).

- `session`: a view, a pair of models, with memory and without (`spiking_pair`, `elastic_pair`, `cnn_pair`), and what
  was shown; `digits_tab`: the conversation with its page, in `requests` and `replies`.
- `own_stream`: the same for the camera, the microphone, or any source of `springback.live`.
- `server`, `limits`: what is served, and to whom; `page`: the page itself.
"""
