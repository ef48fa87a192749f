"""The stage without a server: a folder of static files, or one HTML file, that translates in the browser.

In Python contents.py collects what a page needs (sentences in every language, a recorded first picture, weights) and
pages.py writes it; in JavaScript app.js asks the engine (viz/engine) and gives the stage (viz/stage) its messages.
view/ is what is shown, and its address; controls/ the rows above the stage; payload/ what the stage is sent.
"""
