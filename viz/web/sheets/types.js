// What a sheet is: a page in the frame that all pages share, as data. sheet.js draws it.

/** @typedef {Record<string, string | null>} Parameters  of the address; null takes one out */
/** @typedef {[code: string, name: string][]} Options */

/**
 * What all controls have.
 * @typedef {object} Named
 * @property {string} key  the parameter of the address, and the name for tests
 * @property {string} label
 * @property {boolean} [written]  whether the label stands before the control; else only screen readers have it
 * @property {string} [help]  what a pointer is told
 */
/**
 * Words side by side; `clears` are parameters that another choice makes meaningless.
 * @typedef {Named & {type: "choice", options: Options, value: string, usual: string, clears?: string[]}} Choice
 */
/** @typedef {Named & {type: "select", options: Options, value: string, usual: string, clears?: string[]}} Select */
/** @typedef {Named & {type: "several", options: Options, value: string[], usual: string[], most?: number}} Several */
/**
 * One of some options in their order, or a number from `low` to `high`; `text` is the value as it is written.
 * @typedef {Named & {type: "slider", options?: Options, low?: number, high?: number, step?: number, value: string,
 *   usual: string, text: string}} Slider
 */
/**
 * `examples` are texts by name, in a menu with a label of its own.
 * @typedef {Named & {type: "text", value: string, usual: string, hint?: string,
 *   examples?: {label: string, options: [name: string, text: string][]}}} TextBox
 */
/** @typedef {Named & {type: "button", set: Parameters, disabled?: boolean}} Button  sets parameters */
/** @typedef {Named & {type: "link", href: string}} Link */
/** @typedef {{type: "note", key: string, label: string}} NoteControl  words in the row */
/** @typedef {Choice | Select | Several | Slider | TextBox | Button | Link | NoteControl} Control */

/**
 * What a part that can be clicked does: the code of a cell becomes the parameter `key`. With `most`, several codes are
 * chosen, joined by points: a click adds one in place of the oldest, or takes it out.
 * @typedef {object} CodeClick
 * @property {string} key
 * @property {string[][]} codes  by row and column
 * @property {string[]} [value]  codes that are chosen, where `most` is given
 * @property {number} [most]
 * @property {string} [usual]  the chosen codes that an address does not name
 */
/** @typedef {CodeClick | {sets: Parameters[][]}} Click  a code, or the parameters that a click on each cell sets */
/** @typedef {[least: number, below?: number, share?: number]} Fills  as high as the window: least pixels, those below it */

/**
 * Small pictures of which one is chosen; `tiles` as pages/tiles.js has them, `sets` the parameters that each sets, where
 * they are more than `key`.
 * @typedef {{type: "tiles", key: string, label: string, columns: number, tiles: import("../pages/tiles.js").Tile[],
 *   value: string, usual: string, small?: boolean, height?: number, fills?: boolean, scrolls?: boolean,
 *   sets?: Record<string, Parameters>}} Tiles
 */
/**
 * Numbers in coloured cells, with names of rows and columns.
 * @typedef {object} Board
 * @property {"board"} type
 * @property {string} label
 * @property {string} [title]
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string} corner  what stands at the names of columns
 * @property {ArrayLike<number>[]} values
 * @property {string[][]} [texts]  in the cells
 * @property {string[][]} names  of the cells, for who points at one
 * @property {[number, number]} range  where colours end
 * @property {string[]} ends  both numbers, as they are written
 * @property {boolean} [reversed]  whether small numbers are bright
 * @property {boolean} [signed]  whether colours say which numbers are above 0, which below
 * @property {[number, number][]} [selected]
 * @property {Click} [click]
 * @property {number} [highest]  pixels of a cell
 */
/**
 * A table of numbers as a picture: of attention, of an encoding, of a mask.
 * @typedef {object} Map
 * @property {string} [title]
 * @property {string} [mark]  beside the title, underlined in the colour of rings
 * @property {string} [small]  beside the title
 * @property {ArrayLike<number>[]} values  by row; NaN is drawn clear
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {(ArrayLike<number> | ArrayLike<boolean>)[]} [mask]  0 where a cell is blocked: it is drawn grey
 * @property {[number, number][]} [rings]  cells that stand out
 * @property {number[]} [marked]  rows that stand out, in the colours of lines
 * @property {[number, number]} [range]  where its colours end, if not where those of the others do
 * @property {string[][]} [texts]  what is said of each cell, where that is more than `cell` and `blocked` say
 * @property {Click} [click]
 * @property {string} [save]  its name for a host that can save it
 */
