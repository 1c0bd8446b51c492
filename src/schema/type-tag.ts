/** What the language calls a value, also one of another realm: `Object`, `Date`, `URL`. */
export function typeTag(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Whether a value is an object without a class. It may have no prototype, or that of another realm, such as a frame, a VM or a test runner. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether a value has fields, such as an object, an instance of a class or the module of an `import`: a `Date` and a `URL` have none. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && /^(?:Object|Module)$/.test(typeTag(value));
}
