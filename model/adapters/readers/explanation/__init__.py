"""Why a model of transformers did what it did.

`direct_path` and `effects` say what wrote a word, `lens` what would have been written earlier, `removal` what is lost
without a head or a token, `score_parts` why a head looks where it looks, `cut_paths` what it does without one of these
parts, and `rotation` what rotary positions turn.
"""
