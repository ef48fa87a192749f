"""Compiles the kernel of the engine that translates in browsers; the engine itself is JavaScript, in viz/web/engine."""
