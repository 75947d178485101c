# check-page.py PAGE...: a page is well formed, needs nothing from elsewhere, runs no script but its own, and its links lead somewhere.
import base64
import hashlib
import html.parser
import json
import sys

VOID = {"meta", "br", "hr"}
ATTRIBUTES = {"http-equiv", "content", "name", "charset", "class", "id", "href", "style", "title", "role", "lang", "hidden", "type", "open",
              "viewbox", "preserveaspectratio", "d", "x", "y", "rx", "width", "height", "data-kind"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path, self.open, self.ids, self.links = path, [], set(), set()
        self.policy, self.scripts, self.data = "", [], []

    def fail(self, text):
        sys.exit(f"{self.path}:{self.getpos()[0]}: {text}")

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        for name, value in attributes:
            if name not in ATTRIBUTES and not name.startswith("aria-"):
                self.fail(f"attribute '{name}' of <{tag}>")
            if "url(" in (value or "") or name == "style" and not value.startswith("width:"):
                self.fail(f"style '{value}'")
        if "id" in found:
            if found["id"] in self.ids:
                self.fail(f"id '{found['id']}' is there twice")
            self.ids.add(found["id"])
        if "href" in found:
            if not found["href"].startswith("#"):
                self.fail(f"link to '{found['href']}'")
            self.links.add(found["href"][1:])
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"]
        if tag == "script":
            (self.data if found.get("type") == "application/json" else self.scripts).append("")
            self.into = self.data if found.get("type") == "application/json" else self.scripts
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.fail(f"</{tag}> closes something else")

    def handle_data(self, words):
        if self.open and self.open[-1] == "script":
            self.into[-1] += words
        if self.open and self.open[-1] == "style" and ("@import" in words or "url(" in words):
            self.fail("the style loads something")

    def check(self):
        if self.open:
            self.fail(f"<{self.open[-1]}> is not closed")
        if self.links - self.ids:
            self.fail(f"links to nothing: {', '.join(sorted(self.links - self.ids))}")
        if len(self.scripts) != 1:
            self.fail(f"{len(self.scripts)} scripts")
        digest = base64.b64encode(hashlib.sha256(self.scripts[0].encode()).digest()).decode()
        if self.policy != f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'":
            self.fail(f"policy '{self.policy}'")
        for words in self.data:
            json.loads(words)


for path in sys.argv[1:]:
    with open(path, encoding="utf-8", newline="") as file:
        page = Page(path)
        page.feed(file.read())
        page.close()
        page.check()
