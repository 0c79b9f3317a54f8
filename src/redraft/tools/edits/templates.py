"""What a new document may begin with: a few built-in templates, and the person's own in the folder `templates`.

`{{title}}`, `{{date}}` and `{{time}}` are filled in. A template is text and nothing else: nothing in it is executed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from redraft.errors import Refused

if TYPE_CHECKING:
    from redraft.tools.context import ToolContext

OWN = "templates"

BUILT_IN: dict[str, str] = {
    "blank": "",
    "meeting-notes": (
        "# {{title}}\n\n**Date:** {{date}}\n**Attendees:**\n\n## Agenda\n\n- \n\n## Notes\n\n\n"
        "## Decisions\n\n- \n\n## Action items\n\n- [ ] \n"
    ),
    "todo-list": "# {{title}}\n\n- [ ] \n- [ ] \n- [ ] \n",
    "journal": "# {{title}}\n\n*{{date}}*\n\n## Today\n\n\n## Grateful for\n\n- \n\n## Tomorrow\n\n- \n",
}


def fill_template(name: str, title: str, context: ToolContext) -> str:
    """The template's text for a document of that title."""
    now = datetime.fromtimestamp(context.workspace.now(), UTC).astimezone()
    text = _template_text(name.strip(), context)
    values = {"{{title}}": title, "{{date}}": f"{now:%Y-%m-%d}", "{{time}}": f"{now:%H:%M}"}
    for mark, value in values.items():
        text = text.replace(mark, value)
    return text


def _template_text(name: str, context: ToolContext) -> str:
    own = name if name.endswith(".md") else f"{name}.md"
    try:
        return str(context.peek(f"{OWN}/{own}").text)
    except Refused as error:
        if name in BUILT_IN and error.code == "not_found":
            return BUILT_IN[name]
        if error.code not in ("not_found", "invalid_path"):
            raise
    known = ", ".join(BUILT_IN)
    raise Refused(f"There is no template {name[:100]!a}: known are {known} and those in {OWN}/.", field="template")
