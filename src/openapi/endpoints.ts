import type { Endpoint, EndpointInput, Success } from "../api/endpoint.js";
import { jsonBody, textBody } from "../api/messages.js";
import { memberIn, parsedJson } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping } from "../rules/schema/shape.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { decoded } from "../scenario/files.js";
import { type Content, sampledBody } from "./contents.js";
import { type ApiDocument, valueAt } from "./document.js";
import { keptIn, once, recentIn } from "./once.js";
import { contentAt, type Operation } from "./operations.js";
import { inputOf, inventedIn, noteUnchecked } from "./requests.js";
import { maxSamples, ofExamples, type Sampling } from "./sampler.js";
import type { Schemas } from "./schemas.js";
import { shapeOfSchema } from "./shapes.js";

const day = 86_400_000;

/** An operation as an endpoint. */
export function endpointOf(operation: Operation, document: ApiDocument, schemas: Schemas): Endpoint {
  const { method, path, id, at, responses, status, success: content } = operation;
  const successes = new Map<Content, Map<string, Success>>();
  const sampleOf = (from: Content, { seed, startedAt }: SandboxState, name?: string): Success => {
    // A sandbox that starts again on the same day has the same samples.
    const now = startedAt - (startedAt % day);
    const samples = keptIn(successes, from, () => new Map());
    const example = from.examples.has(name ?? "") ? name : undefined;
    const make = () => successIn(from, { seed, now }, example);
    return recentIn(samples, `${seed} ${now} ${example ?? ""}`, make, maxSamples);
  };
  const isSampled = content.type !== "" && content.examples.size === 0 && path.includes("{");
  // Few operations are asked for these.
  const shape = once(() => shapeOfSchema(content.reader, content.schema));
  const example = once(() => sampledBody(content, ofExamples)?.value);
  const invented = once(() => inventedIn(operation, document, schemas));
  const { input, ask, rejections } = inputOf(operation, document, schemas);
  const [scope = null, ...others] = scopesOf(operation, document);
  if (others.length > 0) noteUnchecked(document, id, "more than one scope", others.join(", "));
  return {
    method,
    path,
    operationId: id,
    input,
    rejections,
    scope,
    ...(status !== 200 && { status }),
    summary: typeof at.summary === "string" ? at.summary : `${method} ${path}`,
    description: typeof at.description === "string" ? at.description : "",
    responseName: `${id[0]?.toUpperCase()}${id.slice(1).replace(/\W(\w?)/g, (_, letter: string) => letter.toUpperCase())}Response`,
    responseType: content.type,
    get responseShape() {
      return shape();
    },
    get responseExample() {
      return example();
    },
    get invented() {
      return invented();
    },
    documented: (wanted, sandbox) => {
      const otherContent = contentAt(responses, wanted);
      return otherContent && sampleOf(otherContent, sandbox);
    },
    requests: (_caller, { seed }) => [ask({ ...ofExamples, seed })],
    respond: (_caller, sandbox, { prefer, params }) => {
      const success = sampleOf(content, sandbox, prefer?.example ?? sandbox.scenario.examples?.[id]);
      return isSampled ? withPathId(success, content, params) : success;
    },
  };
}

function successIn(from: Content, sampling: Sampling, name?: string): Success {
  const { headers, type } = from;
  if (type === "") return { ...textBody(""), headers };
  const { value } = sampledBody(from, sampling, name) ?? { value: {} };
  return { ...jsonBody(value), headers, ...(type !== "application/json" && { type }) };
}

/** A sampled response with the id of the path in place of its own, if that is valid. */
function withPathId(success: Success, { schema, reader }: Content, params: EndpointInput["params"]): Success {
  const [name, text] = Object.entries(params).at(-1) as [name: string, text: string];
  const body: unknown = parsedJson(success.text);
  const [place, holder] = isMapping(body) && isMapping(body.data) ? ["data", body.data] : ["", body];
  if (!isMapping(holder)) return success;
  const member = [name, ...(/id$/i.test(name) ? ["id"] : [])].find((one) => Object.hasOwn(holder, one));
  if (member === undefined) return success;
  const changed = { ...holder, [member]: typeof holder[member] === "number" ? Number(text) : decoded(text) };
  const value = place === "" ? changed : { ...(body as Members), [place]: changed };
  return reader.checkOf(schema)(value) === undefined ? { ...success, ...jsonBody(value) } : success;
}

/** The scopes in `security`, or `x-required-scope`. A key needs the first one. */
function scopesOf({ id, at }: Operation, { root, notes }: ApiDocument): string[] {
  const { security = root.security, "x-required-scope": own } = at;
  const needs = Array.isArray(security) ? security.filter(isMapping) : [];
  const schemes = valueAt(root, "#/components/securitySchemes");
  const unknown = needs.flatMap(Object.keys).filter((name) => memberIn(schemes, [name]) === undefined);
  if (unknown.length > 0) {
    const what = "a security scheme that the document does not have";
    notes.add("unchecked", id, `names ${what}`, `operations name ${what}`, unknown.join(", "));
  }
  const scopes = needs.flatMap((one) => Object.values(one).flat());
  return [...new Set(scopes.length > 0 ? scopes : [own])].filter(
    (scope): scope is string => typeof scope === "string" && scope !== "",
  );
}
