import type { Endpoint, Success } from "../api/endpoint.js";
import { jsonBody, textBody } from "../api/messages.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { encodePath } from "../spec/redact.js";
import { isMapping } from "../spec/schema/shape.js";
import { type Content, sampledBody } from "./contents.js";
import type { ApiDocument } from "./document.js";
import { keptIn, lazily, recentIn } from "./once.js";
import { checkName, contentAt, type Operation } from "./operations.js";
import { inputOf, inventedIn } from "./requests.js";
import { mostSamples, ofExamples, type Sampling } from "./sampler.js";
import type { Schemas } from "./schemas.js";
import { shapeOfSchema } from "./shapes.js";

const day = 86_400_000;

/** An operation as an endpoint. */
export function endpointOf(operation: Operation, document: ApiDocument, schemas: Schemas): Endpoint {
  const { method, path, id, at, responses, status, success: content } = operation;
  const made = new Map<Content, Map<string, Success>>();
  const sent = (from: Content, { seed, startedAt }: SandboxState, name?: string): Success => {
    // A sandbox that starts again on the same day has the same samples.
    const now = startedAt - (startedAt % day);
    const known = keptIn(made, from, () => new Map());
    const example = from.examples.has(name ?? "") ? name : undefined;
    const make = () => successIn(from, { seed, now }, example);
    return recentIn(known, `${seed} ${now} ${example ?? ""}`, make, mostSamples);
  };
  const lazy = {
    responseShape: () => shapeOfSchema(content.reader, content.schema),
    responseExample: () => sampledBody(content, ofExamples)?.value,
    invented: () => inventedIn(operation, document, schemas),
  };
  const { input, ask, rejections, unchecked } = inputOf(operation, document, schemas);
  const [scope = null, ...others] = scopesOf(operation, document);
  for (const what of [...unchecked, ...others.map((one) => `the scope ${one.slice(0, 60)}`)])
    document.notes.add("unchecked", id, `does not check ${what}`);
  const endpoint: Omit<Endpoint, keyof typeof lazy> = {
    ...{ method, path, operationId: id, input, rejections, scope },
    ...(status !== 200 && { status }),
    summary: typeof at.summary === "string" ? at.summary : `${method} ${path}`,
    description: typeof at.description === "string" ? at.description : "",
    responseName: `${id[0]?.toUpperCase()}${id.slice(1).replace(/\W(\w?)/g, (_, letter: string) => letter.toUpperCase())}Response`,
    responseType: content.type,
    documented: (wanted, world) => {
      const other = contentAt(responses, wanted);
      return other && sent(other, world);
    },
    requests: (_caller, { seed }) => [ask({ ...ofExamples, seed })],
    respond: (_caller, world, { prefer }) => {
      const from = content.others.find(({ type }) => type === prefer?.type) ?? content;
      return sent(from, world, prefer?.example ?? world.scenario.examples?.[id]);
    },
  };
  return lazily(endpoint, lazy);
}

function successIn(from: Content, sampling: Sampling, name?: string): Success {
  const { type, isJson } = from;
  if (type === "") return textBody("");
  const { value } = sampledBody(from, sampling, name) ?? { value: {} };
  const body = isJson ? jsonBody(value) : textBody(typeof value === "string" ? value : "");
  return { ...body, ...(type !== "application/json" && { type }) };
}

/** The scopes in `security`, or `x-required-scope`. A key needs the first one. */
function scopesOf({ at, place }: Operation, document: ApiDocument): string[] {
  const { security = document.root.security, "x-required-scope": own } = at;
  const needs = Array.isArray(security) ? security.filter(isMapping) : [];
  const scopes = needs.flatMap((one) => Object.values(one).flat());
  const all = [...new Set(scopes.length > 0 ? scopes : [own])].filter(
    (scope): scope is string => typeof scope === "string" && scope !== "",
  );
  for (const scope of all) checkName(document, scope, encodePath(scope) === scope, [...place, "security"]);
  return all;
}
