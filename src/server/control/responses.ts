import { checkShape, requestDetailsShape, responseShape } from "../../api/request-details.js";
import { reportShape } from "../../report/report-shape.js";
import type { Assumptions, Profile } from "../../rules/assumptions.js";
import { effectEnds, effectValues, faultKinds } from "../../rules/fault-effects.js";
import type { InJson } from "../../rules/schema/json.js";
import type { Shape, ValueOf } from "../../rules/schema/shape.js";
import * as s from "../../rules/schema/shape.js";
import { stepKinds } from "../../rules/steps.js";
import { farmerShape } from "../../sandbox/population/farmer-shape.js";
import { viewShapes } from "../../sandbox/view-shapes.js";
import { assumptionsSchema, faultSchema } from "../../scenario/format/steps.js";

// The responses of the control plane. Every member is always present, except in faults, which have the given members.

const { pathId, fault } = viewShapes.request.fields;
const headers = s.record(s.text());
const named = <Shapes>(shapes: Shapes): Shapes => shapes;

const running = { scenario: s.text(), seed: s.count() };
const step = { kind: s.choice(stepKinds), say: s.nullable(s.text()) };
const progress = { steps: s.count(), done: s.count(), over: s.flag() };

// The same members as in requests, but always all of them.
const assumptions = Object.entries(s.fieldsOf(assumptionsSchema) ?? {}).map(
  ([name, field]) => [name, s.shapeOf(field)] as const,
);

const { runs: _, ...reportOfOneRun } = reportShape.fields;

const records = {
  Key: viewShapes.key,
  Organization: viewShapes.organization,
  Clock: viewShapes.clock,
  Upcoming: viewShapes.upcoming,
  Assumptions: s.mapping(Object.fromEntries(assumptions)) as Shape as Shape<
    Assumptions & { readonly profile: Profile }
  >,
  Fault: faultSchema,
  Request: viewShapes.request,
  Farmer: farmerShape,
};

const ListedKey = s.mapping({
  ...viewShapes.key.fields,
  // Computed as in `explain`, without a request.
  nextRequest: s.mapping({
    status: s.count(),
    pathId,
    verdict: s.text(),
    /** When a limit resets and the key gets 200 again; otherwise `null`. */
    until: s.orNull(s.instant()),
  }),
});

const page = <Record>(one: Shape<Record>) => s.mapping({ data: s.list(one), total: s.count() });

const { StepResult } = named({
  StepResult: s.mapping({
    number: s.count(),
    of: s.count(),
    ...step,
    request: s.orNull(
      s.mapping({
        method: s.text(),
        path: s.text(),
        key: s.text(),
        headers,
        body: s.nullable(s.text()),
        times: s.count(),
      }),
    ),
    response: s.orNull(s.mapping({ ...responseShape.fields, code: s.nullable(s.text()), pathId, fault })),
    performed: s.orNull(
      s.mapping({
        rejection: s.orNull(s.mapping({ code: s.text(), message: s.text() })),
        key: s.orNull(records.Key),
        replacement: s.orNull(records.Key),
        secret: s.nullable(s.text()),
        organization: s.orNull(records.Organization),
      }),
    ),
    failure: s.orNull(s.mapping({ code: s.text(), message: s.text() })),
    text: s.nullable(s.text()),
    meanwhile: s.list(
      s.mapping({
        timelineStep: s.count(),
        at: s.instant(),
        text: s.text(),
        rejection: s.nullable(s.text()),
        message: s.nullable(s.text()),
      }),
    ),
    now: s.instant(),
    differences: s.list(s.mapping({ at: s.text(), expected: s.text(), found: s.text() })),
  }),
});

