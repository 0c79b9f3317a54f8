"""The description of the API as it is checked in: `python -m redraft.server.openapi > docs/openapi.json`."""

from __future__ import annotations

import json
import sys


def render() -> str:
    from redraft.server.app import description

    return json.dumps(description(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
