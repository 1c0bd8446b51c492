import { expectedCode } from "../../api/messages.js";
import { endpointsOf, outcomesOf } from "../../api/routes.js";
import { controlPath } from "../../node/addresses.js";
import { clientEnvironment } from "../../node/client-variables.js";
import { fallbackScenarios, howToCover, type Reproduction, reproductionsIn } from "../../report/reproduce.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { failureOf, faultEffects, mainEffectOf } from "../../spec/fault-effects.js";
import { outcomeOf, outcomes, type PathId } from "../../spec/outcomes.js";
import { listed } from "../../spec/schema/words.js";
import { declareCommand, fileName, oneOf, option, plainOption } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { openOutput } from "../files.js";
import { force, quiet, scenarioWord, standardUrl, worldFlags } from "../flags.js";
import type { Io } from "../io.js";
import { loadNamed, startNamed } from "../open-scenario.js";

const renderCollection = { http: httpFile, postman: postmanCollection };

type CollectionFormat = keyof typeof renderCollection;

export const collectionCommand = declareCommand({
  summary: "print requests for an .http file, Postman or Bruno: one for each path",
  description:
    "Prints one request for each path, with its expected response, for an editor or an API client. It contains variables instead of keys; --environment writes their values. With a bundled scenario, the requests for faults switch to other scenarios. With your own file, you get only the paths that it covers.",
  words: scenarioWord,
  flags: {
    format: plainOption(
      "--format <format>",
      "http (a file for VS Code, JetBrains, Visual Studio or httpYac) or postman (a collection, v2.1, which Bruno imports) (default: http)",
      oneOf(Object.keys(renderCollection) as CollectionFormat[]),
    ),
    output: plainOption("-o, --output <file>", "write it to this file and not to stdout", fileName),
    environment: option(
      "--environment <file>",
      "write the variables to this file, for Postman or as .env: the keys, and SVC_BASE_URL and SVC_CONTROL_URL (default: a sandbox on the default port)",
      fileName,
    ),
    force,
    quiet,
    ...worldFlags,
  },
  examples: {
    "svc-sandbox collection -o collection.http --environment .env": "for an editor",
    "svc-sandbox collection --format postman -o collection.json --environment env.json":
      "for Postman or Bruno",
  },
  async run({ words, flags, io }) {
    const { format = "http", environment } = flags;
    const write = openOutput(flags, io);
    // For its owner only: it contains keys.
    const writeValues = openOutput({ ...flags, output: environment }, io, 0o600);
    const loaded = await loadNamed(words[0], io, flags);
    // No request could switch back to a file.
    const others = loaded.files.length > 0 ? [] : fallbackScenarios.filter((name) => name !== loaded.name);
    const loadedOthers = await Promise.all(others.map((name) => loadNamed(name, io)));
    const world = startNamed(loaded, flags);
    const otherWorlds = loadedOthers.map((one) => startNamed(one, flags));
    const collection = collectionOf(world, otherWorlds);
    await write(renderCollection[format](collection), `Start its sandbox: ${io.program} ${loaded.name}`);
    if (environment !== undefined) {
      const all = [...otherWorlds, world].map((one) => clientEnvironment(one, addresses(io)));
      const known: Readonly<Record<string, string>> = Object.assign({}, ...all);
      const values = collection.variables.map((name): [string, string] => [name, known[name] ?? ""]);
      await writeValues(renderEnvironment(format, collection.name, values), "It contains keys.");
    }
    if (flags.quiet !== true) sayLeftOut(collection.leftOut, world, io);
    return exitCode.fine;
  },
});

function sayLeftOut(leftOut: readonly PathId[], world: SandboxState, io: Io): void {
  const hints = howToCover(world);
  const ofScope = (pathId: PathId) => hints(pathId)?.scopes !== undefined;
  const ofInput = (pathId: PathId) => outcomeOf(pathId).needs !== undefined;
  const others = leftOut.filter((one) => !ofScope(one) && !ofInput(one));
  const all = `Left out, because ${world.name} does not cover them: ${listed(others, "and")}. The collection of key-states has all.\n`;
  if (others.length > 0) io.stderr.say(all);
  const inputs = `Left out, because they depend on the input of an endpoint of your document: ${listed(leftOut.filter(ofInput), "and")}.\n`;
  if (leftOut.some(ofInput)) io.stderr.say(inputs);
  for (const one of leftOut.filter(ofScope)) io.stderr.say(`${one} is left out: ${hints(one)?.text}.\n`);
}

function addresses({ env }: Io) {
  const { SVC_BASE_URL: url, SVC_CONTROL_URL: controlUrl } = env;
  // A single variable may be the real API's.
  if (url && controlUrl) return { url, controlUrl };
  return { url: standardUrl, controlUrl: standardUrl + controlPath };
}

type Collection = ReturnType<typeof collectionOf>;

interface CollectionRequest {
  readonly name: string;
  readonly description: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** `undefined` if the client gets no readable response. */
  readonly status: number | undefined;
  /** The code in the response's body; `null` for none or any. */
  readonly code: string | null;
}

/**
 * Returns the collection of a fresh sandbox. For paths that it cannot show, requests switch to the other sandboxes, which
 * are of bundled scenarios.
 */
