import { controlBodies, requestQuery } from "../../scenario/format/control-bodies.js";
import { ref } from "../../scenario/format/fields.js";
import { descriptionOf } from "../../scenario/format/json-schema.js";
import { jsonSchemaOf } from "../../schema/json-schema.js";
import { count, described, fieldsOf, mapping, optional, type Shape, text } from "../../schema/shape.js";

/** A call of the control plane; the members of the input that are not in its path are its query or its body. */
interface Call {
  readonly method: string;
  readonly path: string;
  /** The member that is sent as YAML in place of the body. */
  readonly yaml?: string;
}

/** A tool of the MCP server. One without a call is of the sandbox's process. */
interface Tool {
  readonly description: string;
  readonly input: Shape;
  readonly call?: Call;
}

const fields = (name: keyof typeof controlBodies) => fieldsOf(controlBodies[name]) ?? {};
const keyRef = described(ref(), "The ref of the key.");
const yaml = () => text({ least: 1 });

/** The tools by their names. */
export const tools = {
  environment: {
    description:
      "The environment variables of your client and its tests: SVC_BASE_URL, SVC_API_KEY, a key for each ref in SVC_KEY_<REF>, and SVC_CONTROL_URL. Call it first, and again after scenario.",
    input: mapping({}),
  },
  explain: {
    description: "The checks of a request with a key, how it ends, why, and what to do. Sends nothing.",
    input: mapping({
      key: described(
        text({ least: 1 }),
        "A ref, none, malformed, unknown, or a full key, which is not shown.",
      ),
    }),
  },
  send: {
    description: "Sends one request to the API with the key of a ref. It is in requests, but not in report.",
    input: controlBodies.sending,
    call: { method: "POST", path: "/send" },
  },
  report: {
    description:
      "What your client has covered: missed paths with the keys to send, advice, and what to do next.",
    input: mapping({}),
    call: { method: "GET", path: "/report?format=brief" },
  },
  requests: {
    description: "The latest requests, oldest first: the key's ref, the status, the path id and the advice.",
    input: mapping({
      ...requestQuery.fields,
      limit: optional(described(count(), "At most this many. Default: 20.")),
    }),
    call: { method: "GET", path: "/requests?limit=20" },
  },
  advance: {
    description: "Moves the sandbox's clock on, such as past a limit or an overlap.",
    input: controlBodies.clock_advance,
    call: { method: "POST", path: "/clock/advance" },
  },
  rotate: {
    description:
      "Replaces an active key. Only this result shows the new key's secret, so keep it: send cannot.",
    input: mapping({ key: keyRef, ...fields("key_rotation") }),
    call: { method: "POST", path: "/keys/{key}/rotate" },
  },
  revoke: {
    description: "Revokes a key.",
    input: mapping({ key: keyRef }),
    call: { method: "POST", path: "/keys/{key}/revoke" },
  },
  organization: {
    description: "Changes an organization's status, sandbox access or live access.",
    input: mapping({
      organization: described(ref(), "The ref of the organization."),
      ...fields("organization_update"),
    }),
    call: { method: "PATCH", path: "/organizations/{organization}" },
  },
  faults: {
    description: "Replaces the active faults: delays, 5xx, resets, broken bodies. An empty list ends them.",
    input: controlBodies.faults_change,
    call: { method: "PUT", path: "/faults" },
  },
  scenario: {
    description:
      "Starts another scenario: a bundled name, or YAML. Its keys are others: call environment again.",
    input: mapping({
      name: optional(
        described(
          text({ least: 1 }),
          "A bundled scenario, such as bad-day, rotation or announced-endpoints.",
        ),
      ),
      yaml: optional(described(yaml(), "The text of a scenario file.")),
    }),
    call: { method: "PUT", path: "/scenario", yaml: "yaml" },
  },
  validate: {
    description: "Checks the YAML of a scenario without starting it: problems with line, column and hint.",
    input: mapping({ yaml: described(yaml(), "The text of a scenario file.") }),
    call: { method: "POST", path: "/scenario/validate", yaml: "yaml" },
  },
  reset: {
    description: "Starts the running scenario again: clock, keys, limits. The report continues.",
    input: mapping({}),
    call: { method: "POST", path: "/reset" },
  },
} satisfies Readonly<Record<string, Tool>>;

export type ToolName = keyof typeof tools;

/** The tools as a client lists them. */
export function listTools() {
  return Object.entries<Tool>(tools).map(([name, { description, input, call }]) => ({
    name,
    description,
    inputSchema: { type: "object" as const, ...jsonSchemaOf(input, descriptionOf) },
    annotations: { readOnlyHint: call === undefined || call.method === "GET" || name === "validate" },
  }));
}

/** The request for a call with this input, which fits the tool. */
export function requestOf({ method, path, yaml }: Call, input: Readonly<Record<string, unknown>>) {
  const rest = { ...input };
  const filled = path.replace(/\{(\w+)\}/, (_, name: string) => {
    delete rest[name];
    return String(input[name]);
  });
  if (method === "GET") {
    const url = new URL(filled, "http://control");
    for (const [name, value] of Object.entries(rest)) url.searchParams.set(name, String(value));
    return { method, path: url.pathname + url.search };
  }
  const text = yaml === undefined ? undefined : rest[yaml];
  const type = text === undefined ? "application/json" : "application/yaml";
  const body = text === undefined ? JSON.stringify(rest) : String(text);
  return { method, path: filled, body, headers: { "content-type": type } };
}
