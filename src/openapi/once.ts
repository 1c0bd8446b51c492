/** A function that makes its value at its first call. */
export function once<Value>(make: () => Value): () => Value {
  const result = new Map<"value", Value>();
  return () => keptIn(result, "value", make);
}

/** As `keptIn`, for the last few keys: a stranger may choose them. */
export function recentIn<Value>(all: Map<string, Value>, key: string, make: () => Value, max = 8): Value {
  const value = keptIn(all, key, make);
  const [oldest] = all.keys();
  if (all.size > max && oldest !== undefined) all.delete(oldest);
  return value;
}

/** The value of a key, which is made when it is first needed. */
export function keptIn<Key, Value>(
  all: Pick<Map<Key, Value>, "has" | "get"> & { set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  if (!all.has(key)) all.set(key, make());
  return all.get(key) as Value;
}
