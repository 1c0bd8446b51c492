import { checkShape, requestDetailsShape, responseShape } from "../../api/request-details.js";
import { reportShape } from "../../report/report-shape.js";
import { farmerShape } from "../../sandbox/population/farmer-shape.js";
import {
  clockShape,
  keyShape,
  organizationShape,
  recordShape,
  requestShape,
  upcomingShape,
} from "../../sandbox/view-shapes.js";
import { descriptionOf } from "../../scenario/format/json-schema.js";
import { assumptionsSchema, faultSchema } from "../../scenario/format/steps.js";
import type { Assumptions, Profile } from "../../spec/assumptions.js";
import { effectEnds, effectValues, faultKinds } from "../../spec/fault-effects.js";
import type { InJson } from "../../spec/schema/json.js";
import {
  always,
  anything,
  choice,
  count,
  described,
  fieldsOf,
  flag,
  instant,
  list,
  mapping,
  nullable,
  number,
  optional,
  orNull,
  record,
  type Shape,
  shapeOf,
  text,
  type ValueOf,
} from "../../spec/schema/shape.js";
import { stepKinds } from "../../spec/steps.js";

// The responses of the control plane. Every member is always present, except in faults, which have the given members.

/** Names parts, so that documents and other parts can refer to them. */
function named<const Of extends Readonly<Record<string, Shape>>>(parts: Of): Of {
  return Object.fromEntries(Object.entries(parts).map(([part, shape]) => [part, { ...shape, part }])) as Of;
}

const { pathId, fault } = requestShape.fields;
const headers = record(text());
const running = { scenario: text(), seed: count() };
const step = { kind: choice(stepKinds), say: nullable(text()) };
const progress = { steps: count(), done: count(), over: flag() };

const instance = {
  id: text(),
  baseUrl: text(),
  controlUrl: text(),
  ...running,
  label: nullable(text()),
  createdAt: instant(),
  // `null`: after the server's idle time.
  expiresAt: orNull(instant()),
  requestsPerMinute: nullable(count()),
};
const ownInstance = { ...instance, keys: record(text()), token: text() };

// The same members as in requests, but always all of them.
const assumptions = Object.entries(fieldsOf(assumptionsSchema) ?? {}).map(
  ([name, field]) => [name, shapeOf(field)] as const,
);

const { runs: _, ...reportOfOneRun } = reportShape.fields;

const records = named({
  Key: keyShape,
  Organization: organizationShape,
  Record: recordShape,
  Clock: clockShape,
  Upcoming: upcomingShape,
  Assumptions: mapping(Object.fromEntries(assumptions)) as Shape as Shape<
    Assumptions & { readonly profile: Profile }
  >,
  Fault: described(faultSchema, descriptionOf(faultSchema) ?? ""),
  Request: requestShape,
  Farmer: farmerShape,
});

const { ListedKey } = named({
  ListedKey: mapping({
    ...keyShape.fields,
    // Computed as in `explain`, without a request.
    nextRequest: mapping({
      status: count(),
      pathId,
      verdict: text(),
      /** When a limit resets and the key gets 200 again; otherwise `null`. */
      until: orNull(instant()),
    }),
  }),
});

const page = <Record>(one: Shape<Record>) => mapping({ data: list(one), total: count() });

const { StepResult } = named({
  StepResult: mapping({
    number: count(),
    of: count(),
    ...step,
    request: orNull(
      mapping({ method: text(), path: text(), key: text(), headers, body: nullable(text()), times: count() }),
    ),
    response: orNull(mapping({ ...responseShape.fields, code: nullable(text()), pathId, fault })),
    performed: orNull(
      mapping({
        rejection: orNull(mapping({ code: text(), message: text() })),
        key: orNull(records.Key),
        replacement: orNull(records.Key),
        secret: nullable(text()),
        organization: orNull(records.Organization),
        record: orNull(records.Record),
      }),
    ),
    failure: orNull(mapping({ code: text(), message: text() })),
    text: nullable(text()),
    meanwhile: list(
      mapping({
        timelineStep: count(),
        at: instant(),
        text: text(),
        rejection: nullable(text()),
        message: nullable(text()),
      }),
    ),
    now: instant(),
    differences: list(mapping({ at: text(), expected: text(), found: text() })),
  }),
});

