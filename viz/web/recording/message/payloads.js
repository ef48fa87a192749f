// What a message says of recordings. viz/stage/payload/payloads.py has the same types under the same names.

/** @typedef {import("./types.js").KindCode} KindCode */

/**
 * A control (widgets are made of it by stage/frame/menus.js); its value stands in the address under its name.
 * @typedef {object} Field
 * @property {"switch" | "range" | "number" | "choice"} type
 * @property {string} name
 * @property {string} label
 * @property {any} value  of switches "0" or "1"
 * @property {string} [help]
 * @property {boolean} [enabled]
 * @property {string[][]} [options]  of a choice: codes and texts
 * @property {number} [low]
 * @property {number} [high]
 * @property {number} [step]
 * @property {string} [unit]
 */

/**
 * What is known of all heads of a kind before their weights are there.
 * @typedef {object} SummaryPayload
 * @property {Uint8Array[][][]} tiles  (layers, heads, rows, columns), 255 is a weight of 1
 * @property {number[][]} entropy  (layers, heads), in nats
 * @property {number[][]} largest  (layers, heads)
 * @property {number[][]} on_first  (layers, heads), the mean weight on the first key, of rows that may attend to several
 * @property {number[][]} telling  by head the row that is worth a sentence
 * @property {[number, number]} first  the head to open
 */

/**
 * The largest weight of every row of every head.
 * @typedef {object} PeaksPayload
 * @property {ArrayLike<number>[][]} keys  (layers, heads, queries)
 * @property {ArrayLike<number>[][]} values  the same, times `scale`
 */

/**
 * A kind of attention; its weights, or where they are fetched and what is known of them before.
 * @typedef {object} AttentionPayload
 * @property {KindCode} code
 * @property {number[]} shape  layers, heads, queries, keys
 * @property {number[]} layers  how the model numbers each layer, as edits and actions do
 * @property {number} scale  what weights were multiplied by
 * @property {any[] | null} mask  (queries, keys) or (layers, queries, keys), 1 = may attend; null: it is not known
 * @property {import("./types.js").Maps | null} effects  in logits
 * @property {Uint16Array[][][] | null} weights
 * @property {string} [address]
 * @property {boolean} [byHead]  heads are fetched each, at address/layer/head
 * @property {SummaryPayload} [summary]
 * @property {Record<string, Uint16Array[]>} [openHeads]  by "layer,head"
 * @property {PeaksPayload | null} [peaks]
 */

/**
 * What could have been written at every step.
 * @typedef {object} CandidatesPayload
 * @property {string[][]} tokens  the most probable first
 * @property {import("./types.js").Matrix} probabilities
 * @property {import("./types.js").Row} entropy  in nats
 */

/**
 * A recording (docs/recording.md).
 * @typedef {object} RecordingPayload
 * @property {string | null} text
 * @property {string[]} source_tokens
 * @property {string[]} target_tokens
 * @property {string[]} predicted_tokens
 * @property {AttentionPayload[]} kinds
 * @property {import("./types.js").Row | null} log_probabilities  in nats
 * @property {CandidatesPayload | null} candidates
 * @property {Record<string, import("./types.js").Matrix>} positions  by side
 * @property {Record<string, unknown>} model
 * @property {Partial<Record<import("./types.js").Side, ArrayLike<number>>>} [special]  by side, 1 = special
 */

/**
 * How Python makes `result`, a translation or a recording: lines, and the imports that they need.
 * @typedef {object} ProgramPayload
 * @property {string[]} imports
 * @property {string[]} lines
 */

/**
 * A row of a head.
 * @typedef {object} RowPlace
 * @property {KindCode} kind
 * @property {number} layer
 * @property {number} head
 * @property {number} row
 */

/**
 * What rotary positions do to the products of a row with S keys.
 * @typedef {object} RotationPayload
 * @property {import("./types.js").Row} plain  (S,) q·k before the rotation
 * @property {import("./types.js").Row[]} shares  (S, 3), of q·k after it: dimensions that turn by up to 45°, up to 180°,
 *   and further
 */

/**
 * One row of a head as it was recorded: S keys.
 * @typedef {object} InsidePayload
 * @property {RowPlace} place
 * @property {number} depth  of queries and keys, K
 * @property {number} divisor  of the products: √K in the paper
 * @property {number} cap  of the scores then, cap · tanh(score / cap); 0: none
 * @property {import("./types.js").Row | null} bias  (S,), added then: relative positions
 * @property {number | null} sink  score of a learned sink
 * @property {RotationPayload | null} rotation
 * @property {import("./types.js").Row} raw_scores  (S,) q·k
 * @property {ArrayLike<number>} mask  (S,) 1 = may attend
 * @property {import("./types.js").Row} weights  (S,) after the softmax
 * @property {import("./types.js").Row} sizes  (S,) of the values, |v|
 * @property {number} dropout  of weights in training
 * @property {ArrayLike<number>[] | null} draws  of each draw of dropout which weights it leaves, (draws, S)
 */

