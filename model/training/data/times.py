"""Times of day in English and German, and sentences whose time is replaced by another.

"Halb acht" is half past seven: half an hour before the hour that it names. Corpora hold a few hundred such sentences,
too few for twelve hours and four quarters, so those that there are are repeated with other times.
"""

import random
import re
from collections.abc import Iterable

Texts = tuple[str, str]

HOURS = {
    "en": "one two three four five six seven eight nine ten eleven twelve".split(),
    "de": "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(),
}
_HOUR = {language: "(?:" + "|".join([*words, "1[0-2]", "[1-9]"]) + ")" for language, words in HOURS.items()}
_PATTERNS = {
    "en": re.compile(
        rf"\b(?:(?:half|(?:a )?quarter)[ -](?:past|to|till|after|before|of) {_HOUR['en']}|1?[0-9]:[0-5][0-9]"
        rf"|{_HOUR['en']}[ -](?:thirty|fifteen|forty-five)|{_HOUR['en']} o'clock|(?<=\bat ){_HOUR['en']}(?=[.?!,]))"
        r"(?![ -]?(?:[ap]\.?m\b|o'clock|\w*teen))",
        re.IGNORECASE,
    ),
    "de": re.compile(
        rf"\b(?:halb {_HOUR['de']}|Viertel (?:nach|vor) {_HOUR['de']}|1?[0-9][.:][0-5][0-9] Uhr"
        rf"|(?:ein|{_HOUR['de']}) Uhr(?: dreißig| fünfzehn| fünfundvierzig| [0-5][0-9]\b)?)\b(?! Uhr)"
    ),
}


def write_time(hour: int, quarter: int) -> dict[str, list[str]]:
    """All ways in which the languages write a time, each language's own way first.

    Args:
        hour: from 1 to 12.
        quarter: the quarters after the full hour, from 0 to 3.

    Example:
        >>> write_time(7, 2)["de"]
        ['halb acht', '7:30 Uhr', 'sieben Uhr dreißig']
    """
    now, following = ({language: words[index % 12] for language, words in HOURS.items()} for index in (hour - 1, hour))
    whole_hour = "ein" if hour == 1 else now["de"]
    digits = f"{hour}:{15 * quarter:02}"
    match quarter:
        case 0:
            return {
                "en": [f"{now['en']} o'clock", now["en"]],
                "de": [f"{whole_hour} Uhr", f"{hour} Uhr"],
            }
        case 1:
            return {
                "en": [f"a quarter past {now['en']}", digits, f"{now['en']} fifteen"],
                "de": [f"Viertel nach {now['de']}", f"{digits} Uhr", f"{whole_hour} Uhr fünfzehn"],
            }
        case 2:
            return {
                "en": [f"half past {now['en']}", digits, f"{now['en']}-thirty"],
                "de": [f"halb {following['de']}", f"{digits} Uhr", f"{whole_hour} Uhr dreißig"],
            }
    return {
        "en": [f"a quarter to {following['en']}", digits, f"{now['en']} forty-five"],
        "de": [f"Viertel vor {following['de']}", f"{digits} Uhr", f"{whole_hour} Uhr fünfundvierzig"],
    }


def find_timed(texts: Iterable[Texts]) -> list[tuple[Texts, Texts]]:
    """Sentences with one time on either side: what stands before it and after it, in English and in German.

    Args:
        texts: pairs of a sentence in English and in German.

    Times with "p.m." and hours above twelve, which the languages write differently, are left out.
    """
    timed = []
    for english, german in texts:
        around_english = _PATTERNS["en"].split(english)
        around_german = _PATTERNS["de"].split(german) if len(around_english) == 2 else []
        if len(around_german) == 2:
            timed.append(((around_english[0], around_english[1]), (around_german[0], around_german[1])))
    return timed


def tell(timed: tuple[Texts, Texts], source: str, rng: random.Random) -> Texts:
    """A sentence of `find_timed` with a random time: written in any way in the source language, "en" or "de".

    The language's own way comes most often: "halb acht" is what has to be learned, "7:30 Uhr" is easy. The
    translation always has it, so that a model learns one of several right answers.
    """
    quarter = rng.choice([0, 1, 2, 2, 2, 3])  # half hours are what the languages count differently
    ways_by_language = write_time(rng.randint(1, 12), quarter)
    texts = []
    for (before, after), (language, ways) in zip(timed, ways_by_language.items(), strict=True):
        time = rng.choice([ways[0], ways[0], *ways]) if language == source else ways[0]
        if not before:
            time = time[0].upper() + time[1:]
        texts.append(before + time + after)
    return texts[0], texts[1]
