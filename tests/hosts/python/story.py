"""The story of `story.json`, told by a Python program.

Usage: story.py COMPONENT STORY INPUTS WORKSPACE
"""

import json
import sys

from files import Files
from wasmtime.component import Record

COMPONENT, STORY, INPUTS, WORKSPACE = sys.argv[1:]
BYTES = {"write": 1, "append": 1}


def given(name, arguments):
    """The arguments as the binding takes them."""
    arguments = [record(argument) if isinstance(argument, dict) else argument for argument in arguments]
    if name in BYTES:
        arguments[BYTES[name]] = arguments[BYTES[name]].encode()
    return arguments


def record(fields):
    made = Record()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def plain(value):
    """An answer without the binding's classes."""
    match value:
        case bytes():
            return value.decode()
        case list():
            return [plain(item) for item in value]
        case _ if hasattr(value, "tag"):
            return plain(value.payload)
        case _ if hasattr(value, "__dict__"):
            return {name: plain(field) for name, field in vars(value).items()}
    return value


def fits(answer, wanted):
    """Whether an answer has what is wanted; it may have more fields."""
    match wanted:
        case {"error": code}:
            return isinstance(answer, dict) and answer.get("code") == code and answer["message"] != ""
        case dict():
            return all(name in answer and fits(answer[name], value) for name, value in wanted.items())
        case list():
            return len(answer) == len(wanted) and all(map(fits, answer, wanted))
    return answer == wanted


assert open(f"{INPUTS}/../secret.txt").read() == open(f"{INPUTS}/outside").read() == "secret\n"
files = Files(COMPONENT, INPUTS, WORKSPACE)
for name, arguments, wanted in json.load(open(STORY)):
    answer = plain(files.call(name, *given(name, arguments)))
    assert fits(answer, wanted), f"{name} {arguments} answered {answer}"
assert open(f"{WORKSPACE}/a/new.md").read() == "second line"
assert open(f"{WORKSPACE}/b/moved.md").read() == "hello\nworld\n"
