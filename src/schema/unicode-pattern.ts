/**
 * A pattern with properties of Unicode, made when first used: for a literal, V8 loads their tables at each start. Its source
 * is an argument, since the minifier turns `new RegExp` with a constant into a literal.
 */
export function unicodePattern(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => (pattern ??= new RegExp(source, flags));
}
