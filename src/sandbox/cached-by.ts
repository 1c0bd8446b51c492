/** A function that makes one result for each source, which must not change, and keeps it as long as the source. */
export function cachedByObject<Source extends object, Result extends {}>(
  make: (source: Source) => Result,
): (source: Source) => Result {
  return cachedIn(new WeakMap<Source, Result>(), make);
}

/** A function that makes one result for each name. There must be few names: their results stay. */
export function cachedByName<Name extends string | number, Result extends {}>(
  make: (name: Name) => Result,
): (name: Name) => Result {
  return cachedIn(new Map<Name, Result>(), make);
}

function cachedIn<Source, Result extends {}>(
  results: { get: (source: Source) => Result | undefined; set: (source: Source, result: Result) => unknown },
  make: (source: Source) => Result,
): (source: Source) => Result {
  return (source) => {
    let result = results.get(source);
    if (result === undefined) {
      result = make(source);
      results.set(source, result);
    }
    return result;
  };
}
