import { apiOutcomes, isSuccess, mePath, successStatuses } from "../../rules/outcomes.js";
import { controlPath } from "../../rules/request-path.js";
import * as s from "../../rules/schema/shape.js";
import { scope } from "./fields.js";

/** The operation id of `/me`, and the names of its successes: another endpoint would cover them. */
const namesOfMe = ["getRelyingPartyContext", ...apiOutcomes.filter(isSuccess).map((id) => id.slice(4))];

const operationId = s.text({
  noun: "the operation id of an endpoint",
  example: "listConsents",
  pattern: new RegExp(`^(?!(?:${namesOfMe.join("|")})$)[A-Za-z][A-Za-z0-9_-]{0,63}$`),
  hint: (name) =>
    namesOfMe.includes(name)
      ? `${name} belongs to ${mePath}: choose another name`
      : "start with a letter, then write at most 63 letters, digits, _ and -",
});

// What clients send unchanged (RFC 3986), without the parameters of other tools.
const fixedSegment = String.raw`(?!:|(?:\.|%2[eE]){1,2}(?:/|$))(?:[\w.~!&'+,;=@:-]|%[\dA-Fa-f]{2})+`;
const taken = `(?:${controlPath}(?:/|$)|${mePath}$)`;
const pathPattern = new RegExp(String.raw`^(?!${taken})(?=/)(?:/(?:\{[\w-]+\}|${fixedSegment}))*/?$`);

/** What is wrong with the path of an endpoint, and what to write; the first that applies. */
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

/** The parameters of other tools, such as `:id` and `<int:id>`, as ours. */
const withParameters = (path: string) =>
  path.replace(/(?<=\/)[:<[$](?:\w+:)?([\w-]+)[>\]]?(?=\/|$)/g, "{$1}");

const endpointPath = s.text({
  noun: "the path of an endpoint",
  example: "/v1/relying-party/consents/{id}",
  pattern: pathPattern,
  max: 1000,
  hint(path) {
    const meant = withParameters(path);
    if (meant !== path && pathPattern.test(meant)) return `write ${meant}`;
    const [, hint] = pathMistakes.find(([wrong]) => wrong.test(path)) ?? [];
    return hint ?? "encode a space as %20, a % as %25, and any other character too";
  },
});

const endpointFields = s.mapping({
  method: s.optional(s.choice(["GET", "POST", "PUT", "PATCH", "DELETE"])),
  path: endpointPath,
  scope: s.optional(s.orNull(scope())),
  status: s.optional(s.choice(successStatuses)),
  body: s.optional(s.anything()),
});

export const endpointsSchema = s.record(s.orNull(endpointFields), operationId);
