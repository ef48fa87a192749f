"""What the reader sees.

Arrays become figures (`figures`), what is shown is one value (`views`), the stage (`stage`) and other figures (`ui`)
are drawn in the browser by the JavaScript in `web`, `pages` choose, show and explain, `app` is the frame around them,
`text` what is said, `export` what leaves as a file.
"""
