"""Those who have an account."""

from collections import namedtuple

User = namedtuple("User", "name password")

_USERS = {"ada": User("ada", "engine")}


def find_user(name):
    """The user of a name, or None."""
    return _USERS.get(name)
