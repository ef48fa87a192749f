"""How a row of a head is computed."""

from viz.text.language import messages

ROW = messages(
    products="q·k",
    rotated="rotated",
    scaled="÷ √d",
    divided="÷ {divisor:.3g}",
    capped="capped at ±{cap:g}",
    biased="+ position bias",
    not_scaled="not scaled",
    scaled_by="{scaling} ÷ {temperature:.1f}",
    masked="masked",
    softmax="softmax",
    weighted_values="weight × |value|",
    row_line=(
        "“{query}”: largest weight {weight:.2f} on “{key}” · entropy {entropy:.2f} nats · gradient of the softmax "
        "{gradient:.3f}."
    ),
    row_recorded="As recorded: largest weight {weight:.2f}, entropy {entropy:.2f}, gradient {gradient:.3f}.",
    row_sink="A learned sink takes {weight:.2f} of the softmax, which no key gets.",
    row_rotation=(
        "“{key}” is {distance} tokens away: q·k is {turned:.2f} after the rotation, {plain:.2f} before it. Dimensions "
        "that turn by up to 45° over this distance add {near:+.2f}, up to 180° {half:+.2f}, further {far:+.2f}."
    ),
    row_empty="“{query}” may attend to nothing here: all its weights are 0.",
    no_scaling="No scaling",
    about_no_scaling="Leaves out the division by √d, so rows with one large weight become more peaked.",
    no_mask="No mask",
    about_no_mask="Softmax over all keys, including those that the model may not attend to here.",
    about_temperature_of_row=(
        "Divides the scores: above 1 the row gets flatter, below 1 more peaked. The model has 1."
    ),
    dropout="Dropout",
    about_dropout=("In training, every weight is set to 0 with probability {p:.2f}, and the others are scaled up."),
    sample="Sample",
)
