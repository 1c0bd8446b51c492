import { sandboxCreator } from "./library/create-sandbox.js";
import { farmersOfPage } from "./library/farmers-of-page.js";

// The entry point `svc-sandbox` in pages, with the values of `index.ts`, whose types it has: no run of `exec` or `certify`, and
// only the farmers that the page imports.

export { openApiDocument } from "./api/openapi.js";
export { SandboxError } from "./rules/errors.js";
export { outcomes } from "./rules/outcomes.js";
export { scenarioNames } from "./scenario/bundled.js";
export { ScenarioError } from "./scenario/problems.js";
export { parseScenario } from "./scenario/scenario-source.js";

export const createSandbox = /* @__PURE__ */ sandboxCreator(farmersOfPage, () => undefined);
