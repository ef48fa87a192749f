"""The engine in the browser: translates with a checkpoint's files and records all attention, without a server.

ES modules that know no page. run/translator.js is text in, answer out (answer.js says what is in it); below it are
text/tokenizer.js, search/ and model/transformer.js, below that attention.js, norm.js and feed_forward.js with the
equations, and at the bottom arithmetic/memory.js and the kernel (kernel.c, compiled by compile.py; plain.js where a
browser has no SIMD). analysis/ changes a model and asks what made its answer. Around it: worker.js runs the engine in a
worker, and client.js talks to that from a page.

model/ is the reference for every number; tests/test_viz/test_engine holds both equal.
"""
