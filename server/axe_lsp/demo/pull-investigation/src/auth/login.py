"""Somebody says who they are."""

from auth.session import start_session
from auth.users import find_user


def login(request):
    """Checks name and password, and starts a session."""
    user = find_user(request.form["name"])
    if user is None or user.password != request.form["password"]:
        return "Wrong name or password"
    print("login", request.form)
    return start_session(user)
