"""What is true: exact patterns, rules and metrics. Nothing here is private."""
