"""A table of further German-English corpora, one file each in more-de-en/, gathered from public sources.

None has a public original in this form: NAME.tsv.gz has a pair on each line, English, a tab, German, cleaned, without
repetitions, and without any sentence of a validation or test set of ours. Several hold published test sets, on which a
model trained with them must not be scored: Tatoeba's of 2020-2021, newstest2019 (ntrex), WMT21 to WMT24.
"""

from __future__ import annotations

# What may be done with a corpus, from the most to the least.
GROUPS = {
    "cc0": "no conditions",
    "by": "attribution",
    "perm": "permissive software licences and weak copyleft",
    "sa": "share alike",
    "gpl": "copyleft on the text; whether weights inherit it is not settled",
    "res": "published for research, without a licence file",
    "nc": "not for commercial use",
}
_GPL2 = "GPL-2 or later"

# Name: group, share seen in a pass (drawn again in each), licence, and where it comes from.
MORE: dict[str, tuple[str, float, str, str]] = {
    "xdailydialog": ("nc", 1.0, "CC BY-NC-SA 4.0", "XDailyDialog, everyday dialogues"),
    "bcontrast": ("sa", 0.7, "CC BY-SA 4.0", "Unbabel BConTrasT, customer chats"),
    "ding-examples": ("gpl", 1.0, _GPL2, "examples of the Ding dictionary, TU Chemnitz, trans-de-en 1.9"),
    "ding-dict": ("gpl", 0.15, _GPL2, "entries of the Ding dictionary, TU Chemnitz, trans-de-en 1.9"),
    "tatoeba-testsets-rest": ("by", 1.0, "CC BY 2.0 FR", "Tatoeba, test sets of the Tatoeba Challenge 2020-2021"),
    "tatoeba-2018-06-new": ("by", 1.0, "CC BY 2.0 FR", "Tatoeba through manythings.org, 2018-06"),
    "mlqe-pe": ("cc0", 1.0, "CC0 1.0", "MLQE-PE, Wikipedia sentences, post-edited"),
    "mt-geneval": ("sa", 0.7, "CC BY-SA 3.0", "MT-GenEval, Wikipedia sentences, Amazon"),
    "xquad": ("sa", 1.0, "CC BY-SA 4.0", "XQuAD, Google DeepMind"),
    "pud": ("sa", 1.0, "CC BY-SA 3.0", "Parallel Universal Dependencies, English and German"),
    "qald": ("by", 1.0, "CC BY 4.0", "QALD-9-plus, questions"),
    "ntrex": ("sa", 0.7, "CC BY-SA 4.0", "NTREX, newstest2019, Microsoft"),
    "wmt21-23": ("res", 0.5, "WMT data, research use", "WMT test sets of 2021-2023"),
    "wmt24": ("res", 0.5, "WMT data, research use", "WMT test set of 2024"),
    "cocoa-mt": ("sa", 0.5, "CDLA-Sharing-1.0", "CoCoA-MT, formal and informal speech, Amazon"),
    "woz": ("perm", 0.3, "Apache-2.0", "WOZ restaurant dialogues, Neural Belief Tracker"),
    "xsid": ("sa", 0.3, "CC BY-SA 4.0", "xSID, commands to voice assistants"),
    "stsb-mt": ("sa", 0.4, "CC BY-SA 4.0", "STSb Multi MT, translated by DeepL"),
    "games-l10n": ("gpl", 0.4, _GPL2, "Wesnoth, FreedroidRPG, Freeciv, Widelands, Warzone 2100 and others"),
    "games2-l10n": ("gpl", 0.3, "GPL-2 or GPL-3, CC BY-SA 3.0", "Naev, 0 A.D., FreeOrion, Unknown Horizons"),
    "shattered-pd": ("gpl", 0.3, "GPL-3", "Shattered Pixel Dungeon"),
    "fillets": ("gpl", 0.5, _GPL2, "Fish Fillets NG"),
    "libreoffice-help": ("perm", 0.15, "MPL-2.0", "LibreOffice 7.4 help"),
    "gnome-help": ("sa", 0.4, "CC BY 3.0, CC BY-SA 3.0", "GNOME user help"),
    "debian-handbook": ("gpl", 0.2, "GPL-2 or later, or CC BY-SA 3.0", "The Debian Administrator's Handbook"),
    "debian-docs": ("gpl", 0.15, _GPL2, "Debian FAQ, installation guide, Edu manual, developers reference"),
    "ui-messages": ("gpl", 0.07, "GPL-2, GPL-3 or LGPL of each program", "messages of 150 GNOME, KDE and GNU programs"),
    "edu-l10n": ("gpl", 0.3, _GPL2, "KStars, Kalzium, KGeography, GCompris and others"),
    "iso-names": ("perm", 0.2, "LGPL-2.1 or later", "iso-codes: names of countries, languages, currencies"),
    "osm-presets": ("perm", 0.2, "ISC", "OpenStreetMap id-tagging-schema"),
    "osm-website": ("gpl", 0.2, "GPL-2", "OpenStreetMap website"),
    "mozilla-www": ("perm", 0.3, "MPL-2.0", "mozilla.org, www-l10n"),
    "ms-business": ("by", 0.1, "CC BY 4.0", "Microsoft Dynamics 365 Business Central documentation"),
    "rust-book": ("perm", 0.3, "MIT or Apache-2.0", "The Rust Programming Language, rust-lang-de"),
    "tldr": ("by", 0.05, "CC BY 4.0", "tldr pages"),
    "gimp-help": ("sa", 0.1, "GFDL-1.2 or later", "GIMP manual"),
    "blender-manual": ("sa", 0.1, "CC BY-SA 4.0", "Blender manual"),
}
# Texts in one language, for back-translation: group and licence of NAME in back-NAME.
MONOLINGUAL: dict[str, tuple[str, str]] = {
    "thorsten": ("cc0", "CC0 1.0 (prompts of Thorsten-Voice)"),
    "wiki-cv": ("sa", "CC0 1.0, CC BY-SA (Common Voice, Wikipedia)"),
    "mimic": ("res", "not stated (prompts of Mimic Recording Studio)"),
}
