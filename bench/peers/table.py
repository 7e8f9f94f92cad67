"""Measures Millpond on the same streams and prints one table with the peers' results.
    table.py FOLDER DELTAS REPEATS MILLPOND < RESULTS
"""
import json
import resource
import subprocess
import sys

folder, deltas, repeats, millpond = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def show(stream, stdout):
    """The whole process, its start included."""
    before = spent()
    with open(f"{folder}/{stream}_{deltas}.sse", "rb") as file:
        command = [millpond, "show", "-q", "-o", "events"]
        done = subprocess.run(command, stdin=file, stdout=stdout, check=True)
    return spent() - before, done.stdout


peers = [json.loads(line) for line in sys.stdin]
print("| stream | peer | CPU s per 100,000 deltas | x Millpond | characters |")
print("| --- | --- | --- | --- | --- |")
wrong = []
for stream in ("chat", "responses", "anthropic"):
    # Short runs, so more of them.
    cpu = min(show(stream, subprocess.DEVNULL)[0] for _ in range(5 * repeats))
    events = map(json.loads, show(stream, subprocess.PIPE)[1].splitlines())
    chars = sum(len(event["text"]) for event in events if event["type"] == "text_appended")
    ours = {"peer": "Millpond", "stream": stream, "cpu": cpu, "chars": chars}
    for row in [ours] + [peer for peer in peers if peer["stream"] == stream]:
        seconds = row["cpu"] * 100_000 / deltas
        ratio = row["cpu"] / cpu
        print(f"| {stream} | {row['peer']} | {seconds:.3f} | {ratio:.1f} | {row['chars']} |")
        if row["chars"] != chars:
            wrong.append(f"{stream}, {row['peer']}: {row['chars']} characters, not {chars}")
        if row.get("note"):
            wrong.append(f"{stream}, {row['peer']}: {row['note']}")
print()
for line in wrong:
    print("do not use:", line)
if peers and not wrong:
    print("On each stream every peer gave the same number of characters, without an error.")
