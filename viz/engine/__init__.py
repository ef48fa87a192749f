"""The engine in the browser: translates with a checkpoint's files and records all attention, without a server.

ES modules that know no page. translator.js is text in, answer out (answer.js says what is in it); below it are
tokenizer.js and transformer.js, below those attention.js, norm.js and feed_forward.js with the equations, and at the
bottom memory.js and the kernel (kernel.c, compiled by compile.py; plain.js where a browser has no SIMD). Around it:
worker.js runs it in a worker, and client.js talks to that from a page.

model/ is the reference for every number; tests/test_viz/test_engine holds both equal.
"""
