/** A JSON value as text, the same text however its members were ordered and spaced. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(
      Object.entries(member).sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)),
    );
  });
}
