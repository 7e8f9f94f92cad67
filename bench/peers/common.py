"""What the Python peers share: a client without a network, the clock, the result line."""
import json
import sys
import time

import httpx2

CHUNK_BYTES = 16 << 10
FOLDER, DELTAS, REPEATS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


class Chunks(httpx2.SyncByteStream):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        for at in range(0, len(self.data), CHUNK_BYTES):
            yield self.data[at : at + CHUNK_BYTES]


def client(data):
    headers = {"content-type": "text/event-stream"}
    answer = lambda request: httpx2.Response(200, headers=headers, stream=Chunks(data))
    return httpx2.Client(transport=httpx2.MockTransport(answer))


def measure(peer, stream, texts):
    """`texts` takes a client and yields the text of each delta."""

    def once(deltas):
        with open(f"{FOLDER}/{stream}_{deltas}.sse", "rb") as file:
            data = file.read()
        start = time.process_time()
        chars = sum(map(len, texts(client(data))))
        return time.process_time() - start, chars

    once(1000)  # warm-up: the SDKs build their types at first use
    cpu, chars = min(once(DELTAS) for _ in range(REPEATS))
    print(json.dumps({"peer": peer, "stream": stream, "cpu": cpu, "chars": chars}), flush=True)
