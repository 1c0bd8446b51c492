export { type LoadedScenario, loadScenario } from "./load-scenario.js";
export { type SandboxServer, type ServerOptions, startServer } from "./start-server.js";
export type { CertificatePair } from "./tls.js";
export type { UserHandler, UserHandlers } from "./user-handlers.js";
