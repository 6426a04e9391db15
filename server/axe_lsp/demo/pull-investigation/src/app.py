"""A small web shop."""

from auth.login import login
from auth.session import current_user
from cache import remember, remembered


def page(request):
    """The answer to a request."""
    if request.path == "/login":
        return login(request)
    user = current_user(request)
    key = (request.path, request.time)
    if remembered(key) is None:
        remember(key, render(request.path, user))
    return remembered(key)


def render(path, user):
    """A page as HTML."""
    return f"<h1>{path}</h1><p>{user or 'Welcome'}</p>"
