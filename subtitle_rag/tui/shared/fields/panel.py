"""The border of a panel, see `app.tcss`: title and count above, notes below."""

from textual.content import Content
from textual.widget import Widget

from subtitle_rag.tui.shared.clean_text import clean


def label_panel(panel: Widget, title: str, subtitle: str = "") -> None:
    """Put texts into the border of a panel, never as markup; redraws only changes."""
    for name, text in (("border_title", title), ("border_subtitle", subtitle)):
        content = Content(clean(text))
        if (content.markup or None) != getattr(panel, name):
            setattr(panel, name, content or None)
