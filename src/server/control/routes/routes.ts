import { listUpcoming, nextChangeAt } from "../../../api/lifelines.js";
import { openApiDocument } from "../../../api/openapi.js";
import { variationTable } from "../../../api/variation/table.js";
import { version } from "../../../node/package-files.js";
import { type Assumptions, assumptionTable, profileWords } from "../../../rules/assumptions.js";
import words from "../../../rules/assumptions.json" with { type: "json" };
import { isoTime } from "../../../rules/time.js";
import { defaultFarmerPage } from "../../../sandbox/farmer-records/farmer-list.js";
import { type Fault, writtenFaults } from "../../../sandbox/faults.js";
import { advanceClock, changeClock, changeFaults } from "../../../sandbox/operations/operations.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { viewAssumptions, viewClock, viewKeys, viewOrganizations } from "../../../sandbox/views.js";
import { assumptionsSchema } from "../../../scenario/format/faults-and-assumptions.js";
import { jsonSchemaOf } from "../../../schema/json-schema.js";
import * as s from "../../../schema/shape.js";
import { membersToSnakeCase } from "../../../schema/spelling.js";
import { localsOf } from "../access.js";
import { HttpError } from "../control-errors.js";
import { pageRoutes } from "../page.js";
import type { ControlServer, Route } from "../route.js";
import { controlRoute, dataResult } from "../route.js";
import { keyRoutes, pageFields } from "./keys.js";
import { requestRoutes } from "./requests.js";
import { scenarioRoutes, scenarioSummary } from "./scenario.js";
import { storyRoutes } from "./story.js";

/** The JSON Schema of each assumption. */
const { properties: assumptionSchemas } = jsonSchemaOf(assumptionsSchema) as {
  readonly properties: Readonly<Record<string, unknown>>;
};

