import { type Readable, Writable } from "node:stream";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { apiKeyFor, explain } from "../../api/explain-key.js";
import { endpointsOf, withEndpoints } from "../../api/routes.js";
import { controlPath } from "../../node/addresses.js";
import { type ClientAddresses, clientEnvironment } from "../../node/client-variables.js";
import { isNoResponse, sendOnce } from "../../node/clients/send-once.js";
import { version } from "../../node/package-files.js";
import { settled } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { ref } from "../../scenario/format/fields.js";
import { controlBodies } from "../../scenario/format/inputs.js";
import { descriptionOf } from "../../scenario/format/json-schema.js";
import { members } from "../../scenario/format/steps.js";
import { SandboxError } from "../../spec/errors.js";
import { checkValue } from "../../spec/schema/check.js";
import { jsonSchemaOf } from "../../spec/schema/json-schema.js";
import { always, described, fieldsOf, mapping, optional, shapeOf, text } from "../../spec/schema/shape.js";
import { didYouMean, quote } from "../../spec/schema/words.js";
import { actionNames, actionRow } from "../../spec/steps.js";
import { withoutHints } from "./openapi.js";
import { controlErrorOf, HttpRejection } from "./rejections.js";
import { type LocalContext, parseJson, type Route, textOf } from "./route.js";

type Input = Readonly<Record<string, unknown>>;

const actionsOnRefs = actionNames.filter((name) => actionRow(name).route?.[0].includes("{ref}"));

/** The tools that call the control plane, with its descriptions unless they have their own. */
const calls: Readonly<Record<string, readonly [route: string, description?: string]>> = {
  send: ["POST /send"],
  report: [
    "GET /report",
    "Your client's coverage: paths that are not covered, with the keys to send, advice, and the next step",
  ],
  requests: ["GET /requests", "The latest requests, oldest first; default limit: 20"],
  expect: ["GET /expect"],
  advance: ["POST /clock/advance"],
  ...Object.fromEntries(actionsOnRefs.map((name) => [name, actionRow(name).route?.slice(0, 1)])),
  faults: ["PUT /faults"],
  scenario: [
    "PUT /scenario",
    "Starts another scenario, by name or YAML. Then call environment again for its keys",
  ],
  validate: ["POST /scenario/validate", "Checks the YAML of a scenario without starting it"],
  reset: ["POST /reset"],
};

const inPathOf = ({ path }: Route) => /^\/(key|organization)s\/\{ref\}/.exec(path)?.[1] ?? "";
const word = (description: string) => described(text({ least: 1 }), description);
const own = {
  environment: {
    description:
      "The variables for your client and its tests: SVC_BASE_URL, SVC_API_KEY, SVC_KEY_<REF> and SVC_CONTROL_URL",
    input: mapping({}),
  },
  explain: {
    description: "The checks of a request with a key, its outcome, the reason and the fix; sends nothing",
    input: mapping({ key: word("A ref, none, malformed, unknown, or a full key, which is not shown.") }),
  },
  records: {
    description:
      "The collections of documented endpoints; with a collection its records; with add, set or remove a change",
    input: mapping({
      collection: optional(described(ref(), "Default: lists the collections.")),
      id: optional(word("The record to change or remove.")),
      set: optional(described(members(), "Its new members.")),
      add: optional(described(members(), "The members of a new record; organization is its owner.")),
      remove: optional(described(always(true), "Removes the record.")),
    }),
  },
};
function routeOfRecords({ collection = "", id, set, add, remove }: Input) {
  const path = `/records/${encodeURIComponent(String(collection))}`;
  const one = `${path}/${encodeURIComponent(String(id))}`;
  if (add !== undefined) return { method: "POST", path, body: add };
  if (set !== undefined) return { method: "PATCH", path: one, body: set };
  if (remove !== undefined) return { method: "DELETE", path: one, body: {} };
  return { method: "GET", path: collection === "" ? "/records" : path, body: undefined };
}

type Tools = Readonly<
  Record<string, { description: string; input: ReturnType<typeof mapping>; row?: Route }>
>;

const toolsOf = (routes: readonly Route[]): Tools => ({
  ...own,
  ...Object.fromEntries(
    Object.entries(calls).map(([name, [call, description]]) => {
      const row = routes.find(({ method, path }) => `${method} ${path}` === call) as Route;
      const thing = inPathOf(row);
      const inPath = thing !== "" && { [thing]: described(ref(), `The ref of the ${thing}.`) };
      const yaml = word("The text of a scenario file.");
      const body = name === "validate" ? { yaml } : fieldsOf(controlBodies[row.body ?? "nothing"]);
      const either = name === "scenario" && {
        name: optional(shapeOf(controlBodies.scenario_choice.fields.name)),
        yaml: optional(yaml),
      };
      const query = name === "report" ? {} : row.query?.fields;
      return [
        name,
        {
          description: description ?? row.summary,
          row,
          input: mapping({ ...inPath, ...body, ...query, ...either }),
        },
      ];
    }),
  ),
});

const instructions =
  "An offline sandbox of the relying-party API: {endpoints} with the header x-api-key. Call environment, and run the client's tests with these variables. Then call report: missed has each path that is not covered, with the key to send. AGENTS.md in the package has the expected behavior of each path.";

/** Calls `done` once the text is written. */
interface Output {
  readonly write: (text: string, done?: (error?: Error | null) => void) => unknown;
}

