"""One's own stream in the browser: a camera, a microphone, or any source of `springback follow`."""
