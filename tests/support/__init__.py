"""What the tests stand on: finding a browser, starting the app, watching what a page does."""
