import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type NextFunction, type Request, type RequestHandler, type Response } from "express";
import { controlPath, isLoopbackHost, nameIn } from "../../node/addresses.js";
import { fullMemory } from "../../node/memory.js";
import { nodePlatform } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import { redactPath } from "../../rules/redact.js";
import { checkValue } from "../../rules/schema/check.js";
import { jsonOf } from "../../rules/schema/json.js";
import * as s from "../../rules/schema/shape.js";
import { isMapping, shapeOf } from "../../rules/schema/shape.js";
import { listed } from "../../rules/schema/words.js";
import { requireAdministrator } from "../../sandbox/operations/keys.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import type { Actor } from "../../sandbox/steps.js";
import { checkInput, controlBodies } from "../../scenario/format/inputs.js";
import type { OpenScenario } from "../../scenario/parse-scenario.js";
import { type Account, bytesKept, processorTime, sentenceOf } from "../../store/account.js";
import type { ListedInstance } from "../../store/instances.js";
import { type ControlPlace, controlPlace, type SandboxPlace } from "../../store/store.js";
import { isPagePath, ofControl, rejectExcess } from "../sockets/messages.js";
import {
  type ControlHandler,
  instanceTokenPrefix,
  isOwners,
  isSame,
  type Server,
  tokenIn,
} from "../sockets/server-state.js";
import { sendCompressed, servePageFiles } from "./page.js";
import { HttpRejection, sendControlError } from "./rejections.js";
import {
  isTextResponse,
  type LocalContext,
  parseJson,
  type Route,
  type RouteInput,
  textOf,
} from "./route.js";
import { routes } from "./routes/routes.js";
import { documentSent, longestIn, sentScenario } from "./routes/scenario.js";

/** No error ends the process or changes a sandbox. */
export function createControlApp(server: Server): ControlHandler {
  const targets = new WeakMap<IncomingMessage, SandboxPlace>();
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");
  app.set("case sensitive routing", true);
  app.use(guardControl(server, (request) => targets.get(request) as SandboxPlace));
  app.use(servePageFiles);
  for (const path of new Set(routes.map((row) => row.path))) {
    const mounted = app.route(controlPath + path.replace(/\{(\w+)\}/g, ":$1"));
    const rows = routes.filter((row) => row.path === path);
    for (const row of rows) {
      const run = (request: Request, response: Response) => {
        const { account } = response.locals as { readonly account?: Account };
        const measure: LocalContext["measure"] = (work) => (account ? account.measure(work) : work());
        const target = targets.get(request) as SandboxPlace;
        return measure(() => runRoute(row, { ...target, server, request, response, measure }));
      };
      const method = row.method.toLowerCase() as "get" | "post" | "put" | "patch" | "delete";
      const audits = row.kind === "local" ? [] : [auditChange];
      const body = readBody(row.longestBody, server, (request) => targets.get(request)?.instance);
      mounted[method](...(method === "get" ? [] : [...audits, requireType(row), body]), run);
    }
    // A wrong method must never look like a success.
    mounted.all(rejectMethod(rows.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))));
  }
  app.use(({ path }: Request) => {
    throw new SandboxError("not_found", `The control plane has no path ${redactPath(path)}.`);
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    response.locals.code = sendControlError(response, error, server.onDefect);
  });
  return (request: IncomingMessage, response: ServerResponse, target: SandboxPlace) => {
    targets.set(request, target);
    app(request, response);
  };
}

async function runRoute(row: Route, local: LocalContext) {
  const { request, response, measure } = local;
  const runYaml = isYamlIn(request) ? row.runYaml : undefined;
  const body =
    runYaml === undefined ? inputOf(row, request) : sentScenario(textOf(request), longestIn(local));
  // Before the call, which must not wait for anything before it changes something.
  const document = row.startsScenario && (await documentSent(scenarioIn(body), local.server));
  const result = await perform(row, runYaml ?? row.run, local, {
    actor: actorOf(request),
    params: request.params as Record<string, string>,
    query: queryOf(row, request),
    body,
    document,
  });
  if (response.headersSent) return;
  response.status(row.status);
  if (row.status === 204) return void response.end();
  const data = () => jsonOf(row.response ?? s.anything(), result);
  const { type, text } = measure(() =>
    isTextResponse(result)
      ? result
      : { type: "json", text: JSON.stringify(row.isBare ? data() : { data: data() }) },
  );
  const content = Buffer.from(text);
  const { account } = response.locals as { readonly account?: Account };
  account?.hold(response, content.length);
  await sendCompressed(request, response.type(type), content);
}