export const responses = {
  ...records,
  ListedKey,
  StepResult,
  ...named({
    ChangedKey: s.mapping({ key: records.Key }),
    IssuedKey: s.mapping({ key: records.Key, secret: s.text() }),
    FarmerPage: page(records.Farmer),
    /** `created`: the number of keys that are not in the scenario. */
    KeyPage: s.mapping({ data: s.list(ListedKey), total: s.count(), created: s.count() }),
    OrganizationPage: page(records.Organization),
    Directory: s.mapping({
      sections: s.list(
        s.mapping({
          organization: records.Organization,
          /** The numbers of its active keys (R32). */
          active: s.mapping({ test: s.count(), live: s.count() }),
          keys: s.list(ListedKey),
        }),
      ),
      /** The number of keys that match, also of those above the limit. */
      matching: s.count(),
      total: s.count(),
    }),
    AssumptionRow: s.mapping({
      assumption: s.text(),
      meaning: s.text(),
      gap: s.text(),
      schema: s.record(s.anything()),
      minimal: s.anything(),
      typical: s.anything(),
      varied: s.flag(),
    }),
    RequestDetails: requestDetailsShape,
    Secret: s.mapping({ secret: s.text() }),
    Sent: s.mapping({ request: records.Request, response: s.orNull(responseShape) }),
    RequestChecks: s.mapping({
      checks: s.list(s.mapping({ ...checkShape.fields, exits: s.list(pathId) })),
      successes: s.list(pathId),
      faults: s.list(pathId),
      effects: s.list(
        s.mapping({
          effect: s.choice(faultKinds),
          value: s.choice(effectValues),
          onlyDelays: s.flag(),
          ends: s.choice(effectEnds),
          does: s.text(),
        }),
      ),
    }),
    Report: s.mapping({
      ...reportOfOneRun,
      /** With `story`: the numbers of requests of the story and of `POST /send` in the journal, by path id. */
      fromStory: s.optional(s.record(s.count())),
      /** With `story`: the numbers of requests in the journal, by path id, and of those with advice, by advice id. */
      inJournal: s.optional(s.record(s.count())),
    }),
    Story: s.mapping({
      ...progress,
      /** Of the scenario, in its file. */
      name: s.nullable(s.text()),
      description: s.nullable(s.text()),
      next: s.orNull(s.mapping({ number: s.count(), ...step })),
      outline: s.list(
        s.mapping({
          number: s.count(),
          ...step,
          text: s.nullable(s.text()),
          done: s.flag(),
          asExpected: s.nullable(s.flag()),
        }),
      ),
      last: s.orNull(StepResult),
    }),
    NextStep: s.mapping({ ...progress, step: s.orNull(StepResult) }),
    // `state` exists only with `--state`. The members after it require the control token, if the server has one.
    Health: s.mapping({
      status: s.always("ok"),
      version: s.text(),
      state: s.optional(s.choice(["saved", "unwritable"])),
      scenario: s.optional(s.text()),
      seed: s.optional(s.count()),
      now: s.optional(s.instant()),
      startedAt: s.optional(s.instant()),
    }),
    // `state` exists only with `--state`: requests continue, but changes are not saved.
    Readiness: s.mapping({
      status: s.always("ready"),
      version: s.text(),
      state: s.optional(s.choice(["saved", "unwritable"])),
    }),
    State: s.mapping({
      ...running,
      clock: records.Clock,
      assumptions: records.Assumptions,
      faults: s.list(records.Fault),
      organizations: s.list(records.Organization),
      keys: s.list(records.Key),
    }),
    Scenario: s.mapping({
      name: s.text(),
      title: s.text(),
      description: s.text(),
      // Whether the sandbox was started with it. Only the first one was.
      startedWith: s.flag(),
      // Whether it runs now. None does if a sent scenario runs.
      running: s.flag(),
    }),
    Validation: s.mapping({
      problems: s.list(
        s.mapping({
          // Counted from 1. `null` for a problem of the whole scenario.
          line: s.nullable(s.count()),
          column: s.nullable(s.count()),
          // An error keeps the scenario from starting.
          level: s.choice(["error", "warning"]),
          message: s.text(),
          hint: s.nullable(s.text()),
        }),
      ),
    }),
    Running: s.mapping({ ...running, now: s.instant(), warnings: s.list(s.text()) }),
    /** `keys` are those of another scenario or seed; they appear in no other response. */
    Reset: s.mapping({
      ...running,
      now: s.instant(),
      warnings: s.list(s.text()),
      keys: s.optional(s.record(s.text())),
    }),
    Stopping: s.mapping({ ...running, startedAt: s.instant() }),
    ControlError: s.mapping({
      error: s.mapping({ code: s.text(), message: s.text(), details: s.optional(s.record(s.anything())) }),
    }),
  }),
};

export type ControlResponse<Part extends keyof typeof responses> = InJson<ValueOf<(typeof responses)[Part]>>;
