import { builtIn } from "../../src/api/endpoints.js";
import type { Scenario } from "../../src/index.js";
import { type Outcome, outcomeOf, type PathId } from "../../src/rules/outcomes.js";
import { pageOf } from "./pages.js";

/** Whether a built-in endpoint rejects requests with this path id, as no released one does. */
export const isOwn = (pathId: PathId) =>
  builtIn.some(({ rejections }) => rejections?.some((one) => one === pathId));

/** The outcomes that some built-in endpoint has. */
export const reachable = <Row extends Outcome>(rows: readonly Row[]) =>
  rows.filter(({ path }) => outcomeOf(path as PathId).needs === undefined || isOwn(path as PathId));

/** A scenario with an endpoint that has input: POST /v1/relying-party/reports, of the example's document. */
export const withInput: Scenario = {
  version: 1,
  openapi: { text: pageOf("examples/openapi/relying-party-0.2.0.yaml") },
  organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
};
