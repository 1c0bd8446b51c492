import fc from "fast-check";
import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { nextRequest } from "../../src/api/next-request.js";
import { runNextStep } from "../../src/api/story/run-story.js";
import { createSandbox } from "../../src/index.js";
import { startInNode } from "../../src/node/platform.js";
import { clientReport } from "../../src/report/report.js";
import { advanceClock } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { type Command, command, endpoints, modelScenario, start } from "../model/commands.js";
import { create, type Model, respond, revoke, rotate } from "../model/specification-model.js";
import { carryOut, played } from "../model/transcript.js";
import { runs } from "../support/property-seed.js";
import { asked, mePath } from "../support/send.js";

const key = {
  organization: "bank",
  environment: "test",
  scopes: ["attestations:read"],
  perMinute: 60,
  perDay: 1000,
  expires: null,
  revoked: null,
  overlapEnds: null,
  created: null,
} as const;

const earlier = start - 60_000;

function openModel(): Model {
  return {
    now: start,
    endpoints,
    organizations: {
      bank: { active: true, live: "approved", sandboxAccess: true },
      insurer: { active: true, live: "not_approved", sandboxAccess: true },
    },
    keys: {
      a: { ...key, perMinute: 2, perDay: 3, counted: [] },
      b: { ...key, environment: "live", expires: start + 90_000, counted: [] },
      ...{ g: { ...key, counted: [] }, h: { ...key, counted: [] }, i: { ...key, counted: [] } },
      c: { ...key, organization: "insurer", scopes: ["consents:read"], counted: [] },
      d: { ...key, organization: "insurer", environment: "live", counted: [] },
      j: { ...key, organization: "insurer", perMinute: 0, perDay: 2, counted: [earlier, earlier] },
      k: { ...key, organization: "insurer", perMinute: 1, perDay: 0, counted: [start] },
      l: { ...key, organization: "insurer", perMinute: 0, perDay: 1, counted: [] },
    },
  };
}

function isoTimeOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** What the model says of a command: of a request its response, of a rejected operation its code. */
function modeled(model: Model, step: Command): unknown {
  switch (step.do) {
    case "request":
      return respond(model, step.key, step.method, step.path);
    case "advance":
      model.now += step.by;
      return null;
    case "revoke":
      return revoke(model, step.key);
    case "rotate":
      return rotate(model, step.key, step.as, step.overlap);
    case "create": {
      const { ref, organization, environment, scopes } = step;
      return create(model, ref, { organization, environment, scopes, perMinute: 60, perDay: 1000 });
    }
    case "organization": {
      const { ref, active, live, sandboxAccess } = step;
      model.organizations[ref] = { active, live, sandboxAccess };
      return null;
    }
  }
}

/** The same of what the sandbox said. */
function said(step: Command, result: unknown): unknown {
  if (step.do !== "request") return (result as { code?: string }).code ?? null;
  const { status, body } = result as { status: number; body: string };
  const { data, error } = body === "" ? {} : JSON.parse(body);
  const { limit = null, retry_after_seconds: retryAfter = null } = error?.details ?? {};
  return { status, code: error?.code ?? null, today: data?.usage.today ?? null, limit, retryAfter };
}

test("R6 R9 R12 R13 R18–R26 R29–R32 R37–R43 any sequence of events goes as in the model of the specification", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 30 }), async (steps) => {
      const model = openModel();
      const game = played(createSandbox({ scenario: modelScenario() }));
      for (const step of steps) {
        const expected = modeled(model, step);
        expect(said(step, await carryOut(game, step))).toEqual(expected);
      }
      expect(Date.parse(game.sandbox.clock.now())).toBe(model.now);
      const created = Object.entries(model.keys).map(([ref, { created }]) => [ref, isoTimeOrNull(created)]);
      const shown = game.sandbox.keys.list().map(({ ref, createdAt }) => [ref, createdAt]);
      expect(shown.sort()).toEqual(created.sort());
    }),
    runs(400),
  );
});

/** What a scenario can do at its start, as a step of a timeline. */
const startStep = command.filter(
  (step) => step.do === "revoke" || step.do === "rotate" || step.do === "organization",
);

/** The command as a step that is due when the clock starts. */
function dueAtStart(step: Command) {
  switch (step.do) {
    case "revoke":
      return { at: "0s", revoke: { key: step.key } };
    case "rotate":
      return { at: "0s", rotate: { key: step.key, as: step.as, overlap: `${step.overlap / 1000}s` } };
    case "organization": {
      const { ref, active, live, sandboxAccess } = step;
      const status = active ? "active" : "inactive";
      return { at: "0s", organization: { ref, status, live_access: live, sandbox_access: sandboxAccess } };
    }
    default:
      throw new Error(`${step.do} is no step of a timeline here`);
  }
}

/** What may be the first to read or change a sandbox. None of them changes what keys get. */
const firstReader = fc.constantFrom<(sandbox: SandboxState) => unknown>(
  (sandbox) => handle(sandbox, asked({})),
  (sandbox) => clientReport(sandbox),
  (sandbox) => runNextStep(sandbox),
  (sandbox) => advanceClock(sandbox, { by: 0 }),
);

test("R12 R18–R20 R38 R40 R41 a sandbox that has started has run what is due, as the model, whoever reads it first", () => {
  fc.assert(
    fc.property(fc.array(startStep, { minLength: 1, maxLength: 6 }), firstReader, (steps, read) => {
      const model = openModel();
      for (const step of steps) modeled(model, step);
      const scenario = { ...modelScenario(), timeline: steps.map(dueAtStart) } as Scenario;
      const sandbox = startInNode({ scenario, name: "model" });
      read(sandbox);
      const shown = Array.from(sandbox.registry.keys.keys(), (ref) => [
        ref,
        nextRequest(sandbox, ref).status,
      ]);
      const expected = Object.keys(model.keys).map((ref) => [ref, respond(model, ref, "GET", mePath).status]);
      expect(shown.sort()).toEqual(expected.sort());
    }),
    runs(200),
  );
});
