"""Tables and figures of the papers, run again: our numbers beside the printed ones, each with a verdict."""
