"""`topicloom content ...`: one file per command of content-based planning."""
