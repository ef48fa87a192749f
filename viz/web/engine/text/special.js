// Tokens that all vocabularies share; see model/text/special.py.

export const PAD_ID = 0;
export const BOS_ID = 1;
export const EOS_ID = 2;
export const UNK_ID = 3;
export const SPECIAL_TOKENS = ["<pad>", "<s>", "</s>", "<unk>"];
export const MARK = "\u2581"; // the space before a word, as in SentencePiece