/** Reads a body of at most so many bytes; of a call in an instance, at most as many as its host allows a scenario. */
function readBody(
  longest = 1024 * 1024,
  { accounts }: Server,
  instanceOf: (request: Request) => string | undefined,
): RequestHandler {
  const max = Math.min(longest, accounts.limits.scenario);
  const [read, readLess] = [longest, max].map((limit) => express.raw({ limit, type: () => true }));
  const why = (amount = max + 1) => sentenceOf({ limit: "scenario", amount, max });
  return (request, response, next) => {
    if (max === longest || instanceOf(request) === undefined) return read?.(request, response, next);
    readLess?.(request, response, (error?: { type?: string; length?: number }) => {
      next(error?.type === "entity.too.large" ? Object.assign(error, { why: why(error.length) }) : error);
    });
  };
}

function perform(
  row: Route,
  act: Route["run"] | NonNullable<Route["runYaml"]>,
  local: LocalContext,
  input: RouteInput,
): unknown {
  const { server, request, sandbox, instance, measure } = local;
  const { store, baseUrlFor } = server;
  const from = { sandbox, instance, baseUrl: () => baseUrlFor(request) };
  // Its shapes have checked the body.
  const run = (place: ControlPlace) =>
    measure(() => {
      runDue(place.sandbox);
      return act({ ...place, ...input, body: input.body as never }, local);
    });
  if (instance !== undefined) requireRoom(row, server, sandbox);
  if (row.kind === "local") return run(controlPlace(from, store.instances));
  if (row.method === "GET") return store.run("read", run, from);
  return store.run(row.kind === "instances" ? "list" : "change", run, from);
}

/** Rejects a call with which an instance would keep more than it may, or the server more than it has. */
function requireRoom(
  { grows, startsScenario }: Route,
  { store, accounts }: Server,
  sandbox: SandboxState,
): void {
  const { isFull, max: memory } = store.memory();
  if (isFull && (grows || startsScenario)) throw fullMemory(memory);
  const [amount, max] = [grows ? bytesKept(sandbox) : 0, accounts.limits.bytes];
  if (amount < max) return;
  const remedy = "Remove records, clear the requests, or reset the sandbox.";
  throw new HttpRejection("instance_full", `${sentenceOf({ limit: "bytes", amount, max })} ${remedy}`);
}

function queryOf({ query }: Route, request: Request): Readonly<Record<string, unknown>> {
  if (query === undefined) return {};
  const { fields } = query;
  const read = (name: string, value: unknown) => {
    const field = fields[name];
    if (typeof value !== "string" || (field !== undefined && shapeOf(field).kind === "text")) return value;
    return /^\d+$/.test(value) ? Number(value) : value === "true" || (value === "false" ? false : value);
  };
  const values = Object.entries(request.query).map(([name, value]) => [name, read(name, value)]);
  return checkValue(query, Object.fromEntries(values), "The query is not valid");
}

function actorOf(request: Request): Actor {
  const actor = request.get("x-sandbox-actor") ?? "administrator";
  if (actor !== "administrator" && actor !== "member") {
    const problem = "is administrator or member";
    throw new SandboxError("validation_failed", `The header X-Sandbox-Actor ${problem}.`, {
      fields: { "X-Sandbox-Actor": problem },
    });
  }
  if (request.method !== "GET" && request.method !== "HEAD") requireAdministrator({ actor });
  return actor;
}

function scenarioIn(body: unknown): unknown {
  if (!isMapping(body)) return undefined;
  return "fields" in body ? (body as unknown as OpenScenario).fields() : (body.scenario ?? body.name);
}

const yamlTypes = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

