import { endpointsOf, outcomesOf } from "../../../api/routes.js";
import type { ScenarioSource } from "../../../library/sandbox.js";
import { controlPath } from "../../../node/addresses.js";
import { clientEnvironment } from "../../../node/client-variables.js";
import { nodePlatform } from "../../../node/platform.js";
import { SandboxError } from "../../../rules/errors.js";
import { isSuccess, type PathId } from "../../../rules/outcomes.js";
import { escapeControls, redactEncoded } from "../../../rules/redact.js";
import { requireFields } from "../../../rules/schema/check.js";
import * as s from "../../../rules/schema/shape.js";
import { base62From, randomStream } from "../../../rules/seed.js";
import { isoOf } from "../../../sandbox/clock.js";
import { runDue } from "../../../sandbox/operations/operations.js";
import { givenOptions } from "../../../sandbox/start.js";
import { secretsForClients } from "../../../sandbox/story/run-step.js";
import { isScenarioName } from "../../../scenario/bundled.js";
import { parseDuration, parseTime } from "../../../scenario/format/fields.js";
import { type NamedScenario, resolveSource } from "../../../scenario/parse-scenario.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import { withStory } from "../../../scenario/stories.js";
import { type AccountLimits, bytesKept } from "../../../store/account.js";
import {
  endedInstance,
  type Instance,
  type Instances,
  type ListedInstance,
  type Tenancy,
} from "../../../store/instances.js";
import { instanceTokenPrefix, type Server } from "../../sockets/server-state.js";
import { responses } from "../responses.js";
import { controlRoute, pageFields, type Route, type RouteContext } from "../route.js";
import { requireFewKeys } from "./scenario.js";

