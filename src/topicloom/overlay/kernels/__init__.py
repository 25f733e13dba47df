"""Inner loops of builders, measures, workloads and the judge."""
