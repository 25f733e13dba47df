"""Property tests on new random draws, round after round, until the time is up. `make fuzz` runs this.

    make fuzz                                    five minutes, a new seed for each round
    make fuzz BUDGET=60 TESTS=tests/content      one minute, some of the tests
    make fuzz SEED=17 TESTS="FILE::TEST"         one round with this seed: repeats a failure

Tests of Spark and of brokers are left out. Exit code 1 if a property failed; each failure is printed with
the command that repeats it.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import time

WHICH = "hypothesis and not spark and not needs"
FAILED = re.compile(r"^FAILED (\S+(?:\[.*?\])?)", re.MULTILINE)


def main() -> int:
    budget = float(os.environ.get("BUDGET") or 300)
    given, tests = os.environ.get("SEED"), (os.environ.get("TESTS") or "tests").split()
    until = time.monotonic() + budget
    rounds = 0
    while True:
        seed = int(given) if given else secrets.randbelow(2**32)
        print(f"round {rounds + 1}, seed {seed}", flush=True)
        output = run_round(seed, tests, None if given else until - time.monotonic())
        if output is None:
            break
        rounds += 1
        if failures := FAILED.findall(output):
            print(output)
            for test in failures:
                print(f'repeat it with: make fuzz SEED={seed} TESTS="{test}"')
            return 1
        if given or time.monotonic() >= until:
            break
    print(f"{rounds} whole rounds, no failure")
    return 0


def run_round(seed: int, tests: list[str], seconds: float | None) -> str | None:
    """What pytest printed; None if the time was up before a test failed."""
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", "-rf", "-x", "--tb=short"]
    process = subprocess.Popen(
        [*command, "-p", "no:cacheprovider", f"--hypothesis-seed={seed}", "-m", WHICH, *tests],
        env=os.environ | {"HYPOTHESIS_PROFILE": "fuzz"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # pytest still prints the failures it has seen
        output, _ = process.communicate()
        return output if FAILED.search(output) else None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if process.returncode not in (0, 1):
        sys.exit(output)
    return output


if __name__ == "__main__":
    sys.exit(main())
