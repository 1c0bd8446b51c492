/** A step of a path in YAML: a key, or an item of a list. */
export type Step = string | typeof item;

/** Any item of a list. */
export const item = Symbol("item");

/** A place of typing in a YAML text. */
export interface YamlPlace {
  /** The path to the mapping of the typed key, or to the typed value. */
  readonly path: readonly Step[];
  /** The offset where the typed word starts. */
  readonly from: number;
  readonly writes: "key" | "value";
  /** The keys in the same mapping. */
  readonly siblings: readonly string[];
  /** Whether it is inside `{…}` or `[…]`. */
  readonly isFlow: boolean;
}

interface Level {
  /** The column of a key or of a dash. */
  readonly column: number;
  readonly step: Step;
}

/** A mapping or list in braces or brackets. `key` is the key of the current value. */
interface Flow {
  readonly isMap: boolean;
  key: string | undefined;
  readonly keys: string[];
  /** The offset where the current key or value starts. */
  from: number;
}

/** The state of reading a text line by line. */
interface Reading {
  levels: Level[];
  flows: Flow[];
  /** A block scalar's text has a larger indent than this. */
  scalarBelow: number | undefined;
}

const keyPattern =
  /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s"'{}[\],#&*!|>%@`][^{}[\],#]*?))\s*:(?=\s|$)/;

/** The place at an offset of a YAML text; `undefined` inside a comment or a block scalar. */
export function placeAt(text: string, offset: number): YamlPlace | undefined {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const reading = readLines(text.slice(0, start));
  const line = text.slice(start, offset);
  if (reading.flows.length === 0) {
    const indent = indentOf(line);
    if (reading.scalarBelow !== undefined && (indent > reading.scalarBelow || line.trim() === ""))
      return undefined;
    return blockPlace(text, start, line, reading);
  }
  readFlow(line, start, reading.flows);
  return flowPlace(reading, offset, text);
}

/** The paths of all keys in a YAML text, in the text's order. */
export function keysOf(text: string): readonly (readonly Step[])[] {
  const found: (readonly Step[])[] = [];
  readLines(text, (path) => found.push(path));
  return found;
}

function readLines(text: string, onKey?: (path: readonly Step[]) => void): Reading {
  const reading: Reading = { levels: [], flows: [], scalarBelow: undefined };
  let start = 0;
  for (const line of text.split("\n")) {
    readLine(line, start, reading, onKey);
    start += line.length + 1;
  }
  return reading;
}

