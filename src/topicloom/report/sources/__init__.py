"""What a report is about, read from folders that topicloom wrote."""
