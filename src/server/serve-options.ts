import type { Logger } from "../node/logger.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import type { CertificatePair } from "./sockets/tls.js";
import type { StateFile } from "./state-file.js";

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
