"""What the tests stand on: finding a browser, starting the app, watching what a page does."""

import os

# Milliseconds until a wait for the browser gives up: a busy machine is not a failure.
PATIENCE = 1000 * int(os.environ.get("HEADLIGHT_PATIENCE", 120))
