export { type LoadedScenario, loadScenario } from "../node/files/load-scenario.js";
export { type PackageReader, setPackageReader } from "../node/package-files.js";
export type { CertificatePair } from "./sockets/tls.js";
export { type SandboxServer, type ServerOptions, startServer } from "./start-server.js";