function collectionOf(world: SandboxState, others: readonly SandboxState[]) {
  const all = [world, ...others].flatMap((one) => outcomesOf(endpointsOf(one)));
  const missing = new Set([...all, ...outcomes].map(({ path }) => path as PathId));
  const variables = new Set(["SVC_BASE_URL", "SVC_CONTROL_URL"]);
  const groups: { readonly name: string; readonly requests: readonly CollectionRequest[] }[] = [];
  const addGroup = (shown: SandboxState, start: CollectionRequest) => {
    const found = reproductionsIn(shown);
    const paths = [...missing].filter((path) => found.has(path));
    const requests = paths.map((path) => {
      const reproduction = found.get(path) as Reproduction;
      if (reproduction.variable !== undefined) variables.add(reproduction.variable);
      missing.delete(path);
      return requestOf(shown, path, reproduction, start.name);
    });
    // Runners treat a request without a response as a failure: its group can be left out.
    for (const hasResponse of [true, false]) {
      const part = requests.filter(({ status }) => (status !== undefined) === hasResponse);
      const name = hasResponse ? shown.name : `${shown.name}, no response`;
      if (part.length > 0) groups.push({ name, requests: [start, ...part] });
    }
  };
  const switchTo = ({ name }: SandboxState) =>
    controlRequest(`Switch to ${name}`, "PUT", "/scenario", { name });
  // No request could switch to a file.
  const again = controlRequest("Start the scenario again", "POST", "/reset", {});
  addGroup(world, others.length > 0 ? switchTo(world) : again);
  for (const other of others) addGroup(other, switchTo(other));
  if (others.length > 0) groups.push({ name: "end", requests: [switchTo(world)] });
  return {
    name: `svc-sandbox ${world.name}`,
    description: `One request for each path of the relying-party API. Send them from top to bottom to svc-sandbox ${world.name}.`,
    groups,
    variables: [...variables],
    leftOut: [...missing],
  };
}

function controlRequest(name: string, method: string, path: string, body: object): CollectionRequest {
  return {
    name,
    description: "A call of the control plane, for the requests below.",
    method,
    url: `{{SVC_CONTROL_URL}}${path}`,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    status: 200,
    code: null,
  };
}

function requestOf(world: SandboxState, path: PathId, found: Reproduction, start: string): CollectionRequest {
  const { when, whatToDo } = outcomeOf(path);
  const { variable, method = "GET", headers = {}, body } = found;
  const key = variable === undefined ? {} : { "x-api-key": `{{${variable}}}` };
  return {
    name: path,
    description: `${when[0]?.toUpperCase()}${when.slice(1)}. ${whatToDo} Needs "${start}" before it.`,
    method,
    url: `{{SVC_BASE_URL}}${found.path}`,
    headers: { ...headers, ...key },
    body,
    ...expectedOf(world, found),
  };
}

function expectedOf(world: SandboxState, { apiPath, fault = {} }: Reproduction) {
  const kind = mainEffectOf(fault);
  if (faultEffects[kind].ends !== "sent") return { status: undefined, code: null };
  if (kind === "malformed") return { status: 200, code: null };
  const { status, html } = fault;
  if (status !== undefined) return { status, code: html ? null : failureOf(status).code };
  return { status: outcomeOf(apiPath).status, code: expectedCode(world, apiPath) };
}

function renderEnvironment(format: CollectionFormat, name: string, values: [string, string][]): string {
  if (format !== "postman") {
    return `# ${name}\n${values.map(([key, value]) => `${key}=${value}\n`).join("")}`;
  }
  return json({ name, values: values.map(([key, value]) => ({ key, value, enabled: true })) });
}

// The common syntax of VS Code, JetBrains, Visual Studio and httpYac, which have no common assertions.
function httpFile({ name, description, groups, variables }: Collection): string {
  const head = [`# ${name}`, `# ${description}`, "# The values are in .env next to this file."];
  const values = variables.map((variable) => `@${variable} = {{$dotenv ${variable}}}`);
  const requests = groups.flatMap((group) =>
    group.requests.map((request) => `### ${group.name}: ${request.name}\n${httpRequest(request)}\n`),
  );
  return [...head, ...values, "", ...requests].join("\n");
}

function httpRequest(request: CollectionRequest): string {
  const { description, method, url, headers, body } = request;
  return [
    `# ${description}`,
    `# Expect: ${expectation(request)}`,
    `${method} ${url}`,
    ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`),
    ...(body === undefined ? [] : ["", body]),
  ].join("\n");
}

function expectation({ status, code }: CollectionRequest): string {
  return status === undefined ? "no response" : [status, code].filter(Boolean).join(" ");
}

function postmanCollection({ name, description, groups, variables }: Collection): string {
  const schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
  const item = groups.map(({ name, requests }) => ({
    name,
    ...(requests.some(({ status }) => status === undefined) && onRequest),
    item: requests.map(postmanItem),
  }));
  const variable = [...variables, sendWithoutResponse].map((key) => ({ key, value: "" }));
  return json({ info: { name, description, schema }, item, variable });
}

const sendWithoutResponse = "SVC_SEND_WITHOUT_RESPONSE";

// Postman's requests have no timeout: without one, Newman waits for a hang forever.
const exec = [`if (!pm.variables.get("${sendWithoutResponse}")) pm.execution.skipRequest();`];
const onRequest = { event: [{ listen: "prerequest", script: { type: "text/javascript", exec } }] };

function postmanItem(request: CollectionRequest) {
  const { name, description, method, url, headers, body, status, code } = request;
  const header = Object.entries(headers).map(([key, value]) => ({ key, value }));
  const sent = body === undefined ? {} : { body: { mode: "raw", raw: body } };
  const exec = [
    `pm.test(${JSON.stringify(expectation(request))}, () => {`,
    `  pm.response.to.have.status(${status});`,
    code !== null && `  pm.expect(pm.response.json().error.code).to.equal(${JSON.stringify(code)});`,
    "});",
  ].filter(Boolean);
  const event = [{ listen: "test", script: { type: "text/javascript", exec } }];
  return {
    name,
    request: { method, header, ...sent, url, description },
    ...(status !== undefined && { event }),
  };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
