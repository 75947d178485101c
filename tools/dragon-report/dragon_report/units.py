"""Numbers with units, in one form: 48.0 MiB, 1.25 GB/s, 154 ms, 61 %."""

import re

SPACE = "\u00a0"  # a number stays with its unit


def three_digits(value):
    """1.25, 12.5, 125: three digits that say something."""
    for limit, digits in ((9.995, 2), (99.95, 1)):
        if value < limit:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"


def scaled(value, units, step):
    index = 0
    while index + 1 < len(units) and value >= step * 0.9995:
        value /= step
        index += 1
    return value, units[index]


def size(count):
    value, unit = scaled(float(count), ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024)
    return f"{value:.0f}{SPACE}B" if unit == "B" else f"{three_digits(value)}{SPACE}{unit}"


def time(seconds):
    if seconds <= 0:
        return f"0{SPACE}ms"
    value, unit = scaled(seconds * 1e9, ["ns", "\u00b5s", "ms", "s"], 1000)
    return f"{three_digits(value)}{SPACE}{unit}"


def rate(count, seconds):
    """Bytes a second; nothing where there was no time."""
    if seconds <= 0 or count <= 0:
        return None
    return f"{three_digits(count / seconds / 1e9)}{SPACE}GB/s"


def share(part, whole):
    percent = 100 * part / whole if whole > 0 else 0
    if 0 < percent < 0.95:
        return f"<{SPACE}1{SPACE}%" if percent < 0.5 else f"1{SPACE}%"
    return f"{percent:.0f}{SPACE}%"


def number(value):
    """1 234 567, with spaces that do not break."""
    return f"{value:,}".replace(",", "\u202f")


def count(value, one, several=None):
    """'1 launch', '12 launches'."""
    return f"{number(value)}{SPACE}{one if value == 1 else several or one + 's'}"


def decimal(word):
    try:
        return float(word)
    except ValueError:
        return 0.0


def restated(text):
    """Sizes and times of a text of the runtime in our form: '(copies 26 MiB, 0.000514 s)'."""
    scales = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
    text = re.sub(r"\b(\d[\d.]*) ([KMGT]iB)\b", lambda match: size(decimal(match.group(1)) * scales[match.group(2)]), text)
    return re.sub(r"\b(\d[\d.]*(?:e-?\d+)?) s\b", lambda match: time(decimal(match.group(1))), text)