function typeOf(request: Request): string {
  return request.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

// Not decided by the body: a JSON body may also be a string.
function isYamlIn(request: Request): boolean {
  return yamlTypes.includes(typeOf(request));
}

// Rejects other types, because pages of other origins can send forms and plain text without a preflight request.
function requireType({ runYaml }: Route) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const type = typeOf(request);
    const charset = /;\s*charset\s*=\s*"?([^";]*)/i.exec(request.get("content-type") ?? "")?.[1] ?? "utf-8";
    const isTaken = type === "application/json" || (runYaml !== undefined && isYamlIn(request));
    // No page can send a DELETE without a preflight request.
    const isBare =
      request.method === "DELETE" &&
      request.get("transfer-encoding") === undefined &&
      Number(request.get("content-length") ?? 0) === 0;
    const isReadable = isTaken ? charset.trim().toLowerCase() === "utf-8" : type === "" && isBare;
    if (isReadable) {
      next();
      return;
    }
    throw new SandboxError(
      "unsupported_media_type",
      `The body must be application/json${runYaml === undefined ? "" : " or application/yaml"} in UTF-8; send it with that Content-Type.`,
    );
  };
}

// Ignores the body of a GET. A missing body of a write is an empty object; a body that the route does not accept is rejected.
function inputOf({ method, body = "nothing" }: Route, request: Request): unknown {
  if (method === "GET") return {};
  const text = textOf(request);
  return checkInput(controlBodies[body], text === "" ? {} : parseJson(text));
}

function rejectMethod(allowed: readonly string[]) {
  return ({ path }: Request, response: Response): void => {
    response.set("Allow", allowed.join(", "));
    throw new SandboxError(
      "method_not_allowed",
      `${redactPath(path)} accepts only ${listed(allowed, "and")}.`,
    );
  };
}

// Probes of containers and load balancers have no token.
const probePaths = [`${controlPath}/health`, `${controlPath}/ready`];

// Partners have no token yet, but a link's code, which is checked.
const claimPath = new RegExp(`^${controlPath}/instances/[^/]+/claim$`);

/** Rejects a foreign `Host` on a loopback address, cross-site requests except a click on a link, and calls without the token. */
function guardControl(server: Server, targetOf: TargetOf): RequestHandler[] {
  return [auditCalls(server, targetOf), keepForeignOut(server), admitCallers(server, targetOf)];
}

type TargetOf = (request: IncomingMessage) => SandboxPlace;

const auditChange: RequestHandler = (_request, { locals }, next) => {
  locals.isChange = true;
  next();
};

const idForm = /^[0-9A-Za-z]{12}$/;

// Records each change and each rejected token, once its response is known.
function auditCalls({ store, audit }: Server, targetOf: TargetOf): RequestHandler {
  return (request, response, next) => {
    response.locals.startedAt = processorTime();
    const path = request.path.slice(controlPath.length);
    const inPath = targetOf(request).instance ?? /^\/instances\/([^/]+)/.exec(path)?.[1] ?? "";
    // In place of an id may be a link's code.
    const named = idForm.test(inPath) ? inPath : undefined;
    // Before it is removed.
    const existing = named === undefined ? undefined : store.instances.find(named);
    response.once("close", () => {
      const { locals, statusCode, writableFinished } = response;
      const { isChange, actor = "unknown", code, instance = existing } = locals;
      const isRejected = statusCode === 401 && request.headers.authorization !== undefined;
      if (!isChange && !isRejected) return;
      const result = [writableFinished ? statusCode : "no response", code].filter(Boolean).join(" ");
      const id = instance?.id ?? named;
      const about = id === undefined ? undefined : { id, label: instance?.tenancy.label };
      audit({ action: `${request.method} ${redactPath(path)}`, actor, result }, about);
    });
    next();
  };
}

