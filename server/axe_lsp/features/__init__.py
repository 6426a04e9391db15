"""What an editor can ask about agent files: f(snapshot, file, offset) -> result, in offsets.

Nothing here knows LSP, the disk or the runtime.
"""
