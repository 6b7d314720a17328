import re

import pytest

from springback.check import DataError
from springback_studio.server import listen, make_server
from springback_studio.view import View


def test_a_port_in_use_is_one_sentence(capfd):
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        server = make_server(View(), port=port)
        with pytest.raises(DataError, match=rf"^port {port} on 127\.0\.0\.1 is in use; choose another port"):
            server.run()
    assert server.should_exit
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "x" * 80, "a\0b"])
def test_an_address_that_cannot_be_had_is_one_sentence(host):
    shown = host.replace("\0", "?")
    with pytest.raises(DataError, match=re.escape(f"the studio cannot listen on {shown} port 0 (")):
        listen(host, 0)


def test_localhost_is_the_loopback_address():
    with listen("localhost", 0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
