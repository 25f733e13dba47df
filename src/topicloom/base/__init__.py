"""What everything stands on: arrays, seeds, progress, parameters, registries, summaries. Knows no product."""
