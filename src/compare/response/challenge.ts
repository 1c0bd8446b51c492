import { headerOf } from "./headers.js";
import type { RedactedResponse } from "./redacted-response.js";

/** The `WWW-Authenticate` of a response: no challenge, one challenge in its parts, or another text, such as two challenges. */
type Challenge =
  | { readonly kind: "none" | "another_text" }
  | {
      readonly kind: "one";
      /** As the response writes it: `WWW-Authenticate`. */
      readonly headerName: string;
      readonly scheme: string;
      readonly parameters: readonly ChallengeParameter[];
    };

interface ChallengeParameter {
  readonly name: string;
  /** As the response writes it, for example with quotation marks. */
  readonly value: string;
}

/** `realm="api"`, or `max_age=60`. */
const nameAndValue = /([\w-]+) *= *("(?:[^"\\]|\\.)*"|[^\s",]+)/;
const parameterList = `${nameAndValue.source}(?: *, *${nameAndValue.source})*`;
/** `ApiKey`, or `ApiKey realm="api", error="invalid"`, but not two challenges, such as `Basic realm="a", ApiKey realm="b"`. */
const oneChallenge = new RegExp(`^([\\w-]+)(?: +${parameterList})?$`);

/** Takes the challenge of a response apart. */
export function readChallenge(response: RedactedResponse): Challenge {
  const header = response.headers.find(([name]) => name.toLowerCase() === "www-authenticate");
  if (header === undefined) return { kind: "none" };

  const [headerName] = header;
  const challenge = headerOf(response, "www-authenticate") ?? "";
  const scheme = oneChallenge.exec(challenge)?.[1];
  if (scheme === undefined) return { kind: "another_text" };

  const parameters: ChallengeParameter[] = [];
  for (const [, name = "", value = ""] of challenge
    .slice(scheme.length)
    .matchAll(new RegExp(nameAndValue, "g"))) {
    parameters.push({ name, value });
  }
  return { kind: "one", headerName, scheme, parameters };
}