export const instanceRoutes: readonly Route[] = [
  controlRoute("GET /instances", {
    summary: "All instances",
    kind: "instances",
    query: s.mapping({
      label: s.optional(
        s.described(s.text(), "Only instances with this text in their label or id, in any case."),
      ),
      sort: s.optional(
        s.described(
          s.choice(["created", "errors", "last_request", "expiry"]),
          "What is first: the newest, the most errors, the latest request or the next expiry. Default: created.",
        ),
      ),
      errors: s.optional(s.described(s.flag(), "Whether only instances with errors are listed.")),
      ...pageFields("all"),
    }),
    response: responses.InstancePage,
    isBare: true,
    async run(context, { server }) {
      const {
        label = "",
        sort = "created",
        errors,
        offset = 0,
        limit = Number.POSITIVE_INFINITY,
      } = context.query;
      const instances = requireInstances(context);
      const all = (await instances.list()).filter(({ id, tenancy }) =>
        `${tenancy.label ?? ""} ${id}`.toLowerCase().includes(label.toLowerCase()),
      );
      const broken = server.store.status()?.broken ?? [];
      const orderOf = orders[sort];
      const traffic = ({ id }: ListedInstance) => trafficOf(instances.find(id));
      // Counting is only needed for the page that is returned, unless the counts choose it.
      const isCounted = errors === true || sort === "errors" || sort === "last_request";
      const sorted = all
        .toReversed()
        .map((one) => ({ one, traffic: isCounted ? traffic(one) : null }))
        .filter(({ traffic }) => !errors || (traffic?.errors ?? 0) > 0)
        .sort((a, b) => orderOf(a) - orderOf(b) || b.one.createdAt - a.one.createdAt);
      return {
        data: sorted.slice(offset, offset + limit).map(({ one }) => ({
          ...summaryOf(one, context),
          idleSeconds: Math.max(0, Math.floor(one.idle / 1000)),
          traffic: traffic(one),
          account: accountOf(instances.find(one.id), server),
        })),
        total: sorted.length,
        ...(broken.length > 0 && { broken }),
        limits: finite(server.accounts.limits),
        idleLimitSeconds: server.instanceTtl / 1000,
      };
    },
  }),
  controlRoute("POST /instances", {
    summary:
      "Starts an isolated sandbox under its own base URL; only this response has its token. With an Idempotency-Key, a repetition returns the same instance with a new token and link",
    body: "instance_creation",
    status: 201,
    startsScenario: true,
    kind: "instances",
    response: responses.Instance,
    async run(context, { server, request, response }) {
      const instances = requireInstances(context);
      const { scenario, now, label, expires, requests_per_minute, ...options } = context.body;
      const repeatable = request.get("idempotency-key");
      // An encoded key is not shown either (R46).
      const isPlain =
        label === undefined ||
        ([...label].length <= 80 && escapeControls(label) === label && redactEncoded(label) === label);
      requireFields("start an instance", {
        label: isPlain ? undefined : "is any printable text of up to 80 characters, without a key",
      });
      const { platform, given: ofStart } = context.sandbox;
      const { profile, openapi } = ofStart;
      // The server's own scenario already has its profile.
      const ofServer = scenario === undefined ? {} : { profile, openapi };
      const given = givenOptions({
        ...ofServer,
        // No two instances have the same keys. Under `certify`, a run is the same each time.
        seed: platform.run === undefined ? nodePlatform.random() % 2 ** 31 : ofStart.seed,
        ...options,
        now: now === undefined ? undefined : parseTime(now),
      });
      // Default: the server's own scenario, in its initial state.
      const source =
        scenario === undefined
          ? context.sandbox
          : sourceOf(scenario as ScenarioSource, server.own(), openapi ?? context.document);
      if (scenario !== undefined) requireFewKeys(source.scenario, server);
      const [token, code] = [newSecret(), newSecret()];
      const time = platform.time();
      const hashes = { tokenHash: token.sha256, claimHash: code.sha256 };
      const madeBy = repeatable && nodePlatform.sha256(`${repeatable}\n${JSON.stringify(context.body)}`);
      const settings: Tenancy = {
        label,
        requestsPerMinute: requests_per_minute ?? server.instanceRate,
        madeBy,
        ...hashes,
        expiresAt: expires === undefined ? undefined : time + (parseDuration(expires) as number),
      };
      // Nobody without the control token can guess it.
      const hash = nodePlatform.sha256(`${server.token ?? ""}\n${repeatable}`);
      const id = repeatable === undefined ? undefined : base62From(randomStream(0, "instance", hash), 12);
      const instance = await instances.create(source, given, settings, id);
      const isNew = instance.tenancy.tokenHash === hashes.tokenHash;
      if (!isNew && instance.tenancy.madeBy !== madeBy) throw usedIdempotencyKey();
      // Only its caller lacks the response with the first token.
      if (!isNew) await instances.changeHashes(instance.id, { ...hashes, claimedAt: undefined });
      response.locals.instance = instance;
      runDue(instance.sandbox);
      return {
        ...summaryOf(instance, context),
        keys: secretsForClients(instance.sandbox),
        token: instanceTokenPrefix + token.text,
        claimUrl: linkTo(instance, code.text, context),
      };
    },
  }),
  controlRoute("POST /instances/{id}/link", {
    summary: "Makes a new one-time link; an earlier link stops working",
    status: 201,
    kind: "instances",
    response: responses.InstanceLink,
    async run(context) {
      const code = newSecret();
      const hashes = { claimHash: code.sha256, claimedAt: undefined };
      const instance = await requireInstances(context).changeHashes(context.params.id as string, hashes);
      return { claimUrl: linkTo(instance, code.text, context) };
    },
  }),
  controlRoute("POST /instances/{id}/claim", {
    summary: "Exchanges the code of a link for a new token; the earlier token stops working",
    body: "instance_claim",
    // Anybody can call it.
    longestBody: 1024,
    kind: "instances",
    response: responses.ClaimedInstance,
    async run(context, { server }) {
      const token = newSecret();
      const code = nodePlatform.sha256(context.body.code);
      const { id = "" } = context.params;
      const requireCode = (tenancy: Tenancy | undefined) => {
        if (tenancy?.claimHash !== code) throw unknownLink(id);
        if (tenancy.claimedAt !== undefined) throw claimedLink(id, tenancy.claimedAt);
      };
      const instances = requireInstances(context);
      // A wrong code must not load an instance.
      const listed = await instances.get(id);
      if (listed !== undefined) requireCode(listed.tenancy);
      // The same error for an unknown instance, which reveals nothing to callers without a code.
      const instance = await server.store.enter(id);
      if (instance === undefined) throw unknownLink(id);
      if ("ended" in instance) throw new SandboxError("not_found", endedInstance(instance).message);
      // The last step: whoever gets an error can try again.
      const hashes = { tokenHash: token.sha256, claimedAt: context.sandbox.platform.time() };
      const claimed = await instances.changeHashes(id, hashes, requireCode);
      const [summary, { sandbox }] = [summaryOf(claimed, context), instance];
      runDue(sandbox);
      return {
        ...summary,
        token: instanceTokenPrefix + token.text,
        keys: secretsForClients(sandbox),
        environment: clientEnvironment(sandbox, { url: summary.baseUrl, controlUrl: summary.controlUrl }),
      };
    },
  }),
  controlRoute("DELETE /instances/{id}", {
    summary: "Removes an instance",
    kind: "instances",
    async run(context) {
      await requireInstances(context).remove(context.params.id as string);
    },
  }),
];

