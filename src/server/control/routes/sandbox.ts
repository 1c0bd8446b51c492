import { variationTable } from "../../../api/variation/table.js";
import { version } from "../../../node/package-files.js";
import { type AssumptionDefinition, type Assumptions, assumptionTable } from "../../../rules/assumptions.js";
import words from "../../../rules/assumptions.json" with { type: "json" };
import * as s from "../../../rules/schema/shape.js";
import { isoOf } from "../../../sandbox/clock.js";
import { describeFaults, type Fault } from "../../../sandbox/faults.js";
import { type AssumptionsInput, operations } from "../../../sandbox/operations/operations.js";
import type { SandboxState } from "../../../sandbox/sandbox.js";
import { listUpcoming, nextChangeAt } from "../../../sandbox/upcoming.js";
import { viewAssumptions, viewClock, viewKeys, viewOrganizations } from "../../../sandbox/views.js";
import { controlBodySchema } from "../../../scenario/format/json-schema.js";
import type { Instances } from "../../../store/instances.js";
import type { StoreStatus } from "../../../store/store.js";
import { type Server, unreadiness } from "../../sockets/server-state.js";
import { HttpRejection } from "../rejections.js";
import { responses } from "../responses.js";
import { controlRoute, type Route } from "../route.js";

export const sandboxRoutes: readonly Route[] = [
  controlRoute("GET /health", {
    summary: "Status and version; with any required control token, also the scenario",
    response: responses.Health,
    isBare: true,
    kind: "local",
    run({ sandbox }, { server, response, instance }) {
      const store = server.store.status();
      return {
        status: "ok",
        version,
        ...(store?.in === "store" && {
          store: store.reachable ? stateOf(store, "reachable") : "unreachable",
        }),
        ...(store?.in === "file" && { state: stateOf(store, "saved") }),
        ...(response.locals.mayKnowAll && {
          ...summaryOf(sandbox),
          startedAt: isoOf(server.startedAt),
        }),
        ...(response.locals.mayKnowAll &&
          instance !== undefined && {
            label: server.store.instances.find(instance)?.tenancy.label ?? null,
          }),
      };
    },
  }),
  controlRoute("GET /ready", {
    summary: "Whether to send requests here; 503 not_ready has the reason",
    response: responses.Readiness,
    isBare: true,
    kind: "local",
    run(_context, { server }) {
      const why = unreadiness(server);
      if (why !== undefined) throw new HttpRejection("not_ready", why);
      const stored = server.store.status();
      return {
        status: "ready" as const,
        version,
        memory: server.store.memory().isFull ? ("full" as const) : ("free" as const),
        ...(stored?.in === "file" && { state: stateOf(stored, "saved") }),
        ...(stored?.broken?.length && { brokenInstances: stored.broken.length }),
      };
    },
  }),
  controlRoute("GET /revision", {
    summary: "A text that differs once another call shows a change, except of a running clock and idle times",
    response: s.text(),
    run({ sandbox, instances }, { server }) {
      const why = unreadiness(server);
      if (why !== undefined) throw new HttpRejection("not_ready", why);
      return revisionOf(sandbox, instances, server);
    },
  }),
  controlRoute("GET /state", {
    summary: "The sandbox's state: organizations, keys, clock, assumptions",
    response: responses.State,
    run: ({ sandbox }) => ({
      scenario: sandbox.name,
      seed: sandbox.seed,
      clock: viewClock(sandbox.clock),
      assumptions: viewAssumptions(sandbox),
      faults: describeFaults(sandbox.faults),
      organizations: viewOrganizations(sandbox),
      keys: viewKeys(sandbox),
    }),
  }),
  controlRoute("GET /clock", {
    summary: "The sandbox's clock",
    response: responses.Clock,
    run: ({ sandbox }) => viewClock(sandbox.clock),
  }),
  controlRoute("PUT /clock", {
    summary: "Moves the clock forward, freezes it or starts it",
    body: "clock_change",
    response: responses.Clock,
    run: ({ sandbox, body }) => operations.clock(sandbox, body),
  }),
  controlRoute("POST /clock/advance", {
    summary: "Moves the clock forward by a duration",
    body: "clock_advance",
    response: responses.Clock,
    run: ({ sandbox, body }) => operations.advance(sandbox, body),
  }),
  controlRoute("GET /upcoming", {
    summary: "The next events that time causes, earliest first, up to 100",
    response: s.list(responses.Upcoming),
    run: ({ sandbox }) => listUpcoming(sandbox),
  }),
  controlRoute("GET /assumptions", {
    summary: "The sandbox's assumptions",
    response: responses.Assumptions,
    run: ({ sandbox }) => viewAssumptions(sandbox),
  }),
  controlRoute("PUT /assumptions", {
    summary: "Changes the given assumptions; a profile sets all others",
    body: "assumptions_change",
    response: responses.Assumptions,
    run({ sandbox, body }) {
      operations.assumptions(sandbox, body as AssumptionsInput);
      return viewAssumptions(sandbox);
    },
  }),
  controlRoute("GET /profiles", {
    summary: "Each assumption: its values, and its value in each profile",
    response: s.list(responses.AssumptionRow),
    kind: "local",
    run: () => Object.entries(assumptionTable).map(profileRow),
  }),
  controlRoute("GET /faults", {
    summary: "The active faults; times in them are instants",
    response: s.list(responses.Fault),
    run: ({ sandbox }) => describeFaults(sandbox.faults),
  }),
  controlRoute("PUT /faults", {
    summary: "Replaces the active faults; durations in them count from now",
    grows: true,
    body: "faults_change",
    response: s.list(responses.Fault),
    run({ sandbox, body }) {
      operations.faults(sandbox, body.faults as Fault[]);
      return describeFaults(sandbox.faults);
    },
  }),
];

