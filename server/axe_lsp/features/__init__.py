"""Language features of agent files: f(snapshot, file, offset) -> result, in offsets.

Nothing here knows LSP, the disk or the runtime.
"""
