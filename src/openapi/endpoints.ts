import type { Endpoint, Success } from "../api/endpoint.js";
import { jsonBody, textBody } from "../api/messages.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Shape } from "../spec/schema/shape.js";
import { listed } from "../spec/schema/words.js";
import { type Content, lazily, sampledBody } from "./contents.js";
import type { ApiDocument } from "./document.js";
import { contentAt, type Operation, successOf } from "./operations.js";
import { inputOf } from "./requests.js";
import { expanded, type Schemas, shapeOfSchema } from "./schemas.js";

/** An operation as an endpoint; `leftOut` gets a note about what it does not check. */
export function endpointOf(
  operation: Operation,
  document: ApiDocument,
  schemas: Schemas,
  leftOut: (note: string) => void,
): Endpoint {
  const { method, path, id, at, responses } = operation;
  const status = successOf(responses) ?? 200;
  const content = contentAt(responses, status) as Content;
  const made = new Map<string, Success>();
  const bodyIn = (from: Content, seed: number, name?: string) => {
    if (from.type === "") return textBody("");
    const { value } = sampledBody(schemas, from, seed, name) ?? { value: {} };
    if (from.isJson) return jsonBody(value);
    return textBody(typeof value === "string" ? value : "");
  };
  const sent = (from: Content, seed: number, name?: string): Success => {
    const key = `${[...responses.values()].indexOf(from)} ${seed} ${name ?? ""}`;
    let success = made.get(key);
    if (success === undefined) {
      success = {
        ...bodyIn(from, seed, name),
        headers: from.headers,
        ...(!from.isJson && { type: from.type }),
      };
      made.set(key, success);
    }
    return success;
  };
  const shape = lazily(
    (): Shape =>
      content.schema === undefined ? { kind: "anything" } : shapeOfSchema(expanded(content.schema())),
  );
  const example = lazily((): unknown => sampledBody(schemas, content, 1)?.value);
  const { input, ask, refusals, unchecked } = inputOf(operation, document, schemas);
  const [scope = null, ...others] = scopesOf(at, document);
  const all = [...unchecked, ...others.map((one) => `the scope ${one.slice(0, 60)}`)];
  if (all.length > 0) leftOut(`${id} does not check ${listed(all.slice(0, 5), "or")}.`);
  return {
    ...{ method, path, operationId: id, input, refusals, scope },
    ...(status !== 200 && { status }),
    summary: typeof at.summary === "string" ? at.summary : `${method} ${path}`,
    description: typeof at.description === "string" ? at.description : "",
    responseName: `${id[0]?.toUpperCase()}${id.slice(1).replace(/\W(\w?)/g, (_, letter: string) => letter.toUpperCase())}Response`,
    get responseShape() {
      return shape();
    },
    get responseExample() {
      return example();
    },
    documented: (wanted: number, { seed }: SandboxState) => {
      const other = contentAt(responses, wanted);
      return other && sent(other, seed);
    },
    requests: (_caller, { seed }) => [ask(seed)],
    respond: (_caller, { seed, scenario }) => sent(content, seed, scenario.examples?.[id]),
  };
}

/** The scopes in `security`, or `x-required-scope`. A key needs the first one. */
function scopesOf({ security, "x-required-scope": own }: Members, { root }: ApiDocument): string[] {
  const given = security ?? root.security;
  const scopes = (Array.isArray(given) ? given : []).flatMap((one) =>
    isMapping(one) ? Object.values(one).flat() : [],
  );
  const all = scopes.length > 0 ? scopes : [own];
  return [...new Set(all)].filter((scope): scope is string => typeof scope === "string" && scope !== "");
}
