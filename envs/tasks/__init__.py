"""Task streams: what happens to the memory, event by event."""
