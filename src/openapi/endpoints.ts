import type { Endpoint, Success } from "../api/endpoint.js";
import { jsonBody, textBody } from "../api/messages.js";
import { builtIn } from "../api/routes.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { encodePath } from "../spec/redact.js";
import { isMapping, type Shape } from "../spec/schema/shape.js";
import { listed } from "../spec/schema/words.js";
import { type Content, lazily, sampledBody } from "./contents.js";
import type { ApiDocument } from "./document.js";
import { checkName, contentAt, type Operation, successOf } from "./operations.js";
import { inputOf, inventedIn } from "./requests.js";
import { ofExamples, type Sampling } from "./sampler.js";
import type { Schemas } from "./schemas.js";
import { shapeOfSchema } from "./shapes.js";

const day = 86_400_000;

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
  const announced = builtIn
    .map((one) => one.announced)
    .find((one) => one !== undefined && at[one.extension] === true);
  const made = new Map<string, Success>();
  const bodyIn = (from: Content, sampling: Sampling, name?: string) => {
    if (from.type === "") return textBody("");
    const { value } = sampledBody(from, sampling, name) ?? { value: {} };
    if (from.isJson) return jsonBody(value);
    return textBody(typeof value === "string" ? value : "");
  };
  const sent = (from: Content, { seed, startedAt }: SandboxState, name?: string): Success => {
    // A sandbox that starts again on the same day has the same samples.
    const now = startedAt - (startedAt % day);
    const key = `${[...responses.values()].indexOf(from)} ${seed} ${now} ${name ?? ""}`;
    let success = made.get(key);
    if (success === undefined) {
      success = {
        ...bodyIn(from, { seed, now }, name),
        headers: from.headers,
        ...(!from.isJson && { type: from.type }),
      };
      made.set(key, success);
    }
    return success;
  };
  const shape = lazily((): Shape => shapeOfSchema(content.reader, content.schema));
  const example = lazily((): unknown => sampledBody(content, ofExamples)?.value);
  const { input, ask, refusals, unchecked } = inputOf(operation, document, schemas);
  const [scope = null, ...others] = scopesOf(operation, document);
  const all = [...unchecked, ...others.map((one) => `the scope ${one.slice(0, 60)}`)];
  if (all.length > 0) leftOut(`${id} does not check ${listed(all.slice(0, 5), "or")}.`);
  return {
    ...{ method, path, operationId: id, input, refusals, scope },
    ...(status !== 200 && { status }),
    ...(announced !== undefined && { announced }),
    summary: typeof at.summary === "string" ? at.summary : `${method} ${path}`,
    description: typeof at.description === "string" ? at.description : "",
    responseName: `${id[0]?.toUpperCase()}${id.slice(1).replace(/\W(\w?)/g, (_, letter: string) => letter.toUpperCase())}Response`,
    responseType: content.type,
    get invented() {
      return inventedIn(operation, document, schemas);
    },
    get responseShape() {
      return shape();
    },
    get responseExample() {
      return example();
    },
    documented: (wanted, world) => {
      const other = contentAt(responses, wanted);
      return other && sent(other, world);
    },
    requests: (_caller, { seed }) => [ask({ ...ofExamples, seed })],
    respond: (_caller, world) => sent(content, world, world.scenario.examples?.[id]),
  };
}

/** The scopes in `security`, or `x-required-scope`. A key needs the first one. */
function scopesOf({ at, place }: Operation, document: ApiDocument): string[] {
  const { security = document.root.security, "x-required-scope": own } = at;
  const scopes = (Array.isArray(security) ? security : []).flatMap((one) =>
    isMapping(one) ? Object.values(one).flat() : [],
  );
  const all = [...new Set(scopes.length > 0 ? scopes : [own])].filter(
    (scope): scope is string => typeof scope === "string" && scope !== "",
  );
  for (const scope of all) checkName(document, scope, encodePath(scope) === scope, [...place, "security"]);
  return all;
}
