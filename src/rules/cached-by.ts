interface Results<Source, Result> {
  readonly get: (source: Source) => Result | undefined;
  readonly set: (source: Source, result: Result) => unknown;
}

type Make<Source, Rest extends readonly unknown[], Result> = (source: Source, ...rest: Rest) => Result;

/** A function that makes one result for each source, which must not change, and keeps it as long as the source. The rest must not matter. */
export function cachedBy<Source extends object, Rest extends readonly unknown[], Result extends {}>(
  make: Make<Source, Rest, Result>,
): Make<Source, Rest, Result> {
  return cachedIn(new WeakMap<Source, Result>(), make);
}

/** The same for names, of which there must be few: their results stay. */
export function cachedByName<
  Name extends string | number,
  Rest extends readonly unknown[],
  Result extends {},
>(make: Make<Name, Rest, Result>): Make<Name, Rest, Result> {
  return cachedIn(new Map<Name, Result>(), make);
}

function cachedIn<Source, Rest extends readonly unknown[], Result extends {}>(
  results: Results<Source, Result>,
  make: Make<Source, Rest, Result>,
): Make<Source, Rest, Result> {
  return (source, ...rest) => {
    let result = results.get(source);
    if (result === undefined) {
      result = make(source, ...rest);
      results.set(source, result);
    }
    return result;
  };
}
