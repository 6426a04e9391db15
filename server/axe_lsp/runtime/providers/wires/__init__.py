"""One wire format per module: from requests to bodies, from bodies and streams to answers. No I/O."""
