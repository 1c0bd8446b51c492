/** `undefined` for invalid JSON: the message of `JSON.parse` quotes the text, which may contain a key (R46). */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The most levels of a value from outside. Scenarios have up to seven. */
export const maxLevels = 64;

/** Whether a value from outside has more than `maxLevels` levels: functions that walk through a value use stack for each. */
export function isTooDeep(value: unknown, levels = maxLevels): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((member) => isTooDeep(member, levels - 1));
}

/** A JSON value as text, independent of the order of its members. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    const byName = Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(byName);
  });
}
