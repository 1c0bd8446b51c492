import { snakeCase } from "../../api/snake-case.js";
import { SandboxError } from "../../domain/errors.js";
import { starterOf } from "../../library/create-sandbox.js";
import { isoOf } from "../../sandbox/clock.js";
import { describeFaults, type Fault } from "../../sandbox/faults.js";
import { operations } from "../../sandbox/operations/operations.js";
import type { AssumptionsInput } from "../../sandbox/operations/world.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { viewClock, viewKeys, viewOrganizations } from "../../sandbox/views.js";
import type { World } from "../../sandbox/world.js";
import { bundledScenarios, isScenarioName, scenarioNames, scenarioNotFound } from "../../scenario/bundled.js";
import { parseScenario, placeOf } from "../../scenario/parse-scenario.js";
import { populatedKeys } from "../../scenario/population.js";
import type { Path } from "../../scenario/problems/scenario-error.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { withStory } from "../../scenario/stories.js";
import { version } from "../package-files.js";
import { nodePlatform } from "../platform.js";
import { rehearsalProblems } from "../rehearsal.js";
import { listOf, one } from "./answer-schemas.js";
import { scenarioFields } from "./refusals.js";
import { type Route, route } from "./route.js";

/** The world as a whole: its state, clock, assumptions, faults and scenario. */
export const worldRoutes: readonly Route[] = [
  route("GET /health", {
    summary: "Status and version; with the control token, where one is needed, also the scenario",
    answer: one("Health"),
    isBare: true,
    run: ({ world, server, response }) => ({
      status: "ok",
      version,
      ...(response.locals.mayKnowAll && { ...summaryOf(world), started_at: isoOf(server.startedAt) }),
    }),
  }),
  route("GET /state", {
    summary: "The whole world: organizations, keys, clock, assumptions",
    answer: one("State"),
    run: ({ world }) => ({
      scenario: world.name,
      seed: world.seed,
      clock: viewClock(world.clock),
      assumptions: assumptionsOf(world),
      faults: describeFaults(world.faults),
      organizations: snakeCase(viewOrganizations(world)),
      keys: snakeCase(viewKeys(world)),
    }),
  }),
  route("GET /clock", {
    summary: "The sandbox's clock",
    answer: one("Clock"),
    run: ({ world }) => viewClock(world.clock),
  }),
  route("PUT /clock", {
    summary: "Moves the clock on to a time, freezes it or lets it run",
    body: "clock_change",
    answer: one("Clock"),
    run: ({ world, body }) => operations.clock(world, body),
  }),
  route("POST /clock/advance", {
    summary: "Moves the clock on by a duration",
    body: "clock_advance",
    answer: one("Clock"),
    run: ({ world, body }) => operations.advance(world, body),
  }),
  route("GET /assumptions", {
    summary: "The assumptions where the specification is silent",
    answer: one("Assumptions"),
    run: ({ world }) => assumptionsOf(world),
  }),
  route("PUT /assumptions", {
    summary: "Changes the given assumptions; with a profile, all others become the profile's",
    body: "assumptions_change",
    answer: one("Assumptions"),
    run({ world, body }) {
      operations.assumptions(world, body as AssumptionsInput);
      return assumptionsOf(world);
    },
  }),
  route("GET /faults", {
    summary: "The active faults; times in them are instants",
    answer: listOf("Fault"),
    run: ({ world }) => describeFaults(world.faults),
  }),
  route("PUT /faults", {
    summary: "Replaces the active faults; durations in them count from now",
    body: "faults_change",
    answer: listOf("Fault"),
    run({ world, body }) {
      operations.faults(world, body.faults as Fault[]);
      return describeFaults(world.faults);
    },
  }),
  route("GET /scenarios", {
    summary: "The bundled scenarios",
    answer: listOf("Scenario"),
    run: () =>
      scenarioNames.map((name) => {
        const { name: title = name, description = "" } = bundledScenarios[name];
        return { name, title, description };
      }),
  }),
  route("PUT /scenario", {
    summary: "Starts another scenario: a bundled one by name, or one sent as YAML (application/yaml)",
    body: "scenario_choice",
    answer: one("Running"),
    run({ runtime, body: { name } }) {
      if (!isScenarioName(name)) throw scenarioNotFound(name, "it is not a bundled one");
      return startScenario(runtime, withStory(name), name);
    },
    async runYaml({ runtime, body }) {
      const file = "request body";
      const scenario = parseScenario(body, { file });
      requireQuickStart(scenario);
      const started = startScenario(runtime, scenario, scenario.name ?? "unnamed");
      const placeIn = (path: Path) => placeOf(body, path, { file });
      const problems = await rehearsalProblems({ scenario, name: file }, placeIn, runtime.given);
      return { ...started, warnings: Object.values(scenarioFields(problems)) };
    },
  }),
  route("POST /reset", {
    summary: "Starts the running scenario again",
    answer: one("Running"),
    run({ runtime }) {
      runtime.reset();
      return running(runtime.world());
    },
  }),
];

function summaryOf({ name, seed, clock }: World) {
  return { scenario: name, seed, now: viewClock(clock).now };
}

function assumptionsOf({ assumptions, profile }: World) {
  return { profile, ...assumptions };
}

// Half a second of work, for which every other request has to wait.
const mostPopulatedKeys = 20_000;

/** Throws `validation_failed` for a scenario whose start would hold up the server: a few bytes ask for a million keys. */
export function requireQuickStart(scenario: Scenario): void {
  const keys = populatedKeys(scenario);
  if (keys <= mostPopulatedKeys) return;
  const message = `population makes ${keys} keys, and a scenario that is sent may make ${mostPopulatedKeys}. Start the server with it to have more.`;
  throw new SandboxError("validation_failed", `Failed to start the scenario: ${message}`, {
    fields: { population: message },
  });
}

// The options of the server's start hold for this scenario, too.
function startScenario(runtime: Runtime, scenario: Scenario, name: string) {
  runtime.exchange(starterOf(nodePlatform, scenario, { ...runtime.given, name }));
  return running(runtime.world());
}

// Warnings name the steps of the timeline and the story that do not come out as they say; only a sent scenario has any.
function running(world: World) {
  return { ...summaryOf(world), warnings: [] };
}
