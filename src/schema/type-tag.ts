/** What the language calls a value, also one of another realm: `Object`, `Date`, `URL`. */
export function typeTag(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Whether a value has fields: a `Date` and a `URL` have none. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && /^(?:Object|Module)$/.test(typeTag(value));
}
