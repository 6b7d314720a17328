import pytest

from springback_studio.limits import Door, TokenBucket, checked_host


def test_the_bucket_runs_empty_and_refills_with_time():
    now = [0.0]
    bucket = TokenBucket(per_second=10, burst=5, clock=lambda: now[0])
    assert [bucket.take() for _ in range(6)] == [True] * 5 + [False]
    now[0] = 0.3
    assert [bucket.take() for _ in range(4)] == [True] * 3 + [False]
    now[0] = 100.0
    assert sum(bucket.take() for _ in range(20)) == 5


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.3.2.1"])
def test_loopback_needs_no_permission(host):
    assert checked_host(host, allow_remote=False) == host


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "example.org", "::", ""])
def test_other_hosts_are_refused_unless_told(host):
    with pytest.raises(ValueError, match="unless remote access is allowed"):
        checked_host(host, allow_remote=False)
    assert checked_host(host, allow_remote=True) == host


@pytest.mark.parametrize(
    "authority", ["evil.example", "127.0.0.1.evil.example:80", "", None, "192.168.1.5:8100", "[", "@"]
)
def test_a_strange_host_header_is_not_known_on_loopback(authority):
    assert not Door("127.0.0.1").knows(authority)


def test_a_remote_studio_knows_addresses_but_not_strange_names():
    door = Door("0.0.0.0")
    assert door.knows("192.168.1.5:8100")
    assert not door.knows("evil.example:8100")


@pytest.mark.parametrize(
    "origin",
    [
        "http://[::1",
        "http://[",
        "http://[::1]:8100",
        "//",
        "http://\u2100",
        None,
        "",
        "null",
        "http://evil.example",
        "http://localhost:9999",
        "file://",
        "http://localhost:8100.evil.example",
    ],
)
def test_a_page_of_another_origin_is_not_admitted(origin):
    assert not Door("127.0.0.1").admits("localhost:8100", origin)
