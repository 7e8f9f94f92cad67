"""Drives each agent through `millpond serve` and prints what became of it, a line each.

usage: drive.py MILLPOND SCRATCH NODE_MODULES [AGENT...]
"""

import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zlib

MILLPOND, SCRATCH, MODULES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
PROVIDER_PORT = 8787
PROVIDER = f"http://127.0.0.1:{PROVIDER_PORT}"
PATH = f"{MODULES}/node/bin:{MODULES}/.bin:/usr/bin:/bin"
FINAL = "Done. The command printed **hello-from-tool**, and the folder holds one file."

CODEX = """
model = "mock-model"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "%s/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
""" % PROVIDER
OPENCODE = {
    "provider": {"mock": {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{PROVIDER}/v1", "apiKey": "none"},
        "models": {"mock-model": {
            "attachment": True, "modalities": {"input": ["text", "image"], "output": ["text"]},
        }},
    }},
    "model": "mock/mock-model",
    "small_model": "mock/mock-model",
    "autoupdate": False,
    "permission": {"bash": "ask", "edit": "ask"},
}
GEMINI = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
GEMINI_VARIABLES = {
    "GEMINI_API_KEY": "none",
    "GOOGLE_GEMINI_BASE_URL": PROVIDER,
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
}
QWEN_VARIABLES = {
    "OPENAI_API_KEY": "none",
    "OPENAI_BASE_URL": f"{PROVIDER}/v1",
    # One that it knows to see.
    "OPENAI_MODEL": "qwen3-vl-plus",
}