export const routes: readonly Route[] = [
  controlRoute("GET /revision", {
    summary: "A text that differs once another call shows a change, except of a running clock",
    run({ sandbox, server }) {
      requireReady(server);
      return dataResult(revisionOf(sandbox, server));
    },
  }),
  controlRoute("GET /health", {
    summary: "Status and version; with any required control token, also the scenario",
    run({ sandbox, server, response }) {
      const health = { status: "ok", version, ...stateOfFile(server) };
      if (!localsOf(response).isAdmitted) return { kind: "json", status: 200, json: health };

      const started_at = isoTime(server.startedAt);
      return { kind: "json", status: 200, json: { ...health, ...scenarioSummary(sandbox), started_at } };
    },
  }),
  controlRoute("GET /ready", {
    summary: "Whether to send requests here; 503 not_ready while the server stops",
    run({ server }) {
      requireReady(server);
      const json = { status: "ready", version, ...stateOfFile(server) };
      return { kind: "json", status: 200, json };
    },
  }),
  controlRoute("GET /state", {
    summary:
      "The sandbox's state: organizations, keys, clock, assumptions; `changed`: whether a user has changed it",
    run: ({ sandbox }) =>
      dataResult({
        scenario: sandbox.name,
        seed: sandbox.seed,
        changed: sandbox.isChangedByUser,
        clock: viewClock(sandbox.clock),
        assumptions: viewAssumptions(sandbox),
        faults: writtenFaults(sandbox.faults, sandbox.clock.now()),
        organizations: viewOrganizations(sandbox),
        keys: viewKeys(sandbox),
      }),
  }),
  controlRoute("GET /clock", {
    summary: "The sandbox's clock",
    run: ({ sandbox }) => dataResult(viewClock(sandbox.clock)),
  }),
  controlRoute("PUT /clock", {
    summary: "Moves the clock forward, freezes it or starts it",
    body: "clock_change",
    run: ({ sandbox, body }) => dataResult(changeClock(sandbox, body)),
  }),
  controlRoute("POST /clock/advance", {
    summary: "Moves the clock forward by a duration",
    body: "clock_advance",
    run: ({ sandbox, body }) => dataResult(advanceClock(sandbox, body)),
  }),
  controlRoute("GET /upcoming", {
    summary: "The next events that time causes, earliest first, up to 100",
    run: ({ sandbox }) => dataResult(listUpcoming(sandbox)),
  }),
  controlRoute("GET /assumptions", {
    summary: "The sandbox's assumptions",
    run: ({ sandbox }) => dataResult(viewAssumptions(sandbox)),
  }),
  controlRoute("GET /profiles", {
    summary: "The profiles, and the values of each assumption",
    run() {
      const assumptions = [];
      for (const [name, { minimal, typical = minimal }] of Object.entries(assumptionTable)) {
        const { meaning, gap } = words[name as keyof Assumptions];
        const schema = assumptionSchemas[name];
        const varied = variationTable.some((row) => row.assumption === name);
        assumptions.push({ assumption: name, meaning, gap, schema, minimal, typical, varied });
      }
      const data = { profiles: profileWords, assumptions };
      return { kind: "json", status: 200, json: { data } };
    },
  }),
  controlRoute("GET /faults", {
    summary: "The faults that may still hit a request; times in them are instants",
    run: ({ sandbox }) => dataResult(writtenFaults(sandbox.faults, sandbox.clock.now())),
  }),
  controlRoute("PUT /faults", {
    summary: "Replaces the active faults; durations in them count from now",
    body: "faults_change",
    run({ sandbox, body }) {
      changeFaults(sandbox, body.faults as Fault[]);
      return dataResult(writtenFaults(sandbox.faults, sandbox.clock.now()));
    },
  }),
  ...scenarioRoutes,
  ...keyRoutes,
  ...requestRoutes,
  controlRoute("GET /farmers", {
    summary: "The synthetic farmers",
    query: s.mapping(pageFields(defaultFarmerPage)),
    run({ sandbox: { farmers }, query }) {
      const { offset = 0, limit = defaultFarmerPage } = query;
      const data = membersToSnakeCase(farmers.list({ offset, limit }));
      return { kind: "json", status: 200, json: { data, total: farmers.count } };
    },
  }),
  controlRoute("GET /farmers/{farmer_id}", {
    summary: "One synthetic farmer",
    run: ({ sandbox, params }) => dataResult(sandbox.farmers.get(params.farmer_id)),
  }),
  ...storyRoutes,
  controlRoute("POST /stop", {
    summary: "Stops the server",
    changes: false,
    run({ sandbox, server, response }) {
      // The caller must get this response before the server stops.
      response.once("close", server.stop);
      return dataResult({ scenario: sandbox.name, seed: sandbox.seed, startedAt: isoTime(server.startedAt) });
    },
  }),
  controlRoute("GET /openapi.json", {
    summary: "The OpenAPI document of the relying-party API",
    run: () => ({ kind: "json", status: 200, json: openApiDocument() }),
  }),
  ...pageRoutes,
];

/** Throws `not_ready` once the server stops. */
function requireReady({ stopping }: ControlServer): void {
  if (stopping.aborted) throw new HttpError("not_ready", "The sandbox is stopping.");
}

/** A text that differs once a view differs: by an event, by time, by a response that was not read, or by a failed save. */
function revisionOf(sandbox: SandboxState, { startId, options }: ControlServer): string {
  const { journal, counters } = sandbox;
  const isUnwritable = options.stateFile?.isUnwritable() ?? false;
  // The numbers of events start again with the process.
  return [startId, journal.latestNumber(), nextChangeAt(sandbox), counters.unread(), isUnwritable].join(" ");
}

/** Whether the last save in the state file worked, which the latest requests may have come after; nothing without such a file. */
function stateOfFile({ options }: ControlServer): { readonly state?: "saved" | "unwritable" } {
  const { stateFile } = options;
  if (stateFile === undefined) return {};
  return { state: stateFile.isUnwritable() ? "unwritable" : "saved" };
}
