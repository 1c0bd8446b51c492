import { z } from "zod/mini";
import { type FailureStatus, failures } from "../../domain/fault.js";
import { apiPathIds } from "../../domain/outcomes.js";
import { choice, count, flag, ref, timeOrDuration, wait } from "./fields.js";

const mostFaults = 100;
const mostRequests = 1000;

// More than an hour is what `hang` is for.
const longestLatency = 60 * 60_000;
const latencyTime = (description: string) => wait(longestLatency, description);

const latency = z
  .union([
    latencyTime("Always this long."),
    z.strictObject({
      min: latencyTime("At least this long."),
      max: latencyTime("At most this long."),
    }),
  ])
  .check(
    z.describe(
      "How long the answer waits, in real time: a duration such as 250ms, or a range { min: 100ms, max: 2s }.",
    ),
  );

const positive = (description: string) => count(description).check(z.minimum(1));

const when = z
  .strictObject({
    key: z.optional(ref("Requests with this key.")),
    organization: z.optional(ref("Requests with a key of this organization.")),
    path_id: z.optional(choice(apiPathIds, "Requests that would end on this path without the fault.")),
    after: z.optional(timeOrDuration("From then on, by the sandbox's clock.")),
    until: z.optional(timeOrDuration("Before then, by the sandbox's clock.")),
    every: z.optional(positive("Every nth matching request: 10 means the tenth, the twentieth and so on.")),
    requests: z.optional(
      z
        .array(positive("The number of a request."))
        .check(
          z.minLength(1),
          z.maxLength(mostRequests),
          z.describe("Which of the requests that match, by their number: [3, 4]. The first is 1."),
        ),
    ),
    probability: z.optional(
      z
        .number()
        .check(
          z.minimum(0),
          z.maximum(1),
          z.describe("How likely it is, from 0 to 1; the seed and the number of the request decide."),
        ),
    ),
  })
  .check(z.describe("Which requests it hits: all that is given must hold. Default: every request."));

const then = z
  .strictObject({
    latency: z.optional(latency),
    status: z.optional(
      z
        .literal(Object.keys(failures).map(Number) as FailureStatus[])
        .check(z.describe("Answers with this status and the API's error body.")),
    ),
    body: z.optional(
      choice(["json", "html"], "With status: the API's error body, or a gateway's page. Default: json."),
    ),
    reset: z.optional(flag("Resets the connection.")),
    hang: z.optional(flag("Leaves the request without an answer.")),
    truncate: z.optional(flag("Cuts the body short and closes the connection.")),
    malformed: z.optional(flag("Answers 200 with broken JSON.")),
    slow: z.optional(positive("Sends the body at this many bytes per second.")),
  })
  .check(z.describe("What happens then: one thing or more."));

/** The shape of a list of faults. `rules/faults.ts` checks what its fields say of each other. */
export const faultsSchema = z
  .array(
    z
      .strictObject({
        when: z.optional(when),
        then,
        requests_matched: z.optional(
          count(
            "Requests that matched before the clock starts, for every and requests; snapshots write it. Default: 0.",
          ),
        ),
      })
      .check(z.describe("A fault: which requests it hits, and what happens then.")),
  )
  .check(
    z.maxLength(mostFaults),
    z.describe(
      "What goes wrong between the client and the API. Of several faults the first one that hits counts.",
    ),
  );
