"""The API is what its description says: whatever is sent, no answer is one that it does not promise, and none a mistake
of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode, checks

from redraft.server.app import description
from redraft.server.openapi import render
from tests.conftest import TORTURE
from tests.server.serving import Server, begun, ended
from tests.speaking.lines import PATIENCE
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Generator

PAGE = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"
EXAMPLES = 200 if TORTURE else 8
NAMES = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
SCHEMA: Any = schemathesis.openapi.from_dict(description())
OPERATIONS: dict[str, Any] = {
    operation.label: operation for operation in (found.ok() for found in SCHEMA.get_all_operations())
}
# What has neither parameters nor a body cannot be asked wrongly.
CASES = [
    (label, mode)
    for label, each in sorted(OPERATIONS.items())
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or each.definition.raw.get("parameters") or "requestBody" in each.definition.raw
]
# A stream has no end, so it is asked for what there is not; test_jobs.py and live/test_changes.py read some.
ENDLESS: dict[str, dict[str, Any]] = {
    "GET /api/agent/jobs/{job_id}/events/stream": {"path_parameters": {"job_id": "job_none"}},
    "GET /api/changes/stream": {"headers": {"Last-Event-ID": "none"}},
}


def test_the_description_is_current():
    assert PAGE.read_text(encoding="utf-8") == render(), "python -m redraft.server.openapi > docs/openapi.json"


def test_the_description_names_every_operation_once():
    found = json.loads(render())
    names = [each["operationId"] for path in found["paths"].values() for each in path.values()]
    assert len(names) == len(set(names)) == len(OPERATIONS)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    folder = tmp_path_factory.mktemp("described") / "notes"
    folder.mkdir()
    (folder / "story.md").write_text(STORY, encoding="utf-8")
    server = begun(folder)
    server.tool("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    server.post("/api/tabs", {"path": "story.md"})
    server.post("/api/agent/sessions")
    yield server
    assert ended(server) is not None
    log = (server.state / "server.log").read_text(encoding="utf-8")
    assert '"level": "error"' not in log


@pytest.mark.slow
@pytest.mark.parametrize(("label", "mode"), CASES, ids=lambda each: getattr(each, "value", each))
def test_no_answer_is_a_mistake_or_a_surprise(standing: Server, label: str, mode: GenerationMode):
    """Requests as they should be, and requests as they should not."""
    operation = OPERATIONS[label]
    registry: Any = vars(checks)["CHECKS"]
    known: Any = registry.get_by_names(list(NAMES))
    assert len(known) == len(NAMES)

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW, derandomize=not TORTURE)
    @given(case=operation.as_strategy(generation_mode=mode))
    def holds(case: Any) -> None:
        for name, value in ENDLESS.get(label, {}).items():
            setattr(case, name, value)
        response = case.call(
            base_url=standing.url, headers={"Authorization": f"Bearer {standing.token}"}, timeout=PATIENCE
        )
        case.validate_response(response, checks=known)

    holds()
