"""What a repetition does: draws a workload and builds, simulates or plans; figures come out."""