function readLine(
  line: string,
  start: number,
  reading: Reading,
  onKey?: (path: readonly Step[]) => void,
): void {
  const { flows } = reading;
  const report =
    onKey && ((keys: readonly Step[]) => onKey([...reading.levels.map(({ step }) => step), ...keys]));
  if (flows.length > 0) {
    readFlow(line, start, flows, report);
    return;
  }
  const indent = indentOf(line);
  if (line.trim() === "" || (reading.scalarBelow !== undefined && indent > reading.scalarBelow)) return;
  reading.scalarBelow = undefined;
  if (line[indent] === "#" || (indent === 0 && line.startsWith("---"))) return;
  const { column, rest } = enter(line, reading);
  const key = keyPattern.exec(rest);
  const value = key === null ? rest : rest.slice(key[0].length).trimStart();
  if (key !== null) {
    reading.levels = [
      ...reading.levels.filter((level) => level.column < column),
      { column, step: nameIn(key) },
    ];
    report?.([]);
  }
  if (/^[|>]/.test(value)) reading.scalarBelow = key === null ? column - 1 : column;
  else if (/^[{[]/.test(value)) readFlow(value, start + line.length - value.length, flows, report);
}

/** Skips the dashes of a line; returns the rest and its column. */
function enter(line: string, reading: Reading): { column: number; rest: string } {
  let column = indentOf(line);
  let rest = line.slice(column);
  reading.levels = reading.levels.filter(
    (level) =>
      level.column < column || (level.column === column && rest.startsWith("-") && level.step !== item),
  );
  for (let dash = /^-(?:\s+|$)/.exec(rest); dash !== null; dash = /^-(?:\s+|$)/.exec(rest)) {
    reading.levels = [...reading.levels, { column, step: item }];
    column += dash[0].length;
    rest = rest.slice(dash[0].length);
  }
  return { column, rest };
}

function readFlow(
  text: string,
  start: number,
  flows: Flow[],
  report?: (keys: readonly Step[]) => void,
): void {
  let position = 0;
  while (position < text.length) {
    const character = text[position] as string;
    const isComment = character === "#" && /^\s?$/.test(text[position - 1] ?? "");
    if (isComment || (flows.length === 0 && !/[{[]/.test(character))) return;
    const length = readToken(text, position, start, flows);
    if (flows.at(-1)?.from === start + position + length && text[position + length - 1] === ":") {
      report?.(stepsOf(flows));
    }
    position += length;
  }
}

/** Reads a bracket, a comma, a key with its colon, or part of another text; returns its length. */
function readToken(text: string, position: number, start: number, flows: Flow[]): number {
  const character = text[position] as string;
  const flow = flows.at(-1);
  const from = start + position + 1;
  if (/[{[]/.test(character)) {
    flows.push({ isMap: character === "{", key: undefined, keys: [], from });
  } else if (/[}\]]/.test(character)) {
    flows.pop();
  } else if (flow !== undefined && character === ",") {
    Object.assign(flow, { key: undefined, from });
  } else if (flow !== undefined && character !== " ") {
    const key = flow.isMap && flow.key === undefined ? keyPattern.exec(text.slice(position)) : null;
    if (key === null) return wordLength(text, position);
    flow.key = nameIn(key);
    flow.keys.push(flow.key);
    flow.from = start + position + key[0].length;
    return key[0].length;
  }
  return 1;
}

// The length of a quoted text with its quotes, or of one character.
function wordLength(text: string, position: number): number {
  const quoted = /^(?:"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)/.exec(text.slice(position, position + 10_000));
  return quoted?.[0].length ?? 1;
}

function stepsOf(flows: readonly Flow[]): Step[] {
  return flows.flatMap(({ isMap, key }): Step[] => {
    if (!isMap) return [item];
    return key === undefined ? [] : [key];
  });
}

function flowPlace({ levels, flows }: Reading, offset: number, text: string): YamlPlace | undefined {
  const path: Step[] = [...levels.map(({ step }) => step), ...stepsOf(flows)];
  const last = flows.at(-1);
  // No text can follow the last bracket.
  if (last === undefined) return undefined;
  const written = text.slice(last.from, offset);
  if (/#/.test(written)) return undefined;
  const from = offset - written.trimStart().length;
  const isKey = last.isMap && last.key === undefined;
  return { path, from, writes: isKey ? "key" : "value", siblings: isKey ? last.keys : [], isFlow: true };
}

function blockPlace(text: string, start: number, line: string, reading: Reading): YamlPlace | undefined {
  if (/(?:^|\s)#/.test(line)) return undefined;
  const { column, rest } = enter(line, reading);
  const key = keyPattern.exec(rest);
  const isOnlyIndent = rest === "";
  // The column of a new line shows which mappings it ends.
  const levels = reading.levels.filter(
    (level) => level.column < column || (level.step === item && level.column < Math.max(column, 1)),
  );
  const path = levels.map(({ step }) => step);
  if (key === null) {
    const siblings = isOnlyIndent || /^\S*$/.test(rest) ? siblingsAt(text, start, line, column) : [];
    return { path, from: start + line.length - rest.length, writes: "key", siblings, isFlow: false };
  }
  const value = rest.slice(key[0].length);
  const valueStart = start + line.length - value.length;
  const valuePath = [...path, nameIn(key)];
  if (/^\s*[{[]/.test(value)) {
    const flowStart = valueStart + value.length - value.trimStart().length;
    const flows: Flow[] = [];
    readFlow(text.slice(flowStart, start + line.length), flowStart, flows);
    const inFlow: Reading = {
      levels: [...levels, { column, step: nameIn(key) }],
      flows,
      scalarBelow: undefined,
    };
    return flowPlace(inFlow, start + line.length, text);
  }
  if (!/^\s/.test(value)) return undefined;
  const from = start + line.length - value.trimStart().length;
  return { path: valuePath, from, writes: "value", siblings: [], isFlow: false };
}

/** The keys in a line's column, above and below it, within its mapping. */
function siblingsAt(text: string, start: number, line: string, column: number): string[] {
  const above = /^\s*-/.test(line)
    ? []
    : text
        .slice(0, Math.max(0, start - 1))
        .split("\n")
        .reverse();
  const end = text.indexOf("\n", start);
  const below = end === -1 ? [] : text.slice(end + 1).split("\n");
  return [...keysInColumn(above, column, true), ...keysInColumn(below, column, false)];
}

/** The keys in a column, until the mapping ends. Upward that is the first key after a dash, downward the next dash. */
function keysInColumn(lines: readonly string[], column: number, isUpward: boolean): string[] {
  const keys: string[] = [];
  for (const line of lines) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const lead = /^\s*(?:-\s+)*/.exec(line)?.[0] ?? "";
    const startsItem = lead.includes("-") && indentOf(line) < column;
    if (lead.length < column || (startsItem && !isUpward)) break;
    const key = keyPattern.exec(line.slice(lead.length));
    if (lead.length === column && key !== null) keys.push(nameIn(key));
    if (startsItem) break;
  }
  return keys;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function nameIn(key: RegExpExecArray): string {
  return key[1] ?? key[2] ?? key[3] ?? "";
}
