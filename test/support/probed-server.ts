import { createServer, type ServerResponse } from "node:http";
import type { RawResponse } from "../../src/node/clients/send-once.js";
import { mePath } from "./send.js";
import { listening } from "./servers.js";

export interface Reply {
  status: number;
  /** The version of HTTP of a response without a socket; default: 1.1. */
  version?: string;
  /** The reason phrase; default: the usual one of the status. */
  reason?: string;
  headers: Record<string, string | string[]>;
  body: unknown;
  /** What is sent instead of the body as JSON. */
  bytes?: string | Buffer;
}

export interface Presented {
  /** The ref of its key; `none`, `malformed` or `unknown` when it has none of the server's. */
  readonly ref: string;
  readonly apiKey: string | undefined;
  /** Counted from 1. */
  readonly number: number;
  /** The number of times that this ref was presented, this one included. */
  readonly count: number;
  /** The response itself, to do worse than response wrongly. */
  readonly response: ServerResponse;
}

/** Changes the right response into a wrong one; `handled` when it has dealt with the request itself. */
export type Misbehave = (reply: Reply, presented: Presented) => unknown;

export interface ProbedServer {
  readonly url: string;
  readonly requests: () => readonly { readonly ref: string; readonly path: string | undefined }[];
}

const liveAccess = ["live_access_not_approved", "Live access is not approved."] as const;
const rejections: Readonly<Record<string, readonly [code: string, message: string]>> = {
  "wrong-scope": ["insufficient_scope", "The key lacks the scope."],
  "organization-inactive": ["access_denied", "The organization is not active."],
  "live-not-approved": liveAccess,
  "live-suspended": liveAccess,
  "rate-limited": ["rate_limited", "Too many requests."],
  "rate-limited-minute": ["rate_limited", "Too many requests."],
};

const environmentOf = (ref: string) => (ref.includes("live") ? "live" : "test");
const secretOf = (ref: string) =>
  `${ref.startsWith("legacy") ? "legacysvc" : "SVC"}_${environmentOf(ref)}_R${ref.replaceAll("-", "")}Secret0123456789`;
const refs = ["active", "live", "revoked", "expired", "wrong-scope"];
const working = ["active", "live", "retiring", "replacement", "legacy", "legacy-live"];
const allRefs = [...new Set([...refs, ...working, "rate-limited", "rate-limited-minute"])];
const refOf = new Map(allRefs.map((ref) => [secretOf(ref), ref]));

const variablesOf = (some: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(some.map((ref) => [`SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`, secretOf(ref)]));

/** The keys of every such server, as the environment variables of a comparison hold them. */
export const probeKeys = variablesOf(refs);

/** The same, and the server's other keys. */
export const allProbeKeys = variablesOf(allRefs);

/** Sets a member of a response, named as `body.data.environment`; `null` removes it. */
export function setIn(reply: Reply, path: string, value: unknown): void {
  const names = path.split(".");
  const last = names.pop() as string;
  // biome-ignore lint/suspicious/noExplicitAny: responses are made wrong here
  const target = names.reduce((object: any, name) => object[name], reply);
  if (value === null) delete target[last];
  else target[last] = value;
}

/** Responds to each key by the contract, except for what is made wrong; `undefined` when that was handled. */
function createReplies(misbehave: Misbehave) {
  const counts = new Map<string, number>();
  let number = 0;
  return (apiKey: string | undefined, response = {} as ServerResponse): Reply | undefined => {
    const ref = presentedRef(apiKey);
    const count = (counts.get(ref) ?? 0) + 1;
    counts.set(ref, count);
    number += 1;
    const reply = rightReply(ref, number, count);
    return misbehave(reply, { ref, apiKey, number, count, response }) === "handled" ? undefined : reply;
  };
}

/** The same without a socket, as the requests of a comparison; counts them. */
export function probed(misbehave: Misbehave) {
  const reply = createReplies(misbehave);
  const refs: string[] = [];
  const send = async (apiKey: string | undefined): Promise<RawResponse> => {
    refs.push(presentedRef(apiKey));
    const { status, version = "1.1", reason = "", headers, body, bytes } = reply(apiKey) as Reply;
    const pairs = Object.entries(headers).flatMap(([name, lines]) =>
      [lines].flat().map((line) => [name, line] as const),
    );
    return { status, version, reason, headers: pairs, body: Buffer.from(bytes ?? JSON.stringify(body)) };
  };
  return { send, refs };
}

/** Serves the contract, except for what is made wrong; gone when the test is over. */
export async function serveProbed(misbehave: Misbehave = () => {}, path = mePath): Promise<ProbedServer> {
  const requests: { ref: string; path: string | undefined }[] = [];
  const replyTo = createReplies(misbehave);
  const server = createServer((request, response) => {
    const apiKey = request.headers["x-api-key"] as string | undefined;
    requests.push({ ref: presentedRef(apiKey), path: request.url });
    const reply: Reply | undefined =
      request.url === path
        ? replyTo(apiKey, response)
        : { status: 404, headers: json, body: { error: { code: "not_found", message: "No." } } };
    if (reply === undefined) return;
    response.writeHead(reply.status, reply.reason, reply.headers);
    response.end(reply.bytes ?? JSON.stringify(reply.body));
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, requests: () => requests };
}

const json = { "Content-Type": "application/json" };

function presentedRef(apiKey: string | undefined): string {
  if (apiKey === undefined) return "none";
  return refOf.get(apiKey) ?? (apiKey.startsWith("SVC_") ? "unknown" : "malformed");
}

function rightReply(ref: string, number: number, today: number): Reply {
  if (working.includes(ref)) {
    const headers = { ...json, "X-Request-Id": `req-${number}` };
    return { status: 200, headers, body: { data: contextOf(environmentOf(ref), today) } };
  }
  const [code, message] = rejections[ref] ?? ["unauthorized", "No valid key."];
  const status = code === "unauthorized" ? 401 : code === "rate_limited" ? 429 : 403;
  return { status, headers: { ...json }, body: { error: { code, message } } };
}

function contextOf(environment: string, today: number) {
  return {
    organization: { id: "5d1f7f0e-6c0b-4f57-9c53-0d2f3ce1a6b4", name: "A Bank", type: "bank" },
    environment,
    scopes: ["attestations:read"],
    limits: { per_minute: 60, per_day: 1000 },
    usage: { today },
  };
}
