import { snakeCase } from "../../src/api/snake-case.js";
import type { Scenario } from "../../src/index.js";
import { type ControlAnswer, type ServedControl, serveControl } from "../control/client.js";
import type { Dashboard } from "./dashboard.js";
import { mePath } from "./send.js";

/** The dashboard of a sandbox behind the control plane of a server, on a real socket. */
export async function openControlDashboard(
  scenario: Scenario,
): Promise<Dashboard & { readonly close: () => Promise<void> }> {
  return {
    ...controlDashboard(await serveControl({ scenario })),
    async close() {},
  };
}

/** The same for a server that runs. `base` is where it is an instance's: `/i/…`. */
export function controlDashboard(
  { server, ask }: Pick<ServedControl, "server" | "ask">,
  base = "",
): Dashboard {
  const get = async (path: string) => dataOf(await ask(path, { base }));
  const write = async (method: string, path: string, json: unknown, actor?: string) =>
    dataOf(
      await ask(path, {
        base,
        method,
        json,
        ...(actor !== undefined && { headers: { "x-sandbox-actor": actor } }),
      }),
    );
  const { sandbox } = server;
  return {
    create: async (key, as) => write("POST", "/keys", snakeCase(key), as?.actor),
    rotate: async (ref, { overlap, as, actor } = {}) => {
      const body = {
        as,
        ...(overlap !== undefined && { overlap_minutes: overlap / 60_000 }),
      };
      return write("POST", `/keys/${ref}/rotate`, body, actor);
    },
    revoke: async (ref, as) => (await write("POST", `/keys/${ref}/revoke`, {}, as?.actor)).key,
    keys: () => get("/keys"),
    key: (ref) => get(`/keys/${ref}`),
    updateOrganization: (ref, change, as) =>
      write("PATCH", `/organizations/${ref}`, snakeCase(change), as?.actor),
    organization: (ref) => get(`/organizations/${ref}`),
    requests: () => get("/requests"),
    async advance(by) {
      await write("POST", "/clock/advance", { by: `${by}ms` });
    },
    async setClock(to) {
      await write("PUT", "/clock", { now: to });
    },
    now: async () => (await get("/clock")).now,
    async reset() {
      await write("POST", "/reset", {});
    },
    async callMe(secret) {
      const response = await fetch(server.url + base + mePath, {
        headers: { "x-api-key": secret },
      });
      const body = await response.json();
      return {
        status: response.status,
        code: body.error?.code ?? null,
        data: body.data,
      };
    },
    // What only who made the scenario knows; over HTTP it is nowhere to be had.
    secret: (ref) => sandbox.secret(ref),
    snapshot: () => sandbox.snapshot(),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of it, it checks
function dataOf({ status, body }: ControlAnswer): any {
  if (status < 300) return camelCase(body.data);
  const { code, message, details = {} } = body.error;
  throw Object.assign(new Error(message), {
    code: codeIn(code, details),
    details: detailsIn(details),
  });
}

// Over HTTP an unknown ref is a path that is not there, or a field of the body that is wrong; both say what they mean.
function codeIn(code: string, details: { kind?: string }): string {
  const isUnknownRef = details.kind !== undefined && (code === "not_found" || code === "validation_failed");
  return isUnknownRef ? "unknown_ref" : code;
}

// Over HTTP a wrong item of a list is named by its place; the library names the list.
function detailsIn(details: { fields?: Record<string, string> }): unknown {
  if (details.fields === undefined) return details;
  const fields = Object.entries(details.fields).map(([path, problem]) => [
    path.replace(/\.\d+$/, ""),
    problem,
  ]);
  return { ...details, fields: Object.fromEntries(fields) };
}

function camelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCase);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      camelCase(member),
    ]),
  );
}
