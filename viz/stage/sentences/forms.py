"""What stands in place of other sentences where there is no source, with two traces, with patches, or with one text."""

from viz.text.language import messages

READING = messages(  # in place of the same where there is no source
    versions="Which answer",
    costs="Without it the log-probability of the old next word changes by {change} nats",
    target="Tokens of the text",
    written="“{token}” has probability {probability} here.",
    next_words_line="The most probable next words after every word of the text.",
    patching_head_encoder_self="head {head}",
    patching_head_decoder_self="head {head}",
    patching_chip_encoder="layer {layer}: “{token}”",
    patching_chip_decoder="layer {layer}: “{token}”",
    patching_chip_embedding_encoder="embedding: “{token}”",
    patching_chip_embedding_decoder="embedding: “{token}”",
    patching_kind_encoder_self="Heads",
    patching_kind_decoder_self="Heads",
    patching_side_encoder="Positions, after each layer",
    patching_side_decoder="Positions, after each layer",
    patching_sublayer_encoder="Positions, written by each layer",
    patching_sublayer_decoder="Positions, written by each layer",
)

COMPARING = messages(  # more of them, on the page Compare, where A stands before and B after
    versions="Tiles",
    before="A",
    after="B",
    minus="B minus A",
    unmatched="this token has no partner on the other side",
    lacks_kind="{name} has no attention of this kind.",
    lacks_head="{name} has no layer {layer}, head {head}.",
    no_difference="A and B have no kind of attention in common, so there is no difference.",
)

PATCHED = messages(  # where B stands before, and B with what A had after
    before="B",
    after="B′",
    minus="B′ minus B",
    b_minus_a="B′ minus B",
    versions="Tiles",
)
PATCHED_BACK = messages(  # the same the other way round: A, and A with what B had
    before="A",
    after="A′",
    minus="A′ minus A",
    b_minus_a="A′ minus A",
    versions="Tiles",
)

LIVE = messages(
    role="Role in this text: {role}",
    role_of_read="Role in this text, as seen from the word just read: {role}",
)
