"""Speed, as ratios to what the machine can do, taken in one run."""
