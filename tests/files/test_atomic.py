"""Files appear whole or not at all, replace nothing but files, and survive a kill at any moment."""

import errno
import os
import socket
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from springback.check import DataError
from springback.files import atomic
from springback.files.atomic import atomic_file, previous_path


def write(path, content, **options):
    with atomic_file(path, **options) as file:
        file.write(content)


def names(folder):
    return sorted(one.name for one in folder.iterdir())


def test_an_interrupted_write_leaves_the_old_file_and_no_rubbish(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")

    def write_half():
        with atomic_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["m"]


def test_the_previous_version_is_kept_when_asked(tmp_path):
    path = tmp_path / "m"
    for content in (b"one", b"two", b"three"):
        write(path, content, keep_previous=True)
    assert (path.read_bytes(), previous_path(path).read_bytes()) == (b"three", b"two")
    assert names(tmp_path) == ["m", "m.previous"]


def test_the_previous_version_is_kept_where_the_disk_has_no_hard_links(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "m"
    for content in (b"one", b"two"):
        write(path, content, keep_previous=True)
    assert (path.read_bytes(), previous_path(path).read_bytes()) == (b"two", b"one")
    assert names(tmp_path) == ["m", "m.previous"]


KILLED = """
    import os, sys
    from pathlib import Path
    from springback.files import atomic

    path, calls = Path(sys.argv[1]), 0

    def fatal_at(number, function):
        def call(*arguments, **options):
            global calls
            calls += 1
            if calls == number:
                os.kill(os.getpid(), 9)
            return function(*arguments, **options)
        return call

    def write_and_die(number):
        for name in ("open", "link", "replace", "fsync", "unlink"):
            setattr(os, name, fatal_at(number, getattr(os, name)))
        with atomic.atomic_file(path, keep_previous=True) as file:
            file.write(b"new")
        os._exit(0)

    for number in range(1, 30):
        path.write_bytes(b"old")
        child = os.fork() or write_and_die(number)
        _, status = os.waitpid(child, 0)
        before = path.with_name("m.previous")
        print(number, os.waitstatus_to_exitcode(status), path.read_bytes(), before.exists() and before.read_bytes())
        if status == 0:
            break
"""


def test_a_kill_at_any_moment_leaves_a_whole_file_under_the_name(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path / "m")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seen = [line.split() for line in done.stdout.splitlines()]
    assert [code for _, code, _, _ in seen] == ["-9"] * (len(seen) - 1) + ["0"]
    assert len(seen) > 5
    assert {now for _, _, now, _ in seen} == {"b'old'", "b'new'"}
    assert {before for *_, before in seen} <= {"b'old'", "b'new'", "False"}
    assert names(tmp_path) == ["m", "m.previous"]  # what the killed writers left was cleaned up


def test_the_temporary_file_of_a_living_writer_is_left_alone(tmp_path):
    path = tmp_path / "m"
    with atomic_file(path) as mine:
        mine.write(b"first")
        write(path, b"second")
    assert path.read_bytes() == b"first"


def test_only_files_of_dead_writers_of_the_same_target_are_removed(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    prefix, other = atomic._prefix(tmp_path / "m"), atomic._prefix(tmp_path / "n")
    left = [f"{prefix}{gone.pid}-ab.part", f"{other}{gone.pid}-ab.part", f"{prefix}{os.getpid()}-ab.part", ".notes"]
    for name in left:
        (tmp_path / name).write_bytes(b"")
    write(tmp_path / "m", b"whole")
    assert names(tmp_path) == sorted(["m", *left[1:]])


def make_link(path):
    path.with_name("target").write_bytes(b"precious")
    path.symlink_to(path.with_name("target"))


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))


def make_device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only the superuser may make a device node")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (make_link, "a symbolic link"),
        (os.mkfifo, "a named pipe"),
        (make_socket, "a socket"),
        (make_device, "a device"),
        (os.mkdir, "a folder"),
    ],
)
@pytest.mark.parametrize("name", ["m", "m.previous"])
def test_what_is_no_regular_file_is_never_replaced(tmp_path, monkeypatch, make, kind, name):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / name)
    before = (tmp_path / name).lstat()
    (tmp_path / "m").exists() or (tmp_path / "m").write_bytes(b"old")
    with pytest.raises(DataError, match=f"{name} is {kind}, not a regular file, so it is not replaced"):
        write(tmp_path / "m", b"new", keep_previous=True)
    after = (tmp_path / name).lstat()
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (before.st_ino, before.st_mode, before.st_mtime_ns)
    assert not [one for one in names(tmp_path) if one.endswith(".part")]


def test_a_file_has_the_rights_of_any_new_file_at_every_moment(tmp_path, monkeypatch):
    def refuse(_mask):
        raise AssertionError("the umask belongs to the whole process")

    (tmp_path / "plain").write_bytes(b"")
    monkeypatch.setattr(os, "umask", refuse)
    expected = (tmp_path / "plain").stat().st_mode
    with atomic_file(tmp_path / "ours") as file:
        assert os.fstat(file.fileno()).st_mode == expected
    assert (tmp_path / "ours").stat().st_mode == expected


def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with atomic_file(path, keep_previous=True) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("a_file/m", "Not a directory|File exists"),
        ("n" * 300, "File name too long"),
        ("/proc/springback/m", "No such file|Permission|not permitted"),
    ],
)
def test_a_place_that_cannot_hold_a_file_is_one_sentence(tmp_path, place, reason):
    (tmp_path / "a_file").write_bytes(b"")
    with pytest.raises(DataError, match=f"cannot be written .*({reason}).*choose another place"):
        write(tmp_path / Path(place), b"new")
    assert names(tmp_path) == ["a_file"]


def test_a_name_that_leaves_no_room_for_its_previous_version_loses_nothing(tmp_path):
    path = tmp_path / ("n" * 250)
    write(path, b"old")
    with pytest.raises(DataError, match="File name too long"):
        write(path, b"new", keep_previous=True)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == [path.name]


@pytest.mark.parametrize("call", ["fsync", "replace", "link"])
def test_a_full_or_failing_disk_is_one_sentence_and_the_old_version_stays(tmp_path, monkeypatch, call):
    path = tmp_path / "m"
    write(path, b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(DataError, match=r"m cannot be written \(No space left on device\)"):
        write(path, b"new", keep_previous=True)
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["m"]


def test_a_file_beyond_the_limit_of_the_process_is_one_sentence(tmp_path):
    code = """
        import resource, sys
        from pathlib import Path
        from springback.files.atomic import atomic_file
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            with atomic_file(Path(sys.argv[1])) as file:
                file.write(bytes(100_000))
        except ValueError as error:
            print(type(error).__name__, error)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "m")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("DataError")
    assert "cannot be written (File too large)" in done.stdout
    assert names(tmp_path) == []


def test_an_error_of_another_file_keeps_its_own_name(tmp_path):
    def copy_what_is_missing():
        with atomic_file(tmp_path / "m") as file:
            file.write(Path("/nowhere/to/be/found").read_bytes())

    with pytest.raises(FileNotFoundError, match="/nowhere/to/be/found"):
        copy_what_is_missing()
    assert names(tmp_path) == []
