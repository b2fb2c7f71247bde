"""A process that keeps the search of one store warm and answers the other processes of this person.

It listens on a local socket only: one line of JSON asks, one line answers, one connection each. Whoever asks
falls back to the cold way when nobody answers in time, so nothing depends on it.
"""
