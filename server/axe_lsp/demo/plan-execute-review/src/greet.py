"""Greets people."""


def greet(name):
    """A greeting for somebody."""
    return "Hello, " + name + "!"
