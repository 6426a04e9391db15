"""Who somebody was a moment ago."""

import random

_SESSIONS = {}


def start_session(user):
    """A session of a user, by a number that only their browser knows."""
    number = str(random.randrange(10**6))
    _SESSIONS[number] = user.name
    return {"Set-Cookie": f"session={number}"}


def current_user(request):
    """The name of the user whose session it is, or None."""
    return _SESSIONS.get(request.cookies.get("session"))
