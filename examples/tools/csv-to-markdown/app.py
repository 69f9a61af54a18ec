"""`csv_to_markdown`: a CSV file as a Markdown table."""

import csv
import io
import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports import provider
from wit_world.imports import preopens
from wit_world.imports.types import (
    DescriptorFlags,
    ErrorCode,
    OpenFlags,
    PathFlags,
)

BLOCK = 512 * 1024
MOST_ROWS = 10_000

TOOL = provider.Definition(
    name="csv_to_markdown",
    title="CSV to Markdown",
    description="Reads a CSV file and answers with a Markdown table. The delimiter (comma, "
    "semicolon, tab or bar) is found out unless `delimiter` names it. The first row is the head "
    "of the table; `rows` says how many follow at most. Refuses what is not UTF-8 (`not-text`).",
    input_schema=json.dumps({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "CSV file; a relative path"},
            "delimiter": {"type": "string", "description": "One character"},
            "rows": {"type": "integer", "default": 100},
        },
        "required": ["path"],
        "additionalProperties": False,
        "examples": [{"path": "data/export.csv", "rows": 20}],
    }),
    output_schema=json.dumps({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "root": {"type": "string"},
            "columns": {"type": "integer"},
            "rows": {"type": "integer"},
            "truncated": {"type": "boolean"},
        },
        "required": ["path", "root", "columns", "rows", "truncated"],
    }),
    risk=provider.RiskClass.READ,
    paths=[provider.PathArgument("path", provider.PathRole.READ, False)],
)


class Provider(exports.Provider):
    """What the component exports."""

    def list_tools(self):
        return [TOOL]

    def call_tool(self, name, arguments):
        if name != TOOL.name:
            raise wrong("unknown-tool", f"there is no tool `{name}`", f"known tools: `{TOOL.name}`")
        return run(**parsed(arguments))


def run(path, delimiter=None, rows=100):
    root, content = read(path)
    try:
        text = content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise wrong("not-text", f"`{path}` is not UTF-8 at byte {error.start}", "convert it first")
    table = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or sniffed(text)))
    table = [row for row in table if row]
    shown = table[: rows + 1]
    fields = {
        "path": path,
        "root": root,
        "columns": max(map(len, shown), default=0),
        "rows": max(len(shown) - 1, 0),
        "truncated": len(shown) < len(table),
    }
    return provider.Output(json.dumps(fields, separators=(",", ":")), provider.Content_Text(markdown(shown)))


def read(path):
    """The file's root and content, from the first read root that has it. Only an absent file
    moves on to the next root, as the contract wants it."""
    roots = [(root, name) for root, name in preopens.get_directories() if name.startswith("/read/")]
    if not roots:
        raise wrong("not-granted", "no directory is granted for reading", "ask the user for one")
    for root, name in roots:
        try:
            file = root.open_at(PathFlags.SYMLINK_FOLLOW, path, OpenFlags(0), DescriptorFlags.READ)
            return name, read_all(file)
        except Err as refusal:
            if refusal.value != ErrorCode.NO_ENTRY:
                break
    # The host knows why it refused, and says it.
    raise Err(provider.ToolError_Host())


def read_all(file):
    content = bytearray()
    at_end = False
    while not at_end:
        block, at_end = file.read(BLOCK, len(content))
        content += block
    return bytes(content)


def parsed(arguments):
    """The arguments of a call, or a refusal that says what is wrong with them."""
    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise invalid(f"the arguments are not JSON: {error}")
    known = json.loads(TOOL.input_schema)["properties"]
    if not isinstance(given, dict):
        raise invalid("the arguments are not an object")
    if unknown := [name for name in given if name not in known]:
        raise invalid(f"unknown argument `{unknown[0]}`")
    if not isinstance(given.get("path"), str):
        raise invalid("argument `path` is missing, or no string")
    delimiter, rows = given.get("delimiter", ","), given.get("rows", 1)
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
        raise invalid("`delimiter` is not one character that can separate")
    if not isinstance(rows, int) or isinstance(rows, bool) or not 1 <= rows <= MOST_ROWS:
        raise invalid(f"`rows` is not from 1 to {MOST_ROWS}")
    return given


def sniffed(text):
    """The delimiter that the first line has most of."""
    first = text.split("\n", 1)[0]
    return max(",;\t|", key=first.count)


def markdown(table):
    if not table:
        return ""
    width = max(map(len, table))
    head, *body = [row + [""] * (width - len(row)) for row in table]
    return "".join(map(line, [head, ["---"] * width, *body]))


def line(row):
    cells = (" ".join(cell.replace("\\", "\\\\").replace("|", "\\|").split()) for cell in row)
    return f"| {' | '.join(cells)} |\n"


def invalid(message):
    return wrong("invalid-arguments", message, f"give them as {TOOL.input_schema}")


def wrong(code, message, hint):
    return Err(provider.ToolError_Tool(provider.Failure(code, message, hint, "")))
