/** A `Map` or a `WeakMap`. */
interface Results<Source, Result> {
  readonly get: (source: Source) => Result | undefined;
  readonly set: (source: Source, result: Result) => unknown;
}

/**
 * Makes a result from a source. `more` is what it needs besides; it is not part of what a result is looked up by, so it must
 * be the same, or have the same effect, with each call for a source.
 */
type Make<Source, More, Result> = (source: Source, more: More) => Result;

/** A function that makes one result for each source, which must not change, and keeps it as long as the source. */
export function cachedByObject<Source extends object, Result extends {}, More = void>(
  make: Make<Source, More, Result>,
): Make<Source, More, Result> {
  return cachedIn(new WeakMap<Source, Result>(), make);
}

/** A function that makes one result for each name. There must be few names: their results stay. */
export function cachedByName<Name extends string | number, Result extends {}, More = void>(
  make: Make<Name, More, Result>,
): Make<Name, More, Result> {
  return cachedIn(new Map<Name, Result>(), make);
}

function cachedIn<Source, Result extends {}, More>(
  results: Results<Source, Result>,
  make: Make<Source, More, Result>,
): Make<Source, More, Result> {
  // No rest parameters: they would make an array with each request.
  return (source, more) => {
    let result = results.get(source);
    if (result === undefined) {
      result = make(source, more);
      results.set(source, result);
    }
    return result;
  };
}