/** Positions of events start again with the process; `started` tells them apart. */
function revisionOf(
  sandbox: SandboxState,
  instances: Instances | undefined,
  { started, store }: Server,
): string {
  const { isFull, problem, broken = [] } = store.status() ?? {};
  const loaded = instances?.loaded() ?? [];
  // As long as the number and the latest one are the same, no instance was added or removed, and the sum only grows.
  const ofInstances = [
    instances?.count(),
    loaded.at(-1)?.id,
    loaded.reduce((sum, instance) => sum + instance.sandbox.history.latest(), 0),
  ];
  return [
    started,
    sandbox.history.latest(),
    nextChangeAt(sandbox),
    sandbox.counters.unread(),
    ...ofInstances,
    isFull && "full",
    problem && "unwritable",
    broken.length,
    store.memory().isFull && "memory",
  ].join(" ");
}

const { properties: assumptionSchemas } = controlBodySchema("assumptions_change") as {
  readonly properties: Readonly<Record<string, { readonly description?: string }>>;
};

function profileRow([name, { minimal, typical = minimal }]: [string, AssumptionDefinition<unknown>]) {
  const { description: _, ...schema } = assumptionSchemas[name] ?? {};
  const { meaning, gap } = words[name as keyof Assumptions];
  const varied = variationTable.some(({ fixedBy }) => fixedBy === name);
  return { assumption: name, meaning, gap, schema, minimal, typical, varied };
}

function summaryOf({ name, seed, clock }: SandboxState) {
  return { scenario: name, seed, now: viewClock(clock).now };
}

/** Shows the running scenario. Only a sent scenario has warnings, one for each step with an unexpected result. */
export function running(sandbox: SandboxState) {
  return { ...summaryOf(sandbox), warnings: [] };
}

function stateOf<const Good extends string>(
  { isFull, problem }: StoreStatus,
  good: Good,
): Good | "full" | "unwritable" {
  if (isFull) return "full";
  return problem === undefined ? good : "unwritable";
}
