"""What `dragon-info --json PROGRAM` says of kernels: what they do to their pointers, and how they can run."""

import json

from .errors import InputError, read_whole


def kernels(root, path):
    """Kernel -> its object, in the order of the file, which is parsed already."""
    try:
        found = {}
        for kernel in root["kernels"]:
            if not isinstance(kernel["name"], str):
                raise TypeError("a kernel without a name")
            for pointer in kernel.get("pointers", []):
                str(pointer["name"]), str(pointer["use"])
            found.setdefault(kernel["name"], kernel)
        return found
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"kernels '{path}': not what 'dragon-info --json PROGRAM' prints ({error})") from error


def read(path):
    """The kernels of a file."""
    words = read_whole(path, "kernels")
    try:
        root = json.loads(words)
    except (ValueError, RecursionError) as error:
        raise InputError(f"kernels '{path}': not what 'dragon-info --json PROGRAM' prints ({error})") from error
    return kernels(root, path)
