"""The stage without a server: a folder of static files, or one HTML file, that translates in the browser.

contents.py collects what a page needs (sentences in every language, a recorded first picture, weights) and pages.py
writes it. What runs in the browser stands in viz/web/site: it asks the engine and gives the stage its messages.
"""
