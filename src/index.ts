/* The API's responses */
export type { KeyContext } from "./api/endpoints/me.js";
export { type ApiErrorBody, openApiDocument } from "./api/openapi.js";
/* Sandboxes */
export { createSandbox, type SandboxOptions } from "./library/create-sandbox.js";
/* The user's own endpoints, with the API's checks */
export type {
  ActingAs,
  CreatedKey,
  FarmerPage,
  KeyCreation,
  KeyRef,
  KeyRotation,
  OrganizationRef,
  RequestQuery,
  Sandbox,
  SandboxClock,
  SandboxFarmers,
  SandboxFaults,
  SandboxKeys,
  SandboxOrganizations,
  SandboxRequests,
  ScenarioSource,
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
/* Errors of this tool, as opposed to responses of the API */
export { SandboxError, type SandboxErrorCode } from "./rules/errors.js";
export type { OrganizationUpdate } from "./rules/organization.js";
/* What is said of the API */
export { type ApiErrorCode, type OutcomeId, outcomes } from "./rules/outcomes.js";
export type { Duration, Instant, Overlap } from "./rules/time.js";
export type { Fault } from "./sandbox/active-faults.js";
/* Synthetic data */
export type { Farmer } from "./sandbox/farmer-records/farmer-shape.js";
export type { KeyView, OrganizationView, RequestView } from "./sandbox/view-shapes.js";
export { type ScenarioName, scenarioNames } from "./scenario/bundled.js";
/* Scenarios */
export { type ParseOptions, parseScenario } from "./scenario/parse-scenario.js";
export type { ScenarioProblem, ScenarioProblemCode } from "./scenario/problems.js";
export { ScenarioError } from "./scenario/problems.js";
export type { Scenario } from "./scenario/scenario.generated.js";
