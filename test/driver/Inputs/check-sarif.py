# check-sarif.py DOCUMENT REMARKS: whether the document has what the schema of SARIF 2.1.0 requires of the objects in it, and whether
# its results are the remarks that clang printed; prints them.
import json
import re
import sys
from urllib.parse import unquote, urlparse

import jsonschema

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}, "additionalProperties": False}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
URI = {"type": "string", "pattern": r"^[A-Za-z0-9%/._~:-]+$"}
RULE = {
    "type": "object", "required": ["id"], "additionalProperties": False,
    "properties": {"id": {"type": "string"}, "shortDescription": TEXT, "helpUri": URI,
                   "defaultConfiguration": {"type": "object", "properties": {"level": LEVEL}, "additionalProperties": False}},
}
PLACE = {
    "type": "object", "required": ["artifactLocation"], "additionalProperties": False,
    "properties": {
        "artifactLocation": {"type": "object", "required": ["uri"], "additionalProperties": False,
                             "properties": {"uri": URI, "uriBaseId": {"const": "SRCROOT"}}},
        "region": {"type": "object", "required": ["startLine"], "additionalProperties": False,
                   "properties": {name: {"type": "integer", "minimum": 1} for name in ("startLine", "startColumn")}},
    },
}
RESULT = {
    "type": "object", "required": ["message", "ruleId", "ruleIndex", "level"], "additionalProperties": False,
    "properties": {"message": TEXT, "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0}, "level": LEVEL,
                   "locations": {"type": "array", "items": {"type": "object", "required": ["physicalLocation"],
                                                            "properties": {"physicalLocation": PLACE}, "additionalProperties": False}}},
}
RUN = {
    "type": "object", "required": ["tool", "results"], "additionalProperties": False,
    "properties": {
        "tool": {"type": "object", "required": ["driver"], "additionalProperties": False,
                 "properties": {"driver": {"type": "object", "required": ["name", "version", "rules"], "additionalProperties": False,
                                           "properties": {"name": {"type": "string"}, "version": {"type": "string"},
                                                          "rules": {"type": "array", "items": RULE, "uniqueItems": True}}}}},
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "originalUriBaseIds": {"type": "object", "additionalProperties": {
            "type": "object", "required": ["uri"], "properties": {"uri": {"type": "string", "pattern": "^file:///.*/$"}}}},
        "results": {"type": "array", "items": RESULT, "uniqueItems": True},
    },
}
DOCUMENT = {"type": "object", "required": ["version", "runs"], "additionalProperties": False,
            "properties": {"$schema": URI, "version": {"const": "2.1.0"}, "runs": {"type": "array", "items": RUN, "minItems": 1}}}

with open(sys.argv[1]) as file:
    document = json.load(file)
jsonschema.Draft7Validator(DOCUMENT).validate(document)
run, = document["runs"]
rules = run["tool"]["driver"]["rules"]
told = set()
for result in run["results"]:
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"], result
    place = result["locations"][0]["physicalLocation"]
    uri, region = place["artifactLocation"]["uri"], place["region"]
    path = unquote(urlparse(uri).path if uri.startswith("file:") else uri)
    told.add((path, region["startLine"], region.get("startColumn"), result["message"]["text"]))
    print(result["ruleId"], result["level"], f"{uri}:{region['startLine']}:{region.get('startColumn')}", result["message"]["text"])
printed = set()
for line in open(sys.argv[2]):
    match = re.match(r"(.*?):(\d+):(\d+): remark: (.*) \[-Rpass(-missed)?=dragon\]$", line)
    if match:
        printed.add((match[1], int(match[2]), int(match[3]), match[4]))
analyses = {text for *_, text in told - printed}
assert not printed - told, f"not in the document: {printed - told}"
assert all(any(r["ruleId"] and r["message"]["text"] == text and r["level"] == "note" for r in run["results"]) for text in analyses), analyses
print(f"valid: {len(run['results'])} results, all printed")