/**
 * Maps side by side, equally high.
 * @typedef {object} Maps
 * @property {"maps"} type
 * @property {string} label
 * @property {Map[]} maps
 * @property {"sequential" | "diverging" | "mask"} scale
 * @property {[number, number]} range  where colours end
 * @property {string[]} [ends]  both numbers, as they are written: then a bar of colours stands below
 * @property {string} rowAxis
 * @property {string} columnAxis
 * @property {string} cell  what is said of a cell: {row}, {column} and {value} are filled in
 * @property {string} [blocked]  what is said of a blocked cell, instead
 * @property {string} [number]  how values are written, as Python's format says; usually ".2f"
 * @property {number} [left]  pixels that names of rows take, at least
 * @property {number} [highest]  pixels of a cell
 * @property {Fills} [fills]
 * @property {number} [height]  pixels, where it does not fill
 */
/**
 * @typedef {object} Line
 * @property {string} name
 * @property {ArrayLike<number>} x
 * @property {ArrayLike<number>} y  NaN leaves a gap
 * @property {number} [colour]  which of the colours of lines; usually its place
 * @property {boolean} [dashed]
 * @property {[x: number, y: number, text: string]} [mark]
 */
/** @typedef {{title: string, lines: Line[], log?: boolean, limit?: [number, string], range?: [number, number]}} Panel */
/**
 * Curves, in panels above each other over one axis; they need no library.
 * @typedef {object} Curves
 * @property {"curves"} type
 * @property {string} label
 * @property {string} [title]
 * @property {Panel[]} panels
 * @property {string} xAxis
 * @property {boolean} [logX]
 * @property {number} [cursor]  an x that is marked
 * @property {{left: number, columns: number}} [under]  a map with so many columns, whose names of rows take so many pixels:
 *   each x from 0 on stands under its column
 * @property {string} [number]  how values are written, as Python's format says; usually ".3g"
 * @property {Fills} [fills]
 * @property {number} [height]  pixels, where it does not fill
 */
/**
 * A figure by Plotly. A click is one on its cells, or the number that a point has becomes the parameter `point`.
 * @typedef {{type: "figure", figure: import("../plot/plot.js").PlotMessage, click?: Click | {point: string}}} Figure
 */
/**
 * A film of a training; a head that is clicked is the parameter `key` as film-kind-layer-head-step, with those of `also`.
 * @typedef {{type: "film", message: import("../pages/film.js").FilmMessage, key: string, also: Parameters}} Film
 */
/** @typedef {{type: "table", label: string, head?: string[], rows: string[][], height?: number}} Table  scrolls if higher */
/** @typedef {{type: "note", text: string, code?: boolean, quoted?: string}} Note  plain text */
/** @typedef {{type: "title", text: string, small?: string}} Title */
/** @typedef {{type: "texts", label: string, texts: {name: string, text: string}[]}} Texts  side by side */
/**
 * @typedef {object} Share
 * @property {number} share
 * @property {string} colour
 * @property {string} ink  the colour of its label
 * @property {string} label  what stands in it
 * @property {string} about  what a pointer is told
 */
/**
 * Parts of a whole, as bars, each with its shares in words.
 * @typedef {{type: "shares", bars: {title: string, shares: Share[], words: string}[]}} Shares
 */
/**
 * A part of a text: between tokens, a key with its weight, or the query, which may be a key.
 * @typedef {string | [text: string, weight: number] | [text: string, weight: number | null, isQuery: 1]} Piece
 */
/**
 * Texts under each other, each with a link that opens it ("" where nothing does).
 * @typedef {{type: "rows", label: string, rows: {label: string, href: string, pieces: Piece[]}[]}} Rows
 */
/**
 * Shares of bins; `marks`: what is marked above each, "" nothing.
 * @typedef {{axis: string, value: string, bins: string[], shares: number[], marks?: string[], save?: string}} Histogram
 */
