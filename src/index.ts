import { makeFarmers } from "./farmers/make-farmers.js";
import { sandboxCreator } from "./library/create-sandbox.js";
import { currentRun } from "./runs/current-run.js";

// The entry point `svc-sandbox` in Node; `browser.ts` is that in pages.

export type { KeyContext } from "./api/endpoints.js";
export { type ApiErrorBody, openApiDocument } from "./api/openapi.js";
export type { CreateSandbox, SandboxOptions } from "./library/create-sandbox.js";
export type { KeyRef, OrganizationRef, ScenarioSource } from "./library/known-refs.js";
export type {
  ActingAs,
  CreatedKey,
  FarmerPage,
  KeyCreation,
  KeyRotation,
  RequestQuery,
  Sandbox,
  SandboxClock,
  SandboxFarmers,
  SandboxFaults,
  SandboxKeys,
  SandboxOrganizations,
  SandboxRequests,
} from "./library/sandbox.js";
export type {
  Coverage,
  Report,
  ReportedAdvice,
  ReportedOutcome,
  ReportedRequest,
} from "./report/report-shape.js";
export type { AdviceId, AdviceLevel } from "./rules/advice.js";
export type { Assumptions, Profile } from "./rules/assumptions.js";
export { SandboxError, type SandboxErrorCode } from "./rules/errors.js";
export type { OrganizationUpdate } from "./rules/organization.js";
export { type ApiErrorCode, type OutcomeId, outcomes } from "./rules/outcomes.js";
export type { Duration, Instant, Overlap } from "./rules/time.js";
export type { Farmer } from "./sandbox/farmer-records/farmer-shape.js";
export type { Fault } from "./sandbox/faults.js";
export type { RequestView } from "./sandbox/journal/exchange.js";
export type { KeyView, OrganizationView } from "./sandbox/views.js";
export { type ScenarioName, scenarioNames } from "./scenario/bundled.js";
export type { ScenarioProblem, ScenarioProblemCode } from "./scenario/problems.js";
export { ScenarioError } from "./scenario/problems.js";
export type { Scenario } from "./scenario/scenario.generated.js";
export { type ParseOptions, parseScenario } from "./scenario/scenario-source.js";

export const createSandbox = /* @__PURE__ */ sandboxCreator(
  // Wrapped, so that CommonJS loads the module with the first call.
  (settings) => makeFarmers(settings),
  currentRun,
);
