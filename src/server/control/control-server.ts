import type { Logger } from "../../node/logger.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { NamedScenario } from "../../scenario/scenario-source.js";
import type { StateFile } from "../state-file.js";

/** What the control plane knows of the server that it belongs to, and of the program around that. */
export interface ControlServer {
  readonly sandbox: SandboxState;
  readonly startedAt: number;
  /** Tells this start of the server from others. */
  readonly startId: number;

  /** Whether only this machine reaches the server. */
  readonly isLocal: boolean;
  /** The server's names besides this machine's own, in lower case, some with a port. */
  readonly allowedHosts: readonly string[];
  /** The bearer token that calls require; `undefined` for none. */
  readonly controlToken: string | undefined;
  /** Aborted when the server is about to stop. */
  readonly stopping: AbortSignal;

  // As in `ServeOptions`.
  readonly startedScenario: () => NamedScenario;
  readonly stateFile: StateFile | undefined;
  readonly stop: () => void;
  readonly beforeControlCall: () => void;
  readonly onControlCall: Logger["controlCall"];
  readonly onDefect: (error: unknown) => void;
}
