"""The app driven from outside, for benchmarks and tests: a server, a browser, its menus, visitors on a websocket."""
