"""Verbs: each method is one promise, kept in one transaction, the same for every surface."""
