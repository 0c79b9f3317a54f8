"""The app's own files: the page and what it loads, as the build of `web/` left them in `static/`.

The page is sent with a nonce that is new each time, so that style elements of the app's own libraries count and others
do not. The names of the other files hold a hash of their content: a browser may keep them for good.
"""

from __future__ import annotations

import secrets
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi import Request, Response
from starlette.routing import Route

from redraft.errors import Refused
from redraft.server.replies import HTML, POLICY, policy_of

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

KINDS = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "woff2": "font/woff2"}
FOR_GOOD = "private, max-age=31536000, immutable"
NONCE = "NONCE"
SAID = b"<!-- what the page says -->"


def plain_page(name: str) -> bytes:
    """A page without the app: what it says, in the frame and with the style of all of them."""
    pages = files("redraft.server").joinpath("page")
    return (pages / "frame.html").read_bytes().replace(SAID, (pages / name).read_bytes().rstrip())


async def app_page(_: Request) -> Response:
    """The app; where it was not built, a page that says how to build it."""
    built = static_files() / "index.html"
    if not built.is_file():
        page = plain_page("unbuilt.html")
        return Response(page, 503, media_type=HTML, headers={"content-security-policy": policy_of(page)})
    nonce = secrets.token_urlsafe(16)
    policy = POLICY.replace("style-src 'self'", f"style-src 'self' 'nonce-{nonce}'")
    headers = {"content-security-policy": policy, "cache-control": "no-cache"}
    return Response(built.read_bytes().replace(NONCE.encode(), nonce.encode()), media_type=HTML, headers=headers)


async def app_file(request: Request) -> Response:
    name: str = request.path_params.get("name", request.url.path[1:])
    kind = KINDS.get(name.rpartition(".")[2])
    found = None if kind is None else _assets().get(name)
    if found is None:
        raise Refused("There is no such file.", code="not_found")
    keeping = FOR_GOOD if "name" in request.path_params else "no-cache"
    return Response(found.read_bytes(), media_type=kind, headers={"cache-control": keeping})


ROUTES = (
    Route("/", app_page),
    Route("/icon.svg", app_file),
    Route("/assets/{name}", app_file),
)


def static_files() -> Traversable:
    return files("redraft.server").joinpath("static")


@cache
def _assets() -> dict[str, Traversable]:
    """Every file that may be sent: a name that is none of them is never looked up on the disk."""
    assets = static_files() / "assets"
    found = {entry.name: entry for entry in assets.iterdir()} if assets.is_dir() else {}
    return {**found, "icon.svg": static_files() / "icon.svg"}
