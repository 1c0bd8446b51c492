/** A `Map` or a `WeakMap`. */
interface Results<Source, Result> {
  readonly get: (source: Source) => Result | undefined;
  readonly set: (source: Source, result: Result) => unknown;
}

/**
 * Makes a result from a source. `context` is what it needs besides. A result is looked up by its source only, so the
 * context of each call for a source must have the same effect.
 */
type Make<Source, Context, Result> = (source: Source, context: Context) => Result;

/** A function that makes one result for each source, which must not change, and keeps it as long as the source. */
export function cachedByObject<Source extends object, Result extends {}, Context = void>(
  make: Make<Source, Context, Result>,
): Make<Source, Context, Result> {
  return cachedIn(new WeakMap<Source, Result>(), make);
}

/** A function that makes one result for each name. There must be few names: their results stay. */
export function cachedByName<Name extends string | number, Result extends {}, Context = void>(
  make: Make<Name, Context, Result>,
): Make<Name, Context, Result> {
  return cachedIn(new Map<Name, Result>(), make);
}

function cachedIn<Source, Result extends {}, Context>(
  results: Results<Source, Result>,
  make: Make<Source, Context, Result>,
): Make<Source, Context, Result> {
  // No rest parameters: they would make an array with each request.
  return (source, context) => {
    let result = results.get(source);
    if (result === undefined) {
      result = make(source, context);
      results.set(source, result);
    }
    return result;
  };
}