/**
 * A cell of a head: a query and a key.
 * @typedef {object} CellPlace
 * @property {KindCode} kind
 * @property {number} layer
 * @property {number} head
 * @property {number} row
 * @property {number} key
 */

/**
 * Why a query of a head looks where it looks: S scores as sums over A parts of the query and B parts of the key.
 * Everything is above the mean over the keys that the query may attend to, and 0 at the others. Each column of
 * `of_queries` and of `of_keys` sums to the score of its key, and `pairs` to that of the cell.
 * @typedef {object} WhyPayload
 * @property {CellPlace} place
 * @property {string[]} query_names  A: "tokens", "head 16.0", "cross head 1.2", "feed-forward 3", "bias", ...
 * @property {string[]} key_names  B; in cross-attention parts of the encoder
 * @property {import("./types.js").Row[]} of_queries  (A, S), what is asked for
 * @property {import("./types.js").Row[]} of_keys  (B, S), what stands at each key
 * @property {import("./types.js").Row[]} pairs  (A, B), of the cell
 * @property {import("./types.js").Row} scores  (S,)
 * @property {import("./types.js").Row} weights  (S,) after the softmax
 * @property {ArrayLike<number>} mask  (S,) 1 = may attend
 * @property {number} cap  of the scores, which are those before cap · tanh(score / cap); 0: none
 * @property {number} rest  the largest |sum - recorded score| of the head
 * @property {string[]} groups  G: "positions", "words", "earlier heads", "feed-forward", "bias", "distance", ...
 * @property {import("./types.js").Row[]} shares  (G, G), group of the query and of the key, of the variance of all scores
 *   of the head; sum 1
 */

/**
 * Why the scores of a head cannot be split, in a sentence.
 * @typedef {object} NoWhyPayload
 * @property {CellPlace} place
 * @property {string} reason
 */

/**
 * Words, and what is added to the logit of each, less the mean over the vocabulary; the largest change first.
 * @typedef {object} WordLogitsPayload
 * @property {string[]} tokens
 * @property {ArrayLike<number>} logits
 */

/**
 * What a head would write to a query if it looked at one key alone; times `weight` it is what it writes there.
 * @typedef {object} CellWordsPayload
 * @property {number} row
 * @property {number} key
 * @property {number} weight
 * @property {WordLogitsPayload} raised
 * @property {WordLogitsPayload} lowered
 */

/**
 * A head and what it looks at; the host chooses what is null, and without both these are all keys.
 * @typedef {object} WordsPlace
 * @property {KindCode} kind
 * @property {number} layer
 * @property {number} head
 * @property {number | null} row
 * @property {number | null} key
 */

/**
 * The words that a head writes: in one cell, or from each key at the query that looks most at it.
 * @typedef {object} WritesPayload
 * @property {WordsPlace} place
 * @property {CellWordsPayload[]} cells
 */

/**
 * Why a head writes no words, in a sentence.
 * @typedef {object} NoWritesPayload
 * @property {WordsPlace} place
 * @property {string} reason
 */

/**
 * What decides where each head looks in this text, by groups of parts.
 * @typedef {object} SharesPayload
 * @property {string[]} groups  G, as in WhyPayload
 * @property {Record<string, import("./types.js").Row[][][]>} shares  by kind (L, H, G, G), of each head as in WhyPayload
 */

/**
 * Why there are no direct effects, or no circuits, in a sentence.
 * @typedef {object} ReasonPayload
 * @property {string} reason
 */

/**
 * What numbers and axes of maps are called, where they are not attention weights of tokens on tokens.
 * @typedef {object} NamesPayload
 * @property {string} value
 * @property {string} rows
 * @property {string} columns
 */

/**
 * A recording, and what else the stage shows of it.
 * @typedef {object} VersionPayload
 * @property {RecordingPayload} recording
 * @property {NamesPayload} [names]
 * @property {string[]} notes
 * @property {Record<string, string[][]>} roles  of heads, by kind
 * @property {Record<string, string>} rules  by role the rule by which heads are given it
 * @property {Record<string, [number, number]>} first  the head to open, by kind
 * @property {boolean} rowwise  rows can be looked into
 * @property {SharesPayload | string | null} [shares]  or where they are fetched, packed
 * @property {boolean} [splits]  scores can be split into parts: the host answers what is asked about them
 * @property {string | null} [parts]  where those of a cell, or its words, by the query, are fetched, packed
 * @property {import("../pictures/circuit.js").CircuitAnswers | ReasonPayload | null} [circuit]  who uses whom
 * @property {boolean} predicts  the model has an output over words: without one nothing adds to a word or is worth one
 * @property {ProgramPayload | null} program
 * @property {Record<string, string>} code  programs that the browser does not write, by kind or view
 * @property {import("../pictures/effects_view.js").EffectsPayload | ReasonPayload | null} effects
 * @property {InsidePayload | null} inside
 * @property {WhyPayload | NoWhyPayload | null} [why]
 * @property {WritesPayload | NoWritesPayload | null} [writes]
 * @property {import("../pictures/next_words.js").NextPayload | null} next
 */

export {};
