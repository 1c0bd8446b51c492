import { headerOf } from "../response/headers.js";
import type { RedactedResponse } from "../response/redacted-response.js";

/** The challenge of a response: its scheme and parameters, if it can be taken apart. */
type Challenge =
  | { readonly kind: "none" | "as_one_text" }
  | {
      readonly kind: "with_parameters";
      /** As the response writes it: `WWW-Authenticate`. */
      readonly headerName: string;
      readonly scheme: string;
      readonly parameters: readonly ChallengeParameter[];
    };

interface ChallengeParameter {
  readonly name: string;
  readonly value: string;
}

/** `realm="api"`, or `max_age=60`. */
const parameter = /([\w-]+) *= *("(?:[^"\\]|\\.)*"|[^\s",]+)/;
/** `ApiKey realm="api", error="invalid"`, but not several challenges, such as `Basic realm="a", ApiKey realm="b"`. */
const oneChallenge = new RegExp(`^([\\w-]+) +(?:${parameter.source}(?: *, *${parameter.source})*)$`);

/** Takes the challenge of a response apart. */
export function splitChallenge(response: RedactedResponse): Challenge {
  const header = response.headers.find(([name]) => name.toLowerCase() === "www-authenticate");
  if (header === undefined) return { kind: "none" };

  const [headerName] = header;
  const challenge = headerOf(response, "www-authenticate") ?? "";
  const scheme = oneChallenge.exec(challenge)?.[1];
  if (scheme === undefined) return { kind: "as_one_text" };

  const parameters: ChallengeParameter[] = [];
  for (const [, name = "", value = ""] of challenge.matchAll(new RegExp(parameter, "g"))) {
    parameters.push({ name, value });
  }
  // A name that comes twice would be one place with two values.
  const names = new Set(parameters.map(({ name }) => name));
  if (names.size < parameters.length) return { kind: "as_one_text" };
  return { kind: "with_parameters", headerName, scheme, parameters };
}
