"""Every requirement of the five specifications and of the design: the map of the project.

`REQUIREMENTS` holds them in the order of the specifications. A test that shows one carries
`@pytest.mark.covers("ID")`; tests/house/test_requirements.py fails where an id and its test do not meet.
`python -m tests.requirements > docs/requirements.md` writes the page for people.
"""

from __future__ import annotations

from tests.requirements import agent_doc, agent_sidebar, design, midlight, ritemark, tinkerbell
from tests.requirements.entry import SPECS, STATUSES, Requirement, Status, spec_of

__all__ = ["BY_ID", "REQUIREMENTS", "SPECS", "STATUSES", "Requirement", "Status", "spec_of"]

REQUIREMENTS: tuple[Requirement, ...] = (
    *design.REQUIREMENTS,
    *tinkerbell.REQUIREMENTS,
    *midlight.REQUIREMENTS,
    *agent_sidebar.REQUIREMENTS,
    *ritemark.REQUIREMENTS,
    *agent_doc.REQUIREMENTS,
)
BY_ID = {requirement.id: requirement for requirement in REQUIREMENTS}
