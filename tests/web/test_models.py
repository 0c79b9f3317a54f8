"""The Models page: a model is set up, tried, chosen and removed by clicks alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.providers.model_server import GOOD, ModelServer
from tests.server.serving import begun, ended
from tests.web.conftest import Room
from tests.web.test_accessible import serious

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow


@pytest.fixture
def model() -> Generator[ModelServer]:
    with ModelServer() as served:
        yield served


@pytest.fixture
def desk(tmp_path: Path, chromium: Browser, model: ModelServer) -> Generator[Room]:
    """A server that may ask models on this machine, and finds one where Ollama would be."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "story.md").write_text("# The Lamp\n", encoding="utf-8")
    room = Room(begun(folder, REDRAFT_MODEL_CALLS="loopback", OLLAMA_HOST=model.url), chromium, folder)
    yield room
    for window in room.opened:
        window.page.context.close()
    ended(room.server)


def open_models(page: Page) -> None:
    page.keyboard.press("Control+Shift+p")
    page.get_by_placeholder("Type a command").fill("models")
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name="Models").wait_for()


@pytest.mark.covers("RD-models-page")
def test_a_key_is_pasted_the_model_tested_and_used_without_a_restart(desk: Room, model: ModelServer):
    window = desk.window("story.md", agentOpen=True)
    page = window.page
    page.get_by_role("button", name="Model: Offline assistant").wait_for()
    open_models(page)
    page.get_by_label("Provider").select_option("compatible")
    page.get_by_label("Address").fill(f"{model.url}/v1")
    page.get_by_label("API key (if it needs one)").fill("sk-wrong-0123456789")
    page.get_by_label("Model", exact=True).fill("house-writer")
    page.keyboard.press("Enter")
    page.get_by_text("Copy the whole key again").wait_for()
    page.get_by_label("API key (if it needs one)").fill(GOOD)
    page.get_by_label("Address").fill(f"{model.url}/v1")
    page.get_by_label("Model", exact=True).fill("house-writer")
    page.get_by_role("button", name="Add and test").click()
    page.get_by_text(model.said).wait_for()
    assert serious(page) == []
    assert page.get_by_label("API key (if it needs one)").input_value() == ""
    assert GOOD not in page.content()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Model: house-writer").wait_for()
    page.get_by_role("textbox", name="Message the agent").fill("Who are you?")
    page.keyboard.press("Enter")
    page.get_by_text(model.said).first.wait_for()
    open_models(page)
    page.get_by_role("button", name="Remove house-writer").click()
    page.get_by_text("No model is set up yet.").wait_for()


@pytest.mark.covers("RD-models-found")
def test_a_server_on_this_computer_is_one_click_away_also_on_a_phone_in_the_dark(desk: Room, model: ModelServer):
    model.open = True
    page = desk.window("story.md", width=390, theme="dark").page
    open_models(page)
    page.get_by_role("button", name="Use tiny:1b").click()
    page.get_by_text(model.said).wait_for()
    page.get_by_text("free, on this computer").wait_for()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
