"""Speed and memory, one file per capability; never part of the test run."""
