// The lines of a text that may be no YAML.

export function isEmptyOrComment(line: string): boolean {
  return /^\s*(?:#|$)/.test(line);
}

/** How many spaces a line starts with. */
export function indentOf(line: string): number {
  return line.search(/[^ ]|$/);
}
