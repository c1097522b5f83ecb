"""Stores: everything that keeps a ledger, a snapshot log or an incident on some medium."""
