"""Puts Lamina into the hosts of this machine and takes it out again, to the byte."""
