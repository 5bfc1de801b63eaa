"""A real browser on a page file: offline, with a console that must stay empty."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import sync_playwright

from pantile.view.render import write_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

    from pantile.view.pagedata import PageData

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Screen:
    """A browser's page, with words for what a person reads on it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)

    def text(self, selector: str) -> str:
        """What a person reads there, on one line."""
        return re.sub(r"\s+", " ", self.page.locator(selector).inner_text()).strip()

    def position(self) -> str:
        return self.text("#position")

    def selected(self) -> tuple[int, str, str]:
        """Number, opcode and region of the selected row of the list."""
        row = self.page.locator("#list .row.selected")
        number, opcode, region = (
            row.locator(f".row-{name}").inner_text() for name in ("number", "code", "region")
        )
        return int(number), opcode[1:].strip(), region  # without the sign of its kind

    def legend(self) -> dict[str, str]:
        """How many blocks of each matrix are in each state."""
        lines = [line.split("  ") for line in self.page.locator("#legend li").all_inner_texts()]
        found = {}
        for line in lines:
            words = " ".join(line).split()
            at = next((i for i, word in enumerate(words) if re.fullmatch(r"[ABCWXY]", word)), len(words))
            if at < len(words):
                found[" ".join(words[:at])] = " ".join(words[at:])
        return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("the page is tested in a real browser: install chromium (apt-get install chromium)")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce", offline=True)
    yield made
    made.close()


@pytest.fixture
def show(context: BrowserContext, tmp_path: Path) -> Iterator[Callable[..., Screen]]:
    """Open data as a page; at the end the console must be empty and nothing else may have been asked for."""
    heard: list[str] = []
    asked: list[str] = []

    def opened(data: PageData, address: str = "", *, ready: str = "#app:not([hidden])") -> Screen:
        path = tmp_path / "page.html"
        write_page(data, path)
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: (heard.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri() + address)
        page.wait_for_selector(ready)
        return Screen(page)

    yield opened
    assert heard == []
    assert [url for url in asked if not url.startswith((tmp_path.as_uri(), "blob:"))] == []
