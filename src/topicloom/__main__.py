"""`python -m topicloom` is the `topicloom` command."""

from topicloom.cli.start import main

main()
