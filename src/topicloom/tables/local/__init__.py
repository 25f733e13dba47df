"""Small tables of this machine, read in this process by the rules that hold on Spark."""
