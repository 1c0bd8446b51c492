import type { AddressInfo, Socket } from "node:net";
import { SandboxError } from "../rules/errors.js";
import { certificateName, hostToConnectTo, isLoopback } from "./addresses.js";
import type { ServeOptions } from "./server-options.js";
import type { AnyServer } from "./sockets/connections.js";
import { createHttpServer } from "./sockets/http-server.js";
import type { CertificatePair } from "./sockets/tls.js";

/** Connections that wait to be accepted. One partner's burst would fill Node's 511, and others would wait for seconds. */
const backlog = 4096;

/** A server that listens, and responds to nothing yet. */
interface Listening {
  readonly server: AnyServer;
  readonly openConnections: ReadonlySet<Socket>;
  /** `undefined` for HTTP. */
  readonly certificate: CertificatePair | undefined;
  /** The base URL for clients on this machine. */
  readonly localUrl: string;
  /** Whether only this machine reaches it. */
  readonly isLocal: boolean;
}

/**
 * Listens where the options say. `allowedHosts` are also names in a self-signed certificate. Throws `address_in_use`,
 * `address_unavailable` or `certificate_unusable`.
 */
export async function listen(options: ServeOptions, allowedHosts: readonly string[]): Promise<Listening> {
  const { port, host = "127.0.0.1", tls = false, program = "svc-sandbox" } = options;
  const certificate = await certificateFor(tls, [host, ...allowedHosts.map(certificateName)]);
  const { server, openConnections } = createHttpServer(certificate);

  const failure = await tryToListen(server, port, host);
  if (failure?.code === "EADDRINUSE") throw await addressInUse(port, host, program);
  if (failure !== undefined) throw addressUnavailable(failure, port, host);

  const { address, port: openPort } = server.address() as AddressInfo; // a server of a port has no other address
  const scheme = certificate === undefined ? "http" : "https";
  const localUrl = `${scheme}://${hostToConnectTo(address)}:${openPort}`;
  return { server, openConnections, certificate, localUrl, isLocal: isLoopback(address) };
}

/** The certificate to serve HTTPS with; `undefined` for HTTP. */
async function certificateFor(
  tls: boolean | CertificatePair,
  names: readonly string[],
): Promise<CertificatePair | undefined> {
  if (tls === false) return undefined;
  // Most servers speak HTTP, and the certificates take long to load.
  const { certificatePair } = await import("./sockets/tls.js");
  return certificatePair(tls, names);
}

/** Listens on a port; resolves to the error if that fails. */
function tryToListen(
  server: AnyServer,
  port: number,
  host: string,
): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    // The listener stays: a later error, of a connection that cannot be accepted, does not end the process.
    server.on("error", resolve);
    server.listen(port, host, backlog, () => resolve(undefined));
  });
}

/** The error for a port in use, with the program that uses it, and how to stop that if it is a sandbox. */
async function addressInUse(port: number, host: string, program: string): Promise<SandboxError> {
  // Most starts find their port free, so they do not load the client.
  const { findListener } = await import("../node/clients/find-listener.js");
  const listener = await findListener(`${hostToConnectTo(host)}:${port}`);

  const inUse = `Port ${port} on ${host} is in use by`;
  const fix = "Choose another port with --port, or any free one with --port 0.";
  if (listener.kind !== "sandbox") {
    return new SandboxError("address_in_use", `${inUse} another program. ${fix}`, { port, host });
  }

  const { sandbox } = listener;
  let who = `svc-sandbox ${sandbox.version}`;
  let stop = `${program} stop ${sandbox.url}`;
  // A sandbox that requires a token does not show its scenario.
  if (sandbox.scenario === undefined) stop += " --control-token <token>";
  else who += `, with the scenario ${sandbox.scenario} since ${sandbox.startedAt}`;
  const message = `${inUse} ${who}. ${fix} To stop it: ${stop}`;
  return new SandboxError("address_in_use", message, { port, host, sandbox });
}

function addressUnavailable(error: NodeJS.ErrnoException, port: number, host: string): SandboxError {
  const isForbidden = error.code === "EACCES";
  const reason = isForbidden ? "this user may not use that port" : `no such address here (${error.code})`;
  return new SandboxError(
    "address_unavailable",
    `Failed to listen on port ${port} on ${host}: ${reason}. Choose another with --port or --host.`,
    { port, host },
  );
}
