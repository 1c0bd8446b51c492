// A text that a scenario is read from, and places in it.

/** The text of a scenario. */
export interface SourceText {
  readonly file: string | undefined;
  /** The text has no byte order mark, and each line ends with `\n` or `\r\n`. */
  readonly text: string;
  /** Finds the values of secrets. Missing for a text that is not valid YAML: the names in its lines show where secrets are. */
  readonly secrets?: () => readonly TextRange[];
}

export type TextRange = readonly [start: number, end: number];

/** A place in a text, which is described only if it is shown. */
export interface SourcePlace {
  readonly source: SourceText;
  readonly offset: number;
  /** Comes with the reader of the text, so that pages without the reader do not load it. */
  readonly describe: () => Place;
}

/** A place for people, as a problem shows it: `ScenarioProblem` describes its members. */
export interface Place {
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  readonly source?: string;
  readonly caret?: string;
}
