"""HTML that cannot be broken by what it shows: all text goes through el(), which escapes what is not Html already."""

import html
import json
import re


class Html(str):
    """Markup made here."""


# Control characters have no place in HTML; those that change the direction of text make source look like what it is not.
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")
VOID = {"meta", "br", "hr"}


def text(value):
    """A value as markup."""
    if isinstance(value, Html):
        return value
    shown = HIDDEN.sub(lambda match: f"\u27e8U+{ord(match.group()):04X}\u27e9", str(value).replace("\r\n", "\n"))
    return Html(html.escape(shown, quote=True))


def join(children, between=""):
    """Markup of lists within lists; None is nothing."""
    parts = []
    for child in children:
        if child is None:
            continue
        parts.append(join(child) if isinstance(child, (list, tuple)) else text(child))
    return Html(text(between).join(parts))


def el(tag, *children, **attributes):
    """An element: el("p", "text", class_="note", aria_label="x"). An attribute that is None or False is left out."""
    words = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        words.append(name if value is True else f'{name}="{text(value)}"')
    opened = f"<{' '.join(words)}>"
    return Html(opened) if tag in VOID else Html(f"{opened}{join(children)}</{tag}>")


def data(identifier, value):
    """Data for the page's script. It is no script itself, and nothing in it ends the element."""
    written = json.dumps(value, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{text(identifier)}">{written}</script>')


def inline(markdown):
    """A paragraph of our own pages: `code`, **bold**, *names*; of links the text stays."""
    markdown = re.sub(r"\[((?:[^\[\]]|\[\])*)\]\([^()\s]*\)", r"\1", markdown)
    pieces = re.split(r"(`[^`]+`|\*\*[^*]+\*\*|\*\w[^*]*\*)", markdown)
    out = []
    for piece in pieces:
        if len(piece) > 2 and piece[0] == piece[-1] == "`":
            out.append(el("code", piece[1:-1]))
        elif len(piece) > 4 and piece.startswith("**"):
            out.append(el("b", piece[2:-2]))
        elif len(piece) > 2 and piece[0] == piece[-1] == "*":
            out.append(el("i", piece[1:-1]))
        else:
            out.append(text(piece))
    return join(out)
