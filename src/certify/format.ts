import { adviceLevels } from "../domain/advice.js";
import { profiles } from "../domain/assumptions.js";
import { assumptionsSchema } from "../scenario/format/assumptions.js";
import { sha256, time } from "../scenario/format/fields.js";
import {
  choice,
  count,
  described,
  flag,
  list,
  mapping,
  number,
  optional,
  orNull,
  text,
} from "../schema/shape.js";
import { certifyVerdicts, runOutcomes } from "./result.js";

/** The version of the certificate's format: another one when a reader of this one could misread it. */
export const certificateFormat = 2;

// Names are texts, not choices: those of another version of svc-sandbox are no mistake.

const percent = () => described(count({ most: 100 }), "The share of the promised paths, rounded down.");

const cause = mapping({
  sentence: described(text(), "The least that breaks the client, for people."),
  points: described(
    list(
      mapping({
        row: described(text(), "The row of the table of variations."),
        variant: described(text(), "The variant of that row."),
        status: described(count(), "The status of the varied answers."),
      }),
    ),
    "The varied points that break the client together; none when a fault alone does.",
  ),
  fault: optional(described(text(), "The fault that breaks the client.")),
  path_id: optional(described(text(), "The path on which the client fails, when it is one alone.")),
});

const run = mapping({
  name: described(text(), "The name of the run; no two have the same."),
  profile: described(choice(profiles), "The profile of the sandbox."),
  seed: described(count(), "The seed of the sandbox."),
  fault: optional(described(text(), "The fault that was injected.")),
  outcome: described(choice(runOutcomes), "flaky: the same run passed once and failed once."),
  code: described(orNull(number()), "The exit code; null when there is none."),
  duration_ms: described(count(), "The real time that it took, in milliseconds."),
  requests: described(count(), "The number of requests of the client."),
  percent: percent(),
  last_request: optional(
    described(
      mapping({
        id: described(text(), "The request id."),
        path_id: described(text(), "The path on which it ended."),
        status: described(count(), "The status of the answer; 0: a fault left none."),
      }),
      "The last request before the client ended.",
    ),
  ),
  cause: optional(described(cause, "Why the run failed, narrowed down.")),
});

const world = {
  scenario: described(text(), "The name of the scenario."),
  seed: described(count(), "The seed."),
  profile: described(choice(profiles), "The profile."),
  pinned: described(list(text()), "The assumptions that the scenario sets itself."),
};

const share = {
  met: described(count(), "The number of those met."),
  total: described(count(), "The number of all."),
};

const request = mapping({
  id: described(text(), "The request id."),
  at: described(text(), "The time on the sandbox's clock."),
  method: described(text(), "The method."),
  path: described(text(), "The path, without keys."),
  key: described(orNull(text()), "The ref of the key."),
  fingerprint: described(orNull(text()), "The fingerprint of the key."),
  did_you_mean: described(orNull(text()), "The nearest method or path that the API has."),
});

const report = mapping({
  ...world,
  runs: optional(described(list(mapping(world)), "The worlds of the runs.")),
  requests: described(count(), "The number of requests in all runs."),
  unread: described(count(), "The number of delayed answers that the client did not wait for."),
  coverage: described(
    mapping({ percent: percent(), met: share.met, promised: share.total }),
    "The promised paths that some run has met.",
  ),
  faults: described(mapping(share), "The kinds of faults that some run has met."),
  preview: described(
    orNull(mapping(share)),
    "The paths of the preview that some run has met; null without one.",
  ),
  paths: described(
    list(
      mapping({
        path_id: described(text(), "The path."),
        promised: described(flag(), "Whether the specification promises it."),
        met: described(flag(), "Whether some run has met it."),
        count: described(count(), "The number of requests that ended there."),
        preview_count: described(count(), "The number of those to endpoints of the preview."),
        when: described(text(), "The requests that end there."),
        how_to_meet: described(
          orNull(text()),
          "How to meet it; null when it was met, or nothing certain leads there.",
        ),
      }),
    ),
    "Every path.",
  ),
  advice: described(
    list(
      mapping({
        id: described(text(), "The advice."),
        level: described(choice(adviceLevels), "How serious it is."),
        rule: described(text(), "The rules behind it."),
        count: described(count(), "The number of requests that earned it."),
        meaning: described(text(), "What happened."),
        what_to_do: described(text(), "What to do."),
        examples: described(list(request), "The first of those requests."),
      }),
    ),
    "What the client should do better.",
  ),
});

/** A certificate as a file: its JSON Schema is made from this, and what is read is checked by it. */
export const certificateShape = mapping({
  svc_sandbox_certificate: described(choice([certificateFormat]), "The version of this format."),
  verdict: described(
    choice(certifyVerdicts),
    "passed: every run. failed: some run. flaky: some run passed once and failed once. unusable: nothing can be said of the client, since its baseline does not pass.",
  ),
  scenario: described(text(), "The name of the scenario, or its file as it was given."),
  scenario_digest: described(sha256(), "SHA-256 in hex of the scenario as JSON with sorted members."),
  specification: described(text(), "The version of the API's specification."),
  sandbox: described(text(), "The version of svc-sandbox."),
  client_version: optional(described(text(), "The version of the client, as the caller gave it.")),
  command: described(list(text()), "The client's program and its arguments, without keys."),
  seeds: described(list(count()), "The seeds of the runs with varied answers."),
  faults: described(list(text()), "The faults that were tried, each in a run of its own."),
  like: optional(
    described(assumptionsSchema, "The assumptions of the baseline, learned from a real environment."),
  ),
  started_at: described(time(), "The real time at which the first run began."),
  duration_ms: described(count(), "The real time that all runs took, in milliseconds."),
  runs: described(list(run), "Every run, in the order of the plan."),
  report: described(report, "Coverage and advice over all runs."),
});
