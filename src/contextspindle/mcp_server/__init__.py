"""The MCP surface: what agents' programs call instead of the command line.

A tool's call is read, one action is called, its result is shown as text within a bound.  Nothing is
decided here.  ``tools`` is the table of all tools; ``server`` answers the protocol, on the official
SDK; ``stdio`` and ``loopback`` carry it.
"""
