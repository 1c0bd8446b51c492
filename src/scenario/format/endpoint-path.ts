import { controlPath, mePath } from "../../rules/known-paths.js";
import * as s from "../../schema/shape.js";
import { needlesslyEncoded, pathPattern } from "./endpoint-path-pattern.js";

/** The path of an endpoint, with a hint for each mistake. */
export const endpointPath = s.text({
  noun: "the path of an endpoint",
  example: "/v1/relying-party/consents/{id}",
  pattern: pathPattern,
  max: 1000,
  hint: hintForPath,
});

/** What is wrong with a path that does not fit the pattern, and what to write; the first that applies. */
const pathMistakes: readonly (readonly [wrong: RegExp, hint: string])[] = [
  [/^(?!\/)/, "start it with /, without the address of the service"],
  [/[?#]/, "remove ? or # and what follows: an endpoint responds with any query"],
  [/\/\//, "write each / once"],
  [/\/(?:\.|%2e){1,2}(?:\/|$)/i, "write the path without . and .."],
  [new RegExp(`^${controlPath}(?:/|$)`), `the control plane has ${controlPath}`],
  [new RegExp(`^${mePath}$`), `${mePath} is built in and cannot be replaced`],
  [/[{}*$()]|\/:/, "a parameter is a whole segment, such as /consents/{id}"],
  [/.{1001}/, "write at most 1,000 characters"],
];

/** A segment that is a parameter in other tools: `:id`, `<int:id>`, `<id>`, `[id]` or `$id`. Its group is the name. */
const foreignParameter = /(?<=\/)[:<[$](?:\w+:)?([\w-]+)[>\]]?(?=\/|$)/g;

function hintForPath(path: string): string {
  const withBraces = path.replace(foreignParameter, "{$1}");
  if (withBraces !== path && pathPattern.test(withBraces)) return `write "${withBraces}"`;
  for (const [wrong, hint] of pathMistakes) {
    if (wrong.test(path)) return hint;
  }

  // Only the encoding is left: `%61`, or a character that needs one.
  const [encoded] = new RegExp(needlesslyEncoded).exec(path) ?? [];
  if (encoded !== undefined) return `write ${decodeURIComponent(encoded)} in place of ${encoded}`;
  return "encode a space as %20, a % as %25, and any other character too";
}
