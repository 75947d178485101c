"""Errors that the user can do something about."""


class InputError(Exception):
    """An input that cannot be used; the text says which, why, and what to do."""


def read_whole(path, what):
    """The bytes of a file, or an InputError that names it."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{what} '{path}': {error.strerror}") from error