# Each agent: its profile, its variables, files of its home, and the answer that allows once.
# Gemini CLI writes its ACP conversations so that it cannot load them again, and begins another.
FORGETFUL = ["gemini-acp"]
# Its print mode takes no pictures.
BLIND = ["gemini"]
AGENTS = {
    "claude": (
        'agent = "claude"',
        {
            "ANTHROPIC_BASE_URL": PROVIDER,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
        {},
        "allow",
    ),
    "codex": (
        'agent = "codex"\nrequest = { approvalPolicy = "untrusted" }',
        {"MOCK_KEY": "none"},
        {".codex/config.toml": CODEX},
        "accept",
    ),
    "gemini": (
        'agent = "gemini"\nmodel = "gemini-2.5-flash"\nown_home = true',
        GEMINI_VARIABLES,
        {"../data/homes/gemini/.gemini/settings.json": json.dumps(GEMINI)},
        "allow",
    ),
    "opencode": (
        'agent = "opencode"',
        {"OPENCODE_CONFIG_CONTENT": json.dumps(OPENCODE)},
        {},
        "once",
    ),
    "qwen": (
        'agent = "qwen"\ncommand = ["qwen", "--auth-type", "openai"]',
        QWEN_VARIABLES,
        {},
        "allow",
    ),
    "gemini-acp": (
        'agent = "acp"\ncommand = ["gemini", "--acp", "-m", "gemini-2.5-flash"]',
        GEMINI_VARIABLES,
        {".gemini/settings.json": json.dumps(GEMINI)},
        "proceed_once",
    ),
    "opencode-acp": (
        'agent = "acp"\ncommand = ["opencode", "acp"]',
        {"OPENCODE_CONFIG_CONTENT": json.dumps(OPENCODE)},
        {},
        "once",
    ),
    "qwen-acp": (
        'agent = "acp"\ncommand = ["qwen", "--acp"]\nsign_in = "openai"',
        QWEN_VARIABLES,
        {},
        "proceed_once",
    ),
}


class Gateway:
    """A gateway with one agent, in a folder of its own."""

    def __init__(self, name):
        profile, variables, files, self.allow = AGENTS[name]
        self.folder = SCRATCH / name
        home, work = self.folder / "home", self.folder / "work"
        work.mkdir(parents=True)
        (work / "a.txt").write_text("a\n")
        home.mkdir()
        for file, text in files.items():
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).write_text(text)
        config = f'listen = "127.0.0.1:0"\ndata = "{self.folder}/data"\n[profiles.it]\n{profile}\n'
        (self.folder / "millpond.toml").write_text(config + 'folder = "work"\n')
        environment = {"PATH": PATH, "HOME": str(home), **variables}
        self.errors = open(self.folder / "errors", "w+")
        self.process = subprocess.Popen(
            [MILLPOND, "serve", "--config-file", str(self.folder / "millpond.toml")],
            env=environment, stderr=self.errors, cwd=self.folder,
        )
        self.base = self.wait_for("listening on ")
        self.token = (self.folder / "data" / "token").read_text().strip()
        self.session = self.post("/v1/sessions", {})["id"]

    def wait_for(self, words):
        for _ in range(600):
            for line in (self.folder / "errors").read_text().splitlines():
                if words in line:
                    return line.split(words)[1].strip()
            time.sleep(0.05)
        raise SystemExit((self.folder / "errors").read_text())

    def call(self, path, body=None):
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, headers)
        return urllib.request.urlopen(request, timeout=120)

    def post(self, path, body):
        with self.call(path, body) as reply:
            text = reply.read()
            return json.loads(text) if text else {}

    def show(self, picture):
        """Uploads a picture; gives its digest."""
        path = f"{self.base}/v1/sessions/{self.session}/blobs"
        headers = {"authorization": f"Bearer {self.token}", "content-type": "image/png"}
        with urllib.request.urlopen(urllib.request.Request(path, picture, headers)) as reply:
            return json.loads(reply.read())["digest"]

    def records(self, after):
        """The records of the session from a cursor on, as they come."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with self.call(f"/v1/sessions/{self.session}/log") as log:
                records = [json.loads(line) for line in log]
            for record in records[after:]:
                yield record
            after = max(after, len(records))
            time.sleep(0.05)
        raise SystemExit("no ending in two minutes\n" + (self.folder / "errors").read_text())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def png(side):
    """A red square."""
    def part(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = part(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    rows = (b"\0" + b"\xff\0\0" * side) * side
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def turn(gateway, after, cancel=False, shown=()):
    """Sends a message, answers what is asked, and gives what became of it."""
    sent = time.monotonic()
    message = {"text": "List the files", "attachments": [gateway.show(one) for one in shown]}
    gateway.post(f"/v1/sessions/{gateway.session}/messages", message)
    told = {"asks": 0, "text": {}, "tools": [], "thoughts": 0, "order": [], "notices": []}
    for record in gateway.records(after):
        told["seq"] = record["seq"] + 1
        kind = record["type"]
        if kind == "ask_opened":
            told["asks"] += 1
            told["asked"] = record["text"]
            told["options"] = [option["id"] for option in record.get("options", [])]
            if cancel:
                began = time.monotonic()
                gateway.post(f"/v1/runs/{record['run']}/cancel", {})
                told["stopped_in"] = time.monotonic() - began
            else:
                path = f"/v1/runs/{record['run']}/asks/{record['ask']}/answer"
                try:
                    gateway.post(path, {"answer": gateway.allow})
                except urllib.error.HTTPError as error:
                    told["refused"] = error.read().decode()
                    gateway.post(f"/v1/runs/{record['run']}/cancel", {})
        elif kind == "text_appended":
            told["text"].setdefault(record["message"], "")
            told["text"][record["message"]] += record["text"]
        elif kind == "tool_ended":
            told["tools"].append(record["outcome"])
        elif kind == "reasoning_started":
            told["thoughts"] += 1
        elif kind == "notice_given":
            told["notices"].append(record["text"])
        elif kind == "unrecognised":
            told.setdefault("unrecognised", []).append(record["raw"][:200])
        elif kind == "run_ended":
            told["ending"] = record
            break
        told["order"].append(kind)
    told["seconds"] = time.monotonic() - sent
    return told


def drive(name):
    gateway = Gateway(name)
    problems = []

    def expect(holds, words):
        if not holds:
            problems.append(words)

    try:
        first = turn(gateway, 0)
        ending = first["ending"]
        final = first["text"].get(ending.get("message"), "")
        expect(ending["outcome"] == "completed", f"ended {ending}")
        expect(first["asks"] == 1, f"{first['asks']} asks")
        expect("refused" not in first, f"{first.get('refused')} of {first.get('options')}")
        expect(first["tools"] == ["succeeded"], f"tools {first['tools']}")
        expect(final == FINAL, f"final text {first['text']}")
        expect((gateway.folder / "work" / "made-by-agent").exists(), "the command did not run")
        expect("unrecognised" not in first, f"unrecognised {first.get('unrecognised')}")
        again = turn(gateway, first["seq"], shown=[png(64)])
        expect(again["ending"]["outcome"] == "completed", f"second message: {again['ending']}")
        kinds = again["order"]
        if name not in FORGETFUL:
            expect("session_named" not in kinds, "the second message began another conversation")
        requests = (SCRATCH / f"{name}.requests").read_text()
        if name in BLIND:
            expect(any("images" in text for text in again["notices"]), "no notice that it takes no images")
            expect("An image attached" in requests, "it was not told of the picture")
        else:
            # PNG or, from agents that make pictures smaller, JPEG.
            came = "iVBORw0KGgo" in requests or '"/9j/' in requests or "base64,/9j/" in requests
            expect(came, "the provider was not shown the picture")
        third = turn(gateway, again["seq"], cancel=True)
        expect(third["ending"]["outcome"] == "cancelled", f"cancelled: {third['ending']}")
        stopped = third.get("stopped_in", 99.0)
        expect(stopped < 2.0, f"stopped in {stopped:.1f} s")
    finally:
        gateway.stop()
    shown = "ok" if not problems else "; ".join(problems)
    print(
        f"{name:13} asked: {first.get('asked', '-')[:60]!r}, thoughts {first['thoughts']}, "
        f"{len(first['order'])} events in {first['seconds']:.1f} s, "
        f"stopped in {stopped:.2f} s: {shown}",
        flush=True,
    )
    if problems:
        print((gateway.folder / "errors").read_text()[-2000:])
    return not problems


def main():
    wanted = sys.argv[4:] or list(AGENTS)
    good = 0
    for name in wanted:
        # One for each, because it answers only so many requests.
        log = str(SCRATCH / f"{name}.requests")
        provider = subprocess.Popen(
            [sys.executable, str(SCRATCH / "provider.py"), str(PROVIDER_PORT), log, "2"]
        )
        try:
            while True:
                try:
                    urllib.request.urlopen(f"{PROVIDER}/v1/models").read()
                    break
                except OSError:
                    time.sleep(0.05)
            good += drive(name)
        finally:
            provider.kill()
            provider.wait()
    print(f"agents: {good} of {len(wanted)} as they should be")
    return 0 if good == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
