"""Pulling from a registry, and from servers that only look like one.

Usage: story.py PROGRAM COMPONENT AUTHORITY WORK
"""

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROGRAM, COMPONENT, AUTHORITY, WORK = sys.argv[1:]
CACHE = os.path.join(os.environ["XDG_CACHE_HOME"], "rootbound", "pulled")
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
component = open(COMPONENT, "rb").read()


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def pull(reference, *options):
    command = [PROGRAM, "pull", reference, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def pulled(reference, *options):
    ended = pull(reference, "--plain-http", *options)
    assert ended.returncode == 0, ended
    return json.loads(ended.stdout)


def cached():
    return sorted(os.listdir(CACHE)) if os.path.isdir(CACHE) else []


def refused(code, reference, *options):
    """A clear code, nothing kept, nothing written."""
    before, output = cached(), os.path.join(WORK, "refused.wasm")
    ended = pull(reference, "--plain-http", "--output", output, *options)
    assert ended.returncode == 1, ended
    error = json.loads(ended.stdout)["error"]
    assert error["code"] == code and error["message"] and error["hint"], error
    assert cached() == before and not os.path.exists(output), reference


def wrong(reference, *options):
    """A command line that is refused before anything is asked for."""
    ended = pull(reference, *options)
    assert ended.returncode == 2 and ended.stdout == "" and ended.stderr.startswith("error: "), ended
    return ended.stderr


def told(what):
    print(f"registry: {what}", flush=True)


class Fake:
    """A registry that answers what it is told to: path -> (status, headers, body) or a function."""

    def __init__(self, answers):
        fake = self
        self.asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                fake.asked.append((self.path, self.headers.get("Authorization")))
                answer = fake.answers.get(self.path.split("?")[0], (404, {}, b""))
                if callable(answer):
                    return answer(self)
                status, headers, body = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.answers = answers
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.authority = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def manifest_of(layer, size=None, kind="application/wasm"):
    return json.dumps({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.wasm.config.v0+json", "digest": digest(b"{}"), "size": 2},
        "layers": [{"mediaType": kind, "digest": digest(layer), "size": len(layer) if size is None else size}],
    }).encode()


def fake(manifest, blob=None, layer=None, named=None):
    """A registry with one artifact: a reference to it, and the server. `layer` is what the
    manifest tells, `blob` what comes."""
    wanted = digest(manifest if named is None else named)
    server = Fake({f"/v2/tools/manifests/{wanted}": (200, {}, manifest)})
    if blob is not None:
        answer = blob if isinstance(blob, tuple) or callable(blob) else (200, {}, blob)
        server.answers[f"/v2/tools/blobs/{digest(layer)}"] = answer
    return f"oci://{server.authority}/tools@{wanted}", server


def a_component_goes_there_and_back():
    pushed = subprocess.run(
        ["scripts/push-component", "--plain-http", COMPONENT, f"{AUTHORITY}/rootbound/file-tools", "0.1.0"],
        env={**os.environ, "ROOTBOUND": PROGRAM}, stdout=subprocess.PIPE, text=True, check=True,
    )
    reference = pushed.stdout.strip()
    tagged = f"oci://{AUTHORITY}/rootbound/file-tools:0.1.0"
    assert pull(tagged, "--plain-http", "--resolve").stdout.strip() == reference
    assert "has no digest" in wrong(tagged, "--plain-http")

    output = os.path.join(WORK, "pulled.wasm")
    first = pulled(reference, "--output", output)
    assert open(output, "rb").read() == component and not first["cached"], first
    assert first["sha256"] == hashlib.sha256(component).hexdigest()
    for old in (b"", component[:100]):
        open(output, "wb").write(old)
        pulled(reference, "--output", output)
        assert open(output, "rb").read() == component
    for name, make in (("text", lambda it: open(it, "w").write("my thesis")), ("link", lambda it: os.symlink(output, it)),
                       ("directory", os.mkdir)):
        taken = os.path.join(WORK, name)
        make(taken)
        ended = pull(reference, "--plain-http", "--output", taken)
        assert ended.returncode == 1 and json.loads(ended.stdout)["error"]["code"] == "exists", ended
    assert open(os.path.join(WORK, "text")).read() == "my thesis" and os.path.islink(os.path.join(WORK, "link"))
    again = pulled(reference)
    assert again["cached"] and open(again["component"], "rb").read() == component
    assert os.stat(again["component"]).st_mode & 0o777 == 0o600 and os.stat(CACHE).st_mode & 0o777 == 0o700

    inputs = os.path.join(WORK, "inputs")
    os.mkdir(inputs)
    open(os.path.join(inputs, "notes.md"), "w").write("hello")
    called = subprocess.run(
        [PROGRAM, "call", "read_file", '{"path":"notes.md"}', "--component", again["component"],
         "--read", inputs, "--audit", "none"], stdout=subprocess.PIPE, text=True, check=True,
    )
    assert json.loads(called.stdout)["content"] == "hello"
    told("a component is pushed, resolved, pulled, kept and called")
    return reference, again["component"]


def the_cache_is_checked(reference, file):
    elsewhere = reference.replace(AUTHORITY, "127.0.0.1:1")
    assert pulled(elsewhere)["cached"], "what is kept needs no registry"
    assert pulled(elsewhere, "--offline")["cached"]
    with open(file, "ab") as kept:
        kept.write(b"more")
    refused("not-found", reference, "--offline")
    assert not pulled(reference)["cached"], "what was changed is fetched again"
    assert open(file, "rb").read() == component
    os.chmod(CACHE, 0o755)
    refused("io", reference)
    os.chmod(CACHE, 0o700)
    told("what is kept is used without a registry, and not when it was changed")


def what_is_wrong_is_said_at_once():
    pinned = digest(b"")
    for text in ["", "tools", "https://example.org/a", f"oci://example.org/A@{pinned}", "oci://127.0.0.1/a@sha256:0"]:
        wrong(text)
    assert "registries on this machine" in wrong(f"oci://example.org/a@{pinned}", "--plain-http")
    assert "registries on this machine" in wrong(f"oci://127.0.0.1.example.org/a@{pinned}", "--plain-http")
    told("references that are none, and http to other machines, are refused")


def a_registry_that_is_down_or_slow():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        refused("unreachable", f"oci://127.0.0.1:{taken.getsockname()[1]}/a@{digest(b'')}")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        refused("timeout", f"oci://127.0.0.1:{silent.getsockname()[1]}/a@{digest(b'')}", "--timeout-ms", "300")

    over = threading.Event()

    def drip(request):
        request.send_response(200)
        request.send_header("Content-Length", "100000")
        request.end_headers()
        try:
            while not over.wait(0.02):
                request.wfile.write(b".")
        except OSError:
            pass

    layer = component[:100000]
    reference, _ = fake(manifest_of(layer), drip, layer)
    refused("timeout", reference, "--timeout-ms", "500")
    over.set()
    # TLS is wanted unless it is said otherwise.
    reference, server = fake(manifest_of(layer), layer, layer)
    ended = pull(reference, "--timeout-ms", "2000")
    assert ended.returncode == 1 and json.loads(ended.stdout)["error"]["code"] in ("unreachable", "timeout"), ended
    assert server.asked == [], "nothing was asked for without TLS"
    told("a registry that is down, silent, slow or without TLS")


def a_registry_that_sends_other_things():
    good = manifest_of(component)
    control, _ = fake(good, component, component)
    os.environ["XDG_CACHE_HOME"] = os.path.join(WORK, "control")
    assert pulled(control)["size"] == len(component)
    os.environ["XDG_CACHE_HOME"] = os.path.dirname(os.path.dirname(CACHE))

    refused("digest-mismatch", fake(good + b" ", component, component, named=good)[0])
    other = b"\0asm\x0d\0\x01\0" + b"x" * 100
    longer = other + b"more"
    for came, code in [(b"y" * len(other), "digest-mismatch"), (other[:-1], "digest-mismatch"), (longer, "limit-exceeded")]:
        refused(code, fake(manifest_of(other), came, other)[0])
    refused("limit-exceeded", fake(b'{"layers":[' + b" " * 3_000_000 + b"]}")[0])
    refused("limit-exceeded", fake(manifest_of(other, size=1 << 40), other, other)[0])
    endless, _ = fake(manifest_of(other), endless_answer, other)
    refused("limit-exceeded", endless)
    for manifest in [b"", b"<html>", b"[]", manifest_of(other, kind="application/x-tar"), json.dumps({"mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []}).encode()]:
        refused("unsupported-document", fake(manifest, other, other)[0])
    module = b"\0asm\x01\0\0\0"
    refused("unsupported-document", fake(manifest_of(module), module, module)[0])
    refused("not-found", fake(good)[0].replace("tools@", "others@"))
    for status, code in [(401, "permission-denied"), (403, "permission-denied"), (500, "unreachable"), (206, "unreachable")]:
        refused(code, fake(manifest_of(other), (status, {}, other), other)[0])
    told("other bytes, huge ones, other kinds, and refusals")


def endless_answer(request):
    request.send_response(200)
    request.end_headers()
    try:
        while True:
            request.wfile.write(b"x" * 65536)
    except OSError:
        pass


def a_registry_that_leads_elsewhere():
    other = b"\0asm\x0d\0\x01\0" + b"z" * 100
    secret = Fake({"/x": (200, {}, other), "/token": (200, {}, b'{"token":"t"}')})
    away = [f"http://{secret.authority}/x", "https://127.0.0.1/x", "file:///etc/passwd", "//example.org/x", ""]
    for place in away:
        refused("redirected", fake(manifest_of(other), (307, {"Location": place}, b""), other)[0])
    reference, server = fake(manifest_of(other))
    path, _ = next(iter(server.answers.items()))
    server.answers[path] = (302, {"Location": "/elsewhere"}, b"")
    refused("redirected", reference)
    server.answers[path] = (401, {"WWW-Authenticate": f'Bearer realm="http://{secret.authority}/token"'}, b"")
    refused("redirected", reference)
    assert secret.asked == [], "nobody else was asked"

    round_about, server = fake(manifest_of(other), (307, {"Location": "/x"}, b""), other)
    server.answers["/x"] = (307, {"Location": "/x"}, b"")
    refused("redirected", round_about)
    told("redirects to other places, and round in circles")


def a_registry_that_wants_a_token():
    other = b"\0asm\x0d\0\x01\0" + b"w" * 100
    manifest = manifest_of(other)
    server = Fake({})

    def guarded(content):
        def answer(request):
            known = request.headers.get("Authorization") == "Bearer everybody"
            request.send_response(200 if known else 401)
            if not known:
                challenge = f'Bearer realm="http://{server.authority}/token",service="a registry",scope="all"'
                request.send_header("WWW-Authenticate", challenge)
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            request.wfile.write(content)
        return answer

    server.answers = {
        f"/v2/tools/manifests/{digest(manifest)}": guarded(manifest),
        f"/v2/tools/blobs/{digest(other)}": (307, {"Location": "/kept/here"}, b""),
        "/kept/here": (200, {}, other),
        "/token": (200, {}, b'{"access_token":"everybody"}'),
    }
    assert pulled(f"oci://{server.authority}/tools@{digest(manifest)}")["size"] == len(other)
    token = next(path for path, _ in server.asked if path.startswith("/token"))
    assert "repository%3Atools%3Apull" in token or "repository:tools:pull" in token, token
    assert ("/kept/here", None) in server.asked, "the token went on to where contents are kept"
    told("a token for everybody, which stays with the registry")


reference, file = a_component_goes_there_and_back()
the_cache_is_checked(reference, file)
what_is_wrong_is_said_at_once()
a_registry_that_is_down_or_slow()
a_registry_that_sends_other_things()
a_registry_that_leads_elsewhere()
a_registry_that_wants_a_token()
