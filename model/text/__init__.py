"""Text to token ids and back. `special` has the ids that all share; `subwords` is what our Transformers use,
`words` what the recurrent and language models use, `pieces` what imported models bring along; `cleaning` prepares a
text for any of them.
"""
