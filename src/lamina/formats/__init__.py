"""Pure text formats: text to frozen values and back. No I/O, no clock, no randomness."""