function keepForeignOut({ loopback, allowedHosts }: Server): RequestHandler {
  const allowedNames = allowedHosts.map(nameIn);
  return ({ headers, method, path }, response, next) => {
    // The page shows state: other pages must not frame it, and caches must not keep it.
    response.set(ofControl);
    const { host = "", origin, "sec-fetch-site": site } = headers;
    if (loopback && host !== "" && !isLoopbackHost(host) && !allowedNames.includes(nameIn(host))) {
      throw new HttpRejection(
        "foreign_host",
        "The control plane responds only to this machine's own names, such as localhost, and to the names in --allow-host.",
      );
    }
    // A proxy may replace the Host.
    const isForeign =
      origin !== undefined &&
      ![host.toLowerCase(), ...allowedHosts].some(
        (name) => origin === `http://${name}` || origin === `https://${name}`,
      );
    const isCrossSite = site === "cross-site" || site === "same-site";
    const opensPage =
      method === "GET" &&
      headers["sec-fetch-mode"] === "navigate" &&
      headers["sec-fetch-dest"] === "document" &&
      isPagePath(path);
    if (isForeign || (isCrossSite && !opensPage)) {
      const message = "The control plane does not respond to pages of other origins.";
      throw new HttpRejection("foreign_origin", message);
    }
    next();
  };
}

/** Who makes a call. */
interface Caller {
  readonly kind: "caller";
  readonly actor: "control_token" | "instance_token" | "anyone" | "link";
  /** Whether the caller could read everything in this place. */
  readonly mayKnowAll: boolean;
  /** Who pays for the call. Default: nobody, because it is the owner's, or a probe. */
  readonly payer?: "instance" | "sender";
}

type Identity = Caller | { readonly kind: "rejected" };

const stranger = { actor: "unknown", mayKnowAll: false, payer: "sender" } as const;

/** Decides who makes a call from its token and its path. */
function identify(
  server: Server,
  request: IncomingMessage & { readonly path: string },
  instance: string | undefined,
): Identity | Promise<Identity> {
  const { store } = server;
  const { path } = request;
  const sent = tokenIn(request);
  const opensAll = isOwners(server, sent);
  const isForInstance = !opensAll && sent.startsWith(instanceTokenPrefix);
  const hash = nodePlatform.sha256(sent.slice(instanceTokenPrefix.length));
  const isOf = (listed: Pick<ListedInstance, "tenancy"> | undefined) =>
    isForInstance && isSame(hash, listed?.tenancy.tokenHash);
  if (probePaths.includes(path) || isPagePath(path) || claimPath.test(path)) {
    const mayKnowAll = opensAll || (instance !== undefined && isOf(store.instances.find(instance)));
    const isFree = opensAll || probePaths.includes(path);
    return { kind: "caller", actor: "link", mayKnowAll, ...(!isFree && { payer: "sender" }) };
  }
  const actor = server.token === undefined || sent === "" ? "anyone" : "control_token";
  if (opensAll) return { kind: "caller", actor, mayKnowAll: true };
  if (!isForInstance || instance === undefined) return { kind: "rejected" };
  // Another replica may just have replaced the token.
  return Promise.resolve(store.instances.get(instance)).then((listed) =>
    isOf(listed)
      ? { kind: "caller", actor: "instance_token", mayKnowAll: true, payer: "instance" }
      : { kind: "rejected" },
  );
}

function admitCallers(server: Server, targetOf: TargetOf): RequestHandler {
  return (request, response, next) => {
    const { sandbox, instance } = targetOf(request);
    const { accounts } = server;
    const admit = (identity: Identity) => {
      const { payer, ...caller } = identity.kind === "rejected" ? stranger : identity;
      Object.assign(response.locals, caller);
      const account: Account | undefined =
        payer &&
        (payer === "instance" ? accounts.of(sandbox) : accounts.ofSender(request.socket.remoteAddress));
      if (account === undefined) return next();
      response.locals.account = account;
      const excess = account.excess();
      if (excess !== undefined) {
        server.traffic.excess += 1;
        return rejectExcess(excess, response);
      }
      account.count(false, processorTime() - response.locals.startedAt);
      const error = identity.kind === "rejected" ? noToken(response) : undefined;
      account.measure(() => next(error));
    };
    const identity = identify(server, request, instance);
    if (identity instanceof Promise) identity.then(admit).catch(next);
    else admit(identity);
  };
}

function noToken(response: Response): HttpRejection {
  response.set("WWW-Authenticate", 'Bearer realm="svc-sandbox control plane"');
  return new HttpRejection(
    "control_token_required",
    "Send the control token from the server's start, or inside an instance its own token: Authorization: Bearer <token>.",
  );
}
