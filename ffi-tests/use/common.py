"""What the checks of the programs here share."""
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import server  # noqa: E402

FLUSHES = ["whole", "bytes", "lines", "utf8", "midline&seed=3", "crlf", "random&seed=5", "random&max=1448&seed=8"]
VERDICTS = {  # of the C interface, to the exit status of the command
    "Done": 0, "Finished": 0, "Body": 0, "ApiError": 2, "Truncated": 3, "Lost": 3, "Empty": 4, "NotAStream": 4, "OtherProtocol": 4,
    "JsonAnswer": 4,
}
failures = []


def status_of(said):
    """Returns the exit status of the command for a report of the gateway."""
    status = VERDICTS.get(said["verdict"])
    return 3 if status == 0 and said["complete"] != "1" else status


def check(ok, what):
    if not ok:
        failures.append(what)
        print("FAILED:", what, file=sys.stderr)
    return ok


def conclude(said):
    if failures:
        sys.exit(f"{len(failures)} failed")
    print(said)


class Command:
    """The command `deltawire`, whose output is the expected one."""

    def __init__(self, path):
        self.path = path
        self.known = {}

    def text(self, body):
        """Content and exit status."""
        if body not in self.known:
            ran = subprocess.run([self.path, "text"], input=body, capture_output=True)
            self.known[body] = (ran.stdout, ran.returncode)
        return self.known[body]


def cuts(body, times, seed):
    """Returns offsets to cut at, never at the ends."""
    rng = random.Random(seed)
    return sorted(rng.randrange(1, len(body)) for _ in range(times))