interface Served {
  readonly addresses: ClientAddresses;
  /** With the rights of its caller. */
  readonly controlUrl: string;
  readonly authorization?: string | undefined;
  readonly world: () => SandboxState | Promise<SandboxState>;
  readonly routes: readonly Route[];
}

async function createMcpServer(served: Served): Promise<Server> {
  const tools = toolsOf(served.routes);
  const protocol = new Server(
    { name: "svc-sandbox", version },
    {
      capabilities: { tools: {} },
      instructions: withEndpoints(instructions, endpointsOf(await served.world())),
      jsonSchemaValidator: { getValidator: noValidator },
    },
  );
  protocol.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { description, input, row }]) => ({
      name,
      description: `${description}.`,
      inputSchema: { type: "object" as const, ...withoutHints(jsonSchemaOf(input, descriptionOf)) },
      annotations: { readOnlyHint: isReading(name, row) },
    })),
  }));
  protocol.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: input = {} } }) => {
    const { isError = false, text } = await callTool(name, input, tools, served).catch((error) => ({
      isError: true,
      text: controlErrorOf(error).text,
    }));
    return { isError, content: [{ type: "text" as const, text }] };
  });
  return protocol;
}

/** Serves the tools of a sandbox on stdin and stdout, until stdin ends or the signal is aborted. */
export async function serveMcp(
  served: Served,
  { stdin, stdout }: { readonly stdin?: Readable | undefined; readonly stdout: Output },
  stopping: AbortSignal,
): Promise<void> {
  const protocol = await createMcpServer(served);
  const output = new Writable({ write: (chunk, _encoding, done) => stdout.write(String(chunk), done) });
  await new Promise<void>((resolve) => {
    const end = () => resolve();
    for (const event of ["end", "close", "error"]) stdin?.once(event, end);
    stopping.addEventListener("abort", end, { once: true });
    protocol.connect(new StdioServerTransport(stdin, output));
  });
  await protocol.close();
}

/** Responds to one message of a client over HTTP, without a session: each tool is one call. */
export async function respondToMcp(
  local: LocalContext,
  baseUrl: string,
  routes: readonly Route[],
): Promise<void> {
  const { server, request, response, runtime, instance } = local;
  const path = instance === undefined ? "" : `/i/${instance}`;
  const url = baseUrl + path;
  const from = { runtime, instance, baseUrl: () => baseUrl };
  const protocol = await createMcpServer({
    addresses: { url, controlUrl: url + controlPath },
    controlUrl: server.localUrl + path + controlPath,
    authorization: request.get("authorization"),
    world: async () => (await server.log.look((place) => settled(place.runtime), from)) as SandboxState,
    routes,
  });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await protocol.connect(transport);
  const headers = Object.entries(request.headers).map(
    ([name, value]) => [name, String(value)] as [string, string],
  );
  const sent = new Request(url + controlPath, { method: "POST", headers });
  const parsedBody = parseJson(textOf(request));
  const reply = await transport.handleRequest(sent, { parsedBody });
  response
    .status(reply.status)
    .type("json")
    .send(await reply.text());
  await protocol.close();
}

const isReading = (name: string, row: Route | undefined) =>
  row === undefined ? name !== "records" : row.method === "GET" || row.isReading === true;

async function callTool(
  name: string,
  given: Input,
  tools: Tools,
  { addresses, controlUrl, authorization, world }: Served,
): Promise<{ readonly isError?: boolean; readonly text: string }> {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) {
    throw new SandboxError(
      "not_found",
      `Unknown tool ${quote(name)}.${didYouMean(name, Object.keys(tools))}`,
    );
  }
  const input = checkValue(tool.input, given, `Failed to call ${name}`) as Input;
  if (input.yaml !== undefined && input.name !== undefined) {
    throw new SandboxError(
      "validation_failed",
      `Failed to call ${name}: name and yaml exclude each other. Pass one of them.`,
    );
  }
  if (name === "environment") return { text: JSON.stringify(clientEnvironment(await world(), addresses)) };
  if (name === "explain") {
    const state = await world();
    return { text: JSON.stringify(explain(apiKeyFor(String(input.key), state, state.name), state)) };
  }
  const { method, path, body } =
    tool.row === undefined ? routeOfRecords(input) : { ...tool.row, body: undefined };
  const { yaml, [tool.row ? inPathOf(tool.row) : ""]: named, ...rest } = input;
  const url = new URL(controlUrl + path.replace("{ref}", String(named)));
  const query = {
    ...(name === "report" && { format: "brief" }),
    ...(name === "requests" && { limit: 20 }),
    ...rest,
  };
  if (method === "GET" && tool.row !== undefined)
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, String(value));
  // `fetch` may use a proxy.
  const response = await sendOnce(url, {
    method,
    body: yaml === undefined ? JSON.stringify(tool.row === undefined ? body : rest) : String(yaml),
    headers: {
      ...(yaml !== undefined && { "content-type": "application/yaml" }),
      ...(authorization !== undefined && { authorization }),
    },
    timeout: 10_000,
    maxBody: 16 * 1024 * 1024,
    // This server itself.
    anyCertificate: true,
  });
  if (isNoResponse(response))
    throw new HttpRejection("internal_error", `${response.found}. ${response.hint}`);
  return { isError: response.status >= 300, text: new TextDecoder().decode(response.body) };
}

// Validates a user's input in forms, which the sandbox never shows.
function noValidator(): never {
  throw new Error("The sandbox shows no forms.");
}
