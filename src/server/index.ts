export { type PackageReader, setPackageReader } from "../node/package-files.js";
export type { LoadedScenario } from "../scenario/scenario-source.js";
export type { CertificatePair } from "./sockets/tls.js";
export { loadScenario, type SandboxServer, type ServerOptions, startServer } from "./start-server.js";
