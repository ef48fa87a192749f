"""What says that a part of a figure can be clicked."""

from viz.figures import labels


def hover(template: str, action: str) -> dict:
    """The hover text of what takes clicks.

    Args:
        template: what they say, for Plotly.
        action: what a click does; plain, as it is shown.

    Returns:
        Settings of a trace. Its `meta` keeps the line that says what a click does: files leave it out.
    """
    line = f"<br>{labels.escape(action)}"
    return {"hovertemplate": f"{template}{line}<extra></extra>", "meta": {"click": line}}
