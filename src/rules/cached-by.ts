/** A function that makes one result for each source, which must not change, and keeps it as long as the source. */
export function cachedBy<Source extends object, Result extends {}>(
  make: (source: Source) => Result,
): (source: Source) => Result {
  const results = new WeakMap<Source, Result>();
  return (source) => {
    let result = results.get(source);
    if (result === undefined) {
      result = make(source);
      results.set(source, result);
    }
    return result;
  };
}