function sourceOf(scenario: ScenarioSource, own: NamedScenario, openapi: Scenario["openapi"]): NamedScenario {
  if (scenario === own.name) return own;
  const source = resolveSource(scenario, openapi);
  if (typeof scenario !== "string" || !isScenarioName(scenario)) return source;
  return { ...source, scenario: { ...withStory(scenario), ...source.scenario } };
}

export function requireInstances({ instances }: Pick<RouteContext, "instances">): Instances {
  if (instances !== undefined) return instances;
  throw new SandboxError(
    "not_found",
    "An instance has no instances or metrics, and cannot stop the server. Use the server's control plane.",
  );
}

function usedIdempotencyKey(): SandboxError {
  const message = "The Idempotency-Key was sent with another body. Use a new key for another instance.";
  return new SandboxError("validation_failed", message, { fields: { "Idempotency-Key": message } });
}

// Names the command for the person who can help.
const newLink = (id: string) =>
  `Ask the person who sent it for a new one: svc-sandbox instance link ${id.slice(0, 40)}`;

function unknownLink(id: string): SandboxError {
  const message = `This link was replaced, or its instance was removed. ${newLink(id)}`;
  return new SandboxError("not_found", message);
}

function claimedLink(id: string, at: number): SandboxError {
  const message = `This link was already used at ${isoOf(at)}. If that was not you, its token is in other hands. ${newLink(id)}`;
  return new SandboxError("not_found", message);
}

function summaryOf(instance: ListedInstance, { baseUrl }: RouteContext) {
  const { id, tenancy, createdAt, name, seed } = instance;
  const { label = null, expiresAt, requestsPerMinute = null } = tenancy;
  const url = `${baseUrl()}/i/${id}`;
  return {
    id,
    label,
    createdAt: isoOf(createdAt),
    baseUrl: url,
    controlUrl: url + controlPath,
    scenario: name,
    seed,
    expiresAt: expiresAt === undefined ? null : isoOf(expiresAt),
    requestsPerMinute,
  };
}

interface InstanceTraffic {
  readonly requests: number;
  readonly errors: number;
  /** In percent. */
  readonly coverage: number;
  readonly lastPathId: PathId | null;
}

interface Listed {
  readonly one: ListedInstance;
  readonly traffic: InstanceTraffic | null;
}

const orders = {
  created: ({ one }: Listed) => -one.createdAt,
  errors: ({ traffic }: Listed) => -(traffic?.errors ?? 0),
  last_request: ({ one, traffic }: Listed) => (traffic?.lastPathId ? one.idle : Number.MAX_VALUE),
  expiry: ({ one }: Listed) => one.tenancy.expiresAt ?? Number.MAX_VALUE,
} as const;

/** Counts the requests of clients; `null` for an instance that another server has loaded, or none. */
function trafficOf(instance: Instance | undefined): InstanceTraffic | null {
  if (instance === undefined) return null;
  runDue(instance.sandbox);
  const { counters, history } = instance.sandbox;
  const { requests, paths } = counters.read();
  const [last] = history.requests({ source: "client", limit: 1 });
  const counted = Object.entries(paths) as [PathId, { count: number }][];
  const passed = counted.reduce((sum, [path, { count }]) => sum + (isSuccess(path) ? count : 0), 0);
  const promised = outcomesOf(endpointsOf(instance.sandbox)).filter((row) => row.promised);
  const covered = promised.filter(({ path }) => paths[path]?.isCovered);
  return {
    requests,
    errors: requests - passed,
    coverage: Math.floor((covered.length * 100) / promised.length),
    lastPathId: last?.pathId ?? null,
  };
}

function finite(limits: AccountLimits): Record<string, number> {
  return Object.fromEntries(Object.entries(limits).filter(([, max]) => Number.isFinite(max)));
}

function accountOf(instance: Instance | undefined, { accounts }: Server) {
  if (instance === undefined) return null;
  return { bytesKept: bytesKept(instance.sandbox), ...accounts.of(instance.sandbox).status() };
}

// The code follows `#`, because mails and logs of proxies keep the rest of an address.
function linkTo({ id }: ListedInstance, code: string, { baseUrl }: RouteContext): string {
  return `${baseUrl()}/i/${id}${controlPath}/#code=${code}`;
}

/** Creates a secret of 190 bits. Only its hash is stored. */
function newSecret() {
  const text = base62From(nodePlatform.random, 32);
  return { text, sha256: nodePlatform.sha256(text) };
}
