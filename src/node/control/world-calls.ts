import { requestLine, snakeCase } from "../../api/snake-case.js";
import type { AssumptionsInput } from "../../sandbox/operations/change-assumptions.js";
import { operations } from "../../sandbox/operations/operations.js";
import { viewClock, viewOrganization } from "../../sandbox/views.js";
import type { World } from "../../sandbox/world.js";
import { bare, inData } from "./answer-schemas.js";
import { type ControlCall, controlCall } from "./call.js";
import { health } from "./health.js";
import { inField } from "./in-field.js";
import { requestQuery } from "./request-query.js";
import { worldState } from "./state.js";

/** What can be seen of the world and changed about it, keys aside. */
export const worldCalls: readonly ControlCall[] = [
  controlCall({
    method: "GET",
    path: "/health",
    summary: "What runs",
    status: 200,
    answer: bare("Health"),
    run: ({ runtime }) => health(runtime.world()),
  }),
  controlCall({
    method: "GET",
    path: "/state",
    summary: "The whole world: organizations, keys, clock, assumptions",
    status: 200,
    answer: inData.state,
    run: ({ runtime }) => ({ data: worldState(runtime.world()) }),
  }),
  controlCall({
    method: "GET",
    path: "/organizations",
    summary: "All organizations",
    status: 200,
    answer: inData.list("Organization"),
    run: ({ runtime }) => ({
      data: [...runtime.world().registry.organizations.values()].map(({ organization }) =>
        snakeCase(viewOrganization(organization)),
      ),
    }),
  }),
  controlCall({
    method: "GET",
    path: "/organizations/{ref}",
    summary: "One organization",
    status: 200,
    answer: inData.one("Organization"),
    run: ({ runtime, params }) => ({
      data: snakeCase(
        viewOrganization(runtime.world().registry.organization(params.ref as string).organization),
      ),
    }),
  }),
  controlCall({
    method: "PATCH",
    path: "/organizations/{ref}",
    summary: "Changes an organization's status, sandbox access or live access",
    body: "organization_update",
    status: 200,
    answer: inData.one("Organization"),
    run({ runtime, actor, params, body }) {
      const input = { ...body, ref: params.ref as string };
      return { data: snakeCase(operations.organization(runtime.world(), input, { actor }).organization) };
    },
  }),
  controlCall({
    method: "GET",
    path: "/clock",
    summary: "The sandbox's clock",
    status: 200,
    answer: inData.one("Clock"),
    run: ({ runtime }) => clockView(runtime.world()),
  }),
  controlCall({
    method: "PUT",
    path: "/clock",
    summary: "Moves the clock on to a time, freezes it or lets it run",
    body: "clock_change",
    status: 200,
    answer: inData.one("Clock"),
    run({ runtime, body }) {
      return { data: inField("now", () => operations.clock(runtime.world(), body)) };
    },
  }),
  controlCall({
    method: "POST",
    path: "/clock/advance",
    summary: "Moves the clock on by a duration",
    body: "clock_advance",
    status: 200,
    answer: inData.one("Clock"),
    run({ runtime, body }) {
      return { data: inField("by", () => operations.advance(runtime.world(), body)) };
    },
  }),
  controlCall({
    method: "GET",
    path: "/assumptions",
    summary: "What is assumed where the specification is silent",
    status: 200,
    answer: inData.one("Assumptions"),
    run: ({ runtime }) => assumptionsView(runtime.world()),
  }),
  controlCall({
    method: "PUT",
    path: "/assumptions",
    summary: "Changes the assumptions that are given; with a profile, all others become the profile's",
    body: "assumptions_change",
    status: 200,
    answer: inData.one("Assumptions"),
    run({ runtime, body }) {
      operations.assumptions(runtime.world(), body as AssumptionsInput);
      return assumptionsView(runtime.world());
    },
  }),
  controlCall({
    method: "GET",
    path: "/requests",
    summary: "The last 1,000 requests, oldest first",
    query: {
      limit: "At most this many, the latest ones.",
      path_id: "Only those that ended on this path.",
      key: "Only those with the key of this ref.",
    },
    status: 200,
    answer: inData.list("Request"),
    run: ({ runtime, query }) => ({
      data: runtime.world().journal.list(requestQuery(query)).map(requestLine),
    }),
  }),
  controlCall({
    method: "DELETE",
    path: "/requests",
    summary: "Forgets the requests, and lets the report start anew; keys keep what they have used",
    status: 204,
    answer: undefined,
    run: ({ runtime }) => operations.clear_requests(runtime.world()),
  }),
];

function assumptionsView({ assumptions, profile }: World): unknown {
  return { data: { profile, ...assumptions } };
}

function clockView({ clock }: World): unknown {
  return { data: viewClock(clock) };
}
