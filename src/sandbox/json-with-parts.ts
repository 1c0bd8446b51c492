/** The JSON of a mapping in parts. The member `name` is written from its own parts, whatever its value is. */
export function* jsonWithParts<Whole extends object>(
  mapping: Whole,
  name: keyof Whole & string,
  parts: Iterable<string>,
): Generator<string> {
  yield "{";
  let separator = "";
  for (const [member, value] of Object.entries(mapping)) {
    const isInParts = member === name;
    // JSON has no such member.
    if (value === undefined && !isInParts) continue;

    yield `${separator}${JSON.stringify(member)}:`;
    if (isInParts) yield* parts;
    else yield JSON.stringify(value);
    separator = ",";
  }
  yield "}";
}
