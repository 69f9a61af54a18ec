#!/usr/bin/env python3
"""Verifies a Rootbound audit log without Rootbound, from what docs/audit.md says.

    audit_verify.py [--head HASH] [--after HASH] [--public-key KEY] FILE...    the oldest first

Exit status: 0 whole, 1 damaged (the line is named), 2 cannot be read. Python's library is all it
needs, and the package `cryptography` for signatures.
"""
import argparse
import hashlib
import json
import re
import sys

FIRST = "0" * 64
LONGEST_LINE = 4 << 20


class Damage(Exception):
    """What is wrong with a line."""


def refuse(text):
    raise ValueError(f"`{text}` is no integer")


def natural(text):
    """No writer writes a number below zero."""
    if text.startswith("-"):
        raise ValueError(f"`{text}` is below zero")
    return int(text)


def canonical(value):
    """RFC 8785, for what a log may hold: no fractions, names in the order of UTF-16."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, int) and value > 2**53 - 1:
        raise ValueError("a number is too large")
    return json.dumps(value, ensure_ascii=False)


def parse(line):
    """The entry, whose text and hash are proven to be its own."""
    try:
        entry = json.loads(
            line.decode(), parse_int=natural, parse_float=refuse, parse_constant=refuse)
        found = entry.pop("hash")
        form = canonical(entry)
        computed = hashlib.sha256(form.encode()).hexdigest()
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise Damage(f"no entry: {error}") from None
    if found != computed:
        raise Damage("the hash is not that of the entry")
    if line != f'{form[:-1]},"hash":"{computed}"}}'.encode():
        raise Damage("not in canonical form")
    return entry | {"hash": found}


def follow(before, entry):
    """Whether an entry follows the one before; the very first begins a chain or a file."""
    prev, seq = entry.get("prev"), entry.get("seq")
    if type(prev) is not str or type(seq) is not int:
        raise Damage("without `prev` or `seq`")
    if before is None:
        if entry.get("kind") != "genesis" or (prev == FIRST) != (seq == 0):
            raise Damage("no beginning of a log")
    elif (prev, seq) != (before["hash"], before["seq"] + 1):
        raise Damage("it does not follow the entry before")


def check_signature(entry, public_key):
    """A checkpoint's signature by the key that was given."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    signed = {name: value for name, value in entry.items() if name not in ("hash", "signature")}
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(entry["signature"]), canonical(signed).encode())
    except (InvalidSignature, ValueError, KeyError, TypeError):
        raise Damage("the signature is not that of the entry") from None


def verify(files, head=None, public_key=None, after=None):
    before = first = None
    for name in files:
        with open(name, "rb") as file:
            number = 0
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
                try:
                    if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                        raise Damage("it is too long")
                    if not line.endswith(b"\n"):
                        raise Damage("half a line")
                    entry = parse(line[:-1])
                    follow(before, entry)
                    if public_key is not None and entry.get("kind") == "checkpoint":
                        check_signature(entry, public_key)
                except Damage as damage:
                    raise Damage(f"{name}: line {number}: {damage}") from None
                before, first = entry, first or entry
            if number == 0:
                raise Damage(f"{name}: no entries")
    if first["prev"] != (after or FIRST):
        raise Damage(f"{files[0]}: line 1: the log begins at entry {first['seq']}, which follows "
                     f"{first['prev']}, and not where it should")
    end = f"{files[-1]}: line {number}"
    if head is not None and before["hash"] != head:
        raise Damage(f"{end}: the head is {before['hash']}")
    ends = before.get("kind") == "checkpoint" and before.get("reason")
    if public_key is not None and ends == "rotated":
        raise Damage(f"{end}: signed as rotated: the file that follows belongs to the log")
    if public_key is not None and ends != "closed":
        raise Damage(f"{end}: not signed as closed")
    return first, before


def digits(text):
    """A hash or a public key as it is given: what is none must not count as not given."""
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise argparse.ArgumentTypeError("64 hexadecimal digits are needed")
    return text.lower()


def key(text):
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise argparse.ArgumentTypeError("the package `cryptography` is needed") from None
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(digits(text)))
    except ValueError:
        raise argparse.ArgumentTypeError("it is no public key") from None
    return text.lower()


def main():
    arguments = argparse.ArgumentParser(description="verifies a Rootbound audit log")
    arguments.add_argument("--head", type=digits)
    arguments.add_argument("--after", type=digits)
    arguments.add_argument("--public-key", type=key)
    arguments.add_argument("files", nargs="+")
    asked = arguments.parse_args()
    try:
        first, last = verify(asked.files, asked.head, asked.public_key, asked.after)
    except Damage as damage:
        sys.exit(print(damage) or 1)
    except OSError as error:
        sys.exit(print(error, file=sys.stderr) or 2)
    if first["seq"]:
        print(f"it begins at entry {first['seq']}: the entries before are not here")
    print(f"whole: {last['seq'] - first['seq'] + 1} entries, head {last['hash']}")


if __name__ == "__main__":
    main()