export const responses = {
  ...records,
  ListedKey,
  StepResult,
  ...named({
    ChangedKey: mapping({ key: records.Key }),
    IssuedKey: mapping({ key: records.Key, secret: text() }),
    RecordPage: page(records.Record),
    Collection: mapping({
      collection: text(),
      records: count(),
      /** Its operation ids, by what they do. */
      operations: record(text()),
      moves: list(text()),
    }),
    FarmerPage: page(records.Farmer),
    /** `created`: the number of keys that are not in the scenario. */
    KeyPage: mapping({ data: list(ListedKey), total: count(), created: count() }),
    OrganizationPage: page(records.Organization),
    Directory: mapping({
      sections: list(
        mapping({
          organization: records.Organization,
          /** The numbers of its active keys (R32), on all pages. */
          active: mapping({ test: count(), live: count() }),
          /** Whether it starts on the previous page. */
          isContinued: flag(),
          keys: list(ListedKey),
        }),
      ),
      /** The positions of the first and last key of the page among the matching keys. */
      first: count(),
      last: count(),
      matching: count(),
      total: count(),
      page: count(),
      pages: count(),
    }),
    AssumptionRow: mapping({
      assumption: text(),
      meaning: text(),
      gap: text(),
      schema: record(anything()),
      minimal: anything(),
      typical: anything(),
      varied: flag(),
    }),
    RequestDetails: requestDetailsShape,
    Secret: mapping({ secret: text() }),
    Sent: mapping({ request: records.Request, response: orNull(responseShape) }),
    RequestChecks: mapping({
      checks: list(mapping({ ...checkShape.fields, exits: list(pathId) })),
      successes: list(pathId),
      faults: list(pathId),
      effects: list(
        mapping({
          effect: choice(faultKinds),
          value: choice(effectValues),
          onlyDelays: flag(),
          ends: choice(effectEnds),
          does: text(),
        }),
      ),
    }),
    Report: mapping({
      ...reportOfOneRun,
      /** With `story`: the numbers of requests of the story and of `POST /send` in the journal, by path id. */
      fromStory: optional(record(count())),
      /** With `story`: the numbers of requests in the journal, by path id, and of those with advice, by advice id. */
      inJournal: optional(record(count())),
      /** With `own`: the requests of instances, and how many instances have some. */
      instances: optional(mapping({ requests: count(), used: count() })),
    }),
    Story: mapping({
      ...progress,
      /** Of the scenario, in its file. */
      name: nullable(text()),
      description: nullable(text()),
      next: orNull(mapping({ number: count(), ...step })),
      outline: list(
        mapping({
          number: count(),
          ...step,
          text: nullable(text()),
          done: flag(),
          asExpected: nullable(flag()),
        }),
      ),
      last: orNull(StepResult),
    }),
    NextStep: mapping({ ...progress, step: orNull(StepResult) }),
    // `store` exists only with a shared store. The other optional members require the control token, if the server has one.
    Health: mapping({
      status: always("ok"),
      version: text(),
      store: optional(choice(["reachable", "unreachable", "full", "unwritable"])),
      state: optional(choice(["saved", "full", "unwritable"])),
      scenario: optional(text()),
      seed: optional(count()),
      now: optional(instant()),
      startedAt: optional(instant()),
      /** Only of an instance. */
      label: optional(nullable(text())),
    }),
    // `state` exists only with `--state`: requests continue, but changes are not saved.
    Readiness: mapping({
      status: always("ready"),
      version: text(),
      memory: choice(["free", "full"]),
      state: optional(choice(["saved", "full", "unwritable"])),
      /** Instances whose file cannot be read: their requests get 500. Left out for none. */
      brokenInstances: optional(count()),
    }),
    State: mapping({
      ...running,
      clock: records.Clock,
      assumptions: records.Assumptions,
      faults: list(records.Fault),
      organizations: list(records.Organization),
      keys: list(records.Key),
    }),
    Scenario: mapping({ name: text(), title: text(), description: text() }),
    Validation: mapping({
      problems: list(
        mapping({
          // Counted from 1. `null` for a problem of the whole scenario.
          line: nullable(count()),
          column: nullable(count()),
          // An error keeps the scenario from starting.
          level: choice(["error", "warning"]),
          message: text(),
          hint: nullable(text()),
        }),
      ),
    }),
    Running: mapping({ ...running, now: instant(), warnings: list(text()) }),
    Stopping: mapping({ ...running, startedAt: instant() }),
    Instance: mapping({ ...ownInstance, claimUrl: text() }),
    ClaimedInstance: mapping({
      ...ownInstance,
      /** The variables for its clients, as of `exec`. */
      environment: record(text()),
    }),
    InstanceLink: mapping({ claimUrl: text() }),
    InstancePage: mapping({
      data: list(
        mapping({
          ...instance,
          idleSeconds: count(),
          /** `null` for an instance that this server has not loaded. */
          traffic: orNull(
            mapping({
              requests: count(),
              /** The requests that did not get 2xx. */
              errors: count(),
              /** The covered share of the promised paths, in percent. */
              coverage: count(),
              lastPathId: nullable(pathId),
            }),
          ),
        }),
      ),
      total: count(),
      /** Instances whose file cannot be read: their requests get 500. Left out for none. */
      broken: optional(list(mapping({ id: text(), reason: text() }))),
      /** An instance without an expiry is removed after this time without requests. */
      idleLimitSeconds: number(),
    }),
    ControlError: mapping({
      error: mapping({ code: text(), message: text(), details: optional(record(anything())) }),
    }),
  }),
};

export type ControlResponse<Part extends keyof typeof responses> = InJson<ValueOf<(typeof responses)[Part]>>;
