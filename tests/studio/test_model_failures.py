"""A model that cannot start says so, with what to do; the others go on working."""

import sys

import pytest

from springback.check import DataError
from springback_studio.session import Session, make_pair
from springback_studio.tab import INTERNAL_ERROR
from springback_studio.view import View
from tests.studio.conftest import serving

INSTALL = "pip install 'springback[torch]'"


@pytest.fixture
def damaged(monkeypatch):
    """As if the file of the elastic model were damaged."""

    def refuse():
        raise DataError("elastic.safetensors is damaged; reinstall springback")

    monkeypatch.setattr("springback_studio.session.shipped.shipped_elastic", refuse)


@pytest.fixture
def broken(monkeypatch):
    """As if making the elastic model went wrong in a way that nobody thought of."""
    monkeypatch.setattr("springback_studio.session.ElasticPair", lambda *_: 1 / 0)


@pytest.mark.usefixtures("no_torch")
def test_a_model_that_cannot_start_says_so_and_another_can_be_chosen():
    view = View(model="cnn", source="digit", digit=3, settings={"pull": 7.0})
    with serving(view) as studio, studio.page() as page:
        failed = page.hear("failed")
        assert failed["model"] == "cnn"
        assert INSTALL in failed["why"]
        page.ask("noise")
        assert page.hear("refused")["why"].startswith("a model must be running")
        page.ask("model", model="cnn")
        assert INSTALL in page.hear("failed")["why"]
        page.ask("model", model="elastic")
        stage = page.hear("stage")
        assert (stage["view"]["model"], stage["view"]["digit"]) == ("elastic", 3)
        while page.picture_seen()[0]["frame"] < 3:
            pass


@pytest.mark.usefixtures("no_torch")
def test_a_model_that_cannot_be_switched_to_leaves_the_present_one_running(studio):
    with studio.page() as page:
        page.hear("stage")
        before = page.picture_seen()[0]["frame"]
        page.ask("model", model="cnn")
        assert page.hear("stage")["view"]["model"] == "elastic"
        assert INSTALL in page.hear("failed")["why"]
        while page.picture_seen()[0]["frame"] < before + 3:
            pass


def test_a_broken_install_of_torch_names_the_remedy(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "springback_studio.cnn_pair", None)
    with pytest.raises(DataError, match=r"cannot be imported .* pip install --force-reinstall torch"):
        make_pair(View(model="cnn"))


@pytest.mark.usefixtures("damaged")
def test_a_damaged_model_file_is_said_on_the_page():
    with serving(View(model="elastic")) as studio, studio.page() as page:
        assert page.hear("failed")["why"] == "elastic.safetensors is damaged; reinstall springback"


@pytest.mark.usefixtures("broken")
def test_any_other_error_points_to_the_terminal(caplog):
    with serving(View(model="elastic")) as studio, studio.page() as page:
        assert page.hear("failed")["why"] == INTERNAL_ERROR
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.usefixtures("no_torch")
def test_a_session_is_unchanged_when_its_new_model_cannot_start():
    session = Session(View(model="elastic", source="digit", digit=2))
    session.advance()
    view, pair = session.view, session.pair
    with pytest.raises(DataError, match="needs torch"):
        session.choose_model("cnn")
    assert session.view is view
    assert session.pair is pair
    assert session.advance().frame == 2
