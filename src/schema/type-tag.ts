// What kind of object a value is:
//
//                                 isPlainObject  isMapping
//   { a: 1 }, or no prototype     yes            yes
//   the module of an `import`     yes            yes
//   an instance of a class        no             yes
//   a `Date`, a `URL`, a list     no             no

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

/** Whether a value has fields: it is an object of any class, but none of the language's own, such as a `Date`. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && /^(?:Object|Module)$/.test(typeTag(value));
}
