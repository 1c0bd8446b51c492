import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { readBaseUrl } from "../library/base-url.js";
import { hostName, isLoopbackHost, isWildcard, readHostName } from "../node/host-names.js";
import type { Logger } from "../node/logger.js";
import { SandboxError } from "../rules/errors.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import { type AnyServer, createHttpServer } from "./sockets/connections.js";
import type { CertificatePair } from "./sockets/tls.js";
import type { StateFile } from "./state-file.js";

// What a user sets of a server; where it listens, and the names by which clients reach it.

/** How a user sets up a server. */
export interface ServerSettings {
  /** 0: any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Serves HTTPS with a certificate and its key (PEM), or with a self-signed one if `true`. Default: HTTP. */
  readonly tls?: boolean | CertificatePair;
  /**
   * The base URL for clients, if it differs from the server's own address: behind a proxy, in a container, on another
   * machine. Default: the server's own.
   */
  readonly publicUrl?: string | URL;
  /** Hosts that the control plane accepts on a loopback address, besides this machine's names and the host of `publicUrl`. */
  readonly allowHosts?: readonly string[];
  /** Whether API responses have `X-Sandbox-Outcome`. Default: false. */
  readonly explain?: boolean;
  /** Whether the control plane is served. Default: true. */
  readonly control?: boolean;
  /** The bearer token of the control plane. Default: none on a loopback address, a random one on others. */
  readonly controlToken?: string;
  /** Called with a defect of the sandbox; the client got a 500. Default: ignored. */
  readonly onDefect?: (error: unknown) => void;
}

/** What `serve` gets: the settings, and what belongs to the program around the server. */
export interface ServeOptions extends ServerSettings {
  /** The scenario that the server was started with, as its file is now. Default: the one that the sandbox runs at first. */
  readonly startedScenario?: () => NamedScenario;
  /** The file that keeps the sandbox. The server closes it. Default: the sandbox is not kept. */
  readonly stateFile?: StateFile | undefined;
  /** Stops the server, and its process if that serves nothing else. Default: only the server. */
  readonly stop?: () => void;
  /** Called before each call of the control plane: other processes may have added requests. */
  readonly beforeControlCall?: () => void;
  /** Called for each call of the control plane with a writing method, and each rejected token, once its response is known. */
  readonly onControlCall?: Logger["controlCall"];
  /** How the user starts svc-sandbox, for messages. Default: by its name. */
  readonly program?: string;
}

/** Connections that wait to be accepted. One partner's burst would fill Node's 511, and others would wait for seconds. */
const backlog = 4096;

/**
 * Makes a server that listens where the options say, and responds to nothing yet. Throws `usage`, `address_in_use`,
 * `address_unavailable` or `certificate_unusable`.
 */
export async function listen(options: ServeOptions) {
  const { port, host = "127.0.0.1", tls = false, program = "svc-sandbox" } = options;
  const { publicUrl, allowedHosts } = readPublicNames(options);

  let certificate: CertificatePair | undefined;
  if (tls !== false) {
    // Most servers speak HTTP, and the certificates take long to load.
    const { certificatePair } = await import("./sockets/tls.js");
    // Certificates have an IPv6 address without brackets.
    const names = allowedHosts.map((name) => hostName(name).replace(/^\[(.*)\]$/, "$1"));
    certificate = await certificatePair(tls, [host, ...names]);
  }
  const { server, openConnections } = createHttpServer(certificate);

  const failure = await tryToListen(server, port, host);
  if (failure?.code === "EADDRINUSE") throw await addressInUse(port, host, program);
  if (failure !== undefined) {
    const message = `Failed to listen on port ${port} on ${host}: ${failure.message}. Choose another with --port or --host.`;
    throw new SandboxError("address_unavailable", message, { port, host });
  }

  const { address, port: openPort } = server.address() as AddressInfo; // a server of a port has no other address
  const scheme = certificate === undefined ? "http" : "https";
  const localHost = hostToConnectTo(address);
  const localUrl = `${scheme}://${localHost}:${openPort}`;
  return {
    server,
    openConnections,
    certificate,
    /** The base URL for clients on this machine. */
    localUrl,
    /** The base URL for clients anywhere, without a slash at its end. */
    url: publicUrl ?? localUrl,
    /** The names besides this machine's own, in lower case, some with a port. */
    allowedHosts,
    /** Whether only this machine reaches it. */
    isLocal: !isWildcard(address) && isLoopbackHost(localHost),
    /** The base URL as the sender of a request wrote it, who harms nobody else with a wrong one. */
    baseUrlFor({ headers }: IncomingMessage): string {
      const sentHost = readHostName(headers.host ?? "");
      const ownUrl = sentHost === undefined ? localUrl : `${scheme}://${sentHost}`;
      return publicUrl ?? ownUrl;
    },
  };
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
  const { findSandbox } = await import("../node/clients/control-client.js");
  const sandbox = await findSandbox(`${hostToConnectTo(host)}:${port}`);

  const inUse = `Port ${port} on ${host} is in use by`;
  const fix = "Choose another port with --port, or any free one with --port 0.";
  if (sandbox === undefined) {
    return new SandboxError("address_in_use", `${inUse} another program. ${fix}`, { port, host });
  }

  let who = `svc-sandbox ${sandbox.version}`;
  let stop = `${program} stop ${sandbox.url}`;
  // A sandbox that requires a token does not show its scenario.
  if (sandbox.scenario === undefined) stop += " --control-token <token>";
  else who += `, with the scenario ${sandbox.scenario} since ${sandbox.startedAt}`;
  const message = `${inUse} ${who}. ${fix} To stop it: ${stop}`;
  return new SandboxError("address_in_use", message, { port, host, sandbox });
}

/** The host for URLs of an address that a server on this machine listens on. */
function hostToConnectTo(address: string): string {
  if (isWildcard(address)) return "127.0.0.1";
  const isIPv6 = address.includes(":");
  return isIPv6 ? `[${address}]` : address;
}

/** Reads the names of a server that only its user knows, such as those of a proxy. Throws `usage` for one that is none. */
function readPublicNames({ publicUrl, allowHosts = [] }: ServeOptions) {
  const allowedHosts = allowHosts.map((text) => {
    const host = readHostName(text);
    if (host !== undefined) return host;
    throw new SandboxError("usage", "Invalid allowed host: use a name such as sandbox.example.");
  });
  if (publicUrl === undefined) return { publicUrl, allowedHosts };

  const url = readBaseUrl(String(publicUrl));
  if (url === undefined) {
    throw new SandboxError("usage", "Invalid public URL: use one such as https://sandbox.example.");
  }
  return { publicUrl: url, allowedHosts: [new URL(url).host, ...allowedHosts] };
}
