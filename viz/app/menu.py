"""The pages by group, as the menus at the top show them."""

from viz.text.language import message

# By group the file in viz/pages, which is the address, and the name of each page; the first one is the app's own.
MENU = {
    message("Explore"): {
        "translate": message("Translate"),
        "compare": message("Compare"),
        "models": message("Four systems"),
        "language_model": message("Language model"),
        "open_file": message("Your own model"),
    },
    message("Change"): {
        "steer": message("Steer"),
        "masks/masks": message("Masks"),
        "positions/positions": message("Positions"),
    },
    message("Learn"): {
        "lessons/lessons": message("Lessons"),
        "pitfalls/pitfalls": message("Pitfalls"),
        "training/training": message("Warm-up"),
    },
    message("Measure"): {"atlas/atlas": message("Head atlas"), "check": message("Self-check")},
}
