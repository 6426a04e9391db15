"""Pages that were rendered before."""

_PAGES = {}


def remember(key, page):
    """Keep a page."""
    _PAGES[key] = page


def remembered(key):
    """A page that was kept, or None."""
    return _PAGES.get(key)
