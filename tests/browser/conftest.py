"""A real browser: Debian's Chromium, driven by Playwright, without a network."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from brokers_present import find_program

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

FLAGS = (
    "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
SOFTWARE = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
NO_WEBGL = ("--disable-gpu", "--disable-3d-apis")
READY = "document.documentElement.dataset.ready === 'true'"
Opened = Callable[..., "Page"]


@pytest.fixture(scope="module")
def playwright() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="module")
def browser(playwright: Any) -> Iterator[BrowserContext]:
    with _launched(playwright, *SOFTWARE) as context:
        yield context


@pytest.fixture
def plain_browser(playwright: Any) -> Iterator[BrowserContext]:
    """A browser without WebGL."""
    with _launched(playwright, *NO_WEBGL) as context:
        yield context


@pytest.fixture
def opened(browser: BrowserContext) -> Iterator[Opened]:
    """Open a page, wait until it is ready; at the end nothing may have gone wrong or over the network."""
    pages: list[tuple[Page, list[str]]] = []

    def open_page(path: Path, scheme: str = "light") -> Page:
        page, faults = browser.new_page(), []
        page.emulate_media(color_scheme=scheme)
        watch(page, faults)
        pages.append((page, faults))
        page.goto(path.as_uri())
        page.wait_for_function(READY)
        return page

    yield open_page
    for page, faults in pages:
        page.close()
        assert not faults


def watch(page: Page, faults: list[str]) -> None:
    """Note console messages that are faults, errors of scripts, and requests for anything but files."""

    def heard(message: Any) -> None:
        if message.type in ("error", "warning") and "GPU stall due to ReadPixels" not in message.text:
            faults.append(message.text)

    def asked(request: Any) -> None:
        if not request.url.startswith(("file:", "about:")):
            faults.append(request.url)

    page.on("console", heard)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", asked)
    page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))


def _launched(playwright: Any, *flags: str) -> Any:
    from contextlib import contextmanager

    @contextmanager
    def launched() -> Iterator[BrowserContext]:
        program = find_program("chromium")
        assert program, "chromium is not installed; with CI set that is a failure"
        with tempfile.TemporaryDirectory() as profile:
            context = playwright.chromium.launch_persistent_context(
                profile,
                executable_path=program,
                headless=True,
                args=[*FLAGS, *flags],
                viewport={"width": 1280, "height": 900},
            )
            context.set_default_timeout(120_000)  # machines may be busy
            yield context
            context.close()

    return launched()
