// What is in a SentencePiece model file (.spm), which is a message of Protocol Buffers (sentencepiece_model.proto).

/**
 * @typedef {object} SentencePiece
 * @property {{text: string, score: number, type: number}[]} pieces
 * @property {number} algorithm UNIGRAM, or another number
 * @property {Uint8Array} charsmap what is written instead of characters; empty: nothing
 * @property {boolean} addsSpace in front of a text
 * @property {boolean} removesSpaces around a text, and all but one between words
 * @property {boolean} marksSpaces as MARK
 * @property {boolean} spellsBytes of characters that no piece has
 * @property {boolean} endsWords with the mark, which else begins them
 */

export const NORMAL = 1;
export const USER_DEFINED = 4;
export const UNIGRAM = 1;

/**
 * The fields of a message, each as often as it comes: [number, value], numbers as such and anything else as bytes.
 * @param {Uint8Array} bytes
 * @returns {Generator<[number, any]>}
 */
function* fieldsOf(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (!(byte & 128)) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const [field, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === 0) yield [field, varint()];
    else if (wire === 1 || wire === 5) {
      const size = wire === 1 ? 8 : 4;
      yield [field, bytes.subarray(at, (at += size))];
    } else if (wire === 2) {
      const size = varint();
      yield [field, bytes.subarray(at, (at += size))];
    } else throw new Error("the tokenizer holds no SentencePiece model");
  }
}

/** @param {Uint8Array} bytes */
export const textOf = (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** @param {Uint8Array} bytes of a float32 */
const floatOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true);

/** @param {Uint8Array} bytes */
function readPiece(bytes) {
  const piece = { text: "", score: 0, type: NORMAL };
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) piece.text = textOf(value);
    if (field === 2) piece.score = floatOf(value);
    if (field === 3) piece.type = value;
  }
  return piece;
}

/**
 * Reads a model file.
 * @param {Uint8Array} bytes
 * @returns {SentencePiece}
 */
export function readSentencePiece(bytes) {
  /** @type {SentencePiece} */
  const model = {
    pieces: [],
    algorithm: UNIGRAM,
    charsmap: new Uint8Array(),
    addsSpace: true,
    removesSpaces: true,
    marksSpaces: true,
    spellsBytes: false,
    endsWords: false,
  };
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) model.pieces.push(readPiece(value));
    if (field === 2)
      for (const [choice, setting] of fieldsOf(value)) {
        if (choice === 3) model.algorithm = setting;
        if (choice === 24) model.endsWords = Boolean(setting);
        if (choice === 35) model.spellsBytes = Boolean(setting);
      }
    if (field === 3)
      for (const [choice, setting] of fieldsOf(value)) {
        if (choice === 2) model.charsmap = setting;
        if (choice === 3) model.addsSpace = Boolean(setting);
        if (choice === 4) model.removesSpaces = Boolean(setting);
        if (choice === 5) model.marksSpaces = Boolean(setting);
      }
  }
  return model;
}