/** @typedef {{type: "histograms", histograms: Histogram[]}} Histograms  side by side */
/** @typedef {{type: "controls", key: string, controls: Control[], flows?: boolean}} ControlsPart  below, or beside each other */
/**
 * @typedef {(Tiles | Board | Maps | Curves | Figure | Film | Table | Note | Title | Texts | Shares | Rows
 *   | Histograms | ControlsPart) & {name?: string, save?: string}} Part  `name` tells two of one type on one side apart;
 *   `save` names its picture for a host that can save it
 */

/**
 * @typedef {object} Sheet
 * @property {{question?: Control[], left?: Control[], right?: Control[]}} controls  above, and above each side
 * @property {string} [question]  where the visitor types none
 * @property {string} [warning]
 * @property {string} answer  one sentence, computed from this very input
 * @property {string} below  a small one
 * @property {Part[]} left
 * @property {Part[]} right
 */

/**
 * What a maker computes with.
 * @typedef {object} Given
 * @property {any} told  what the page says in its language (viz/pages/NAME/contents.py); `words` are its sentences
 * @property {import("../recording/message/types.js").Say} say  one of these, by its name
 * @property {string} language
 * @property {(name: string, asked?: Record<string, string>) => Promise<any>} file  one of the page's files, unpacked;
 *   kept. The app also makes files that depend on what is asked
 * @property {(name: string) => Promise<Uint8Array>} bytes  one of its files as it is
 * @property {(error: unknown) => string} problemOf  what was wrong with the visitor's input, as a sentence; "" of faults
 * @property {(page: string, query: Record<string, string>) => string} link  the address of a page
 */
/**
 * @typedef {(reader: import("./reader.js").Reader, given: Given) => Promise<Sheet | null> | Sheet | null} Maker  reads the
 *   address; null where a newer one took its place
 */
/**
 * Who shows a sheet: the app, or a page without a server.
 * @typedef {object} Host
 * @property {() => Record<string, string>} read  parameters of the address
 * @property {(parameters: Parameters, isStep: boolean) => unknown} write  a step becomes an entry of the history
 * @property {(parameters: Record<string, string>) => Promise<Sheet | null> | Sheet} make  the sheet of an address; null
 *   where a newer one took its place
 * @property {(error: unknown) => string} problem  why there is no sheet
 * @property {string} waiting  what is said while one is computed
 * @property {import("../stage/main/message.js").Host["plotly"]} plotly
 * @property {Saving} [saving]  without it no picture has a menu
 */
/**
 * What a host keeps pictures as.
 * @typedef {object} Saving
 * @property {(picture: string) => Promise<Saved>} read
 * @property {(picture: string, format: string) => Promise<string>} file  a picture in another format
 * @property {(error: unknown) => string} problem
 * @property {{save: string, copy: string, about_code: string, waiting: string}} words
 */
/**
 * A picture that is kept.
 * @typedef {object} Saved
 * @property {string} text  what it shows
 * @property {string} code  the Python that makes it; "" where there is none
 * @property {import("../plot/pictures.js").PictureMessage} picture
 */

/**
 * What draws one part. It is given another one of its type as long as the page has it in this place.
 * @typedef {object} PartView
 * @property {HTMLElement} root
 * @property {(part: any) => unknown} show
 * @property {() => unknown} [fit]  draws again at the size that there is now, and in the colours of the page
 * @property {() => unknown} [leave]
 */

/** @typedef {{host: Host, change: (parameters: Parameters, isStep?: boolean) => unknown}} Context  of a part's view */

/** The code of a choice as the address has it: null for the usual one. @param {string} value @param {string} usual */
export const codeOf = (value, usual) => (value === usual ? null : value);

/**
 * The parameters that a click on a cell sets.
 * @param {Click} click
 * @param {number} row
 * @param {number} column
 * @returns {Parameters | null}  null where nothing is to be clicked
 */
export function clicked(click, row, column) {
  if ("sets" in click) return click.sets[row]?.[column] ?? null;
  const { key, codes, value = [], most, usual } = click;
  const code = codes[row]?.[column];
  if (!code) return null;
  if (!most) return { [key]: code };
  const chosen = toggled(value, code, most).join(".");
  return { [key]: chosen === usual ? null : chosen };
}

/**
 * Some codes with one more, in place of the first where there are too many; without it, if it was there.
 * @param {string[]} codes
 * @param {string} code
 * @param {number} [most]
 */
export function toggled(codes, code, most = Infinity) {
  const others = codes.filter((other) => other !== code);
  return others.length < codes.length ? others : [...others, code].slice(-most);
}
