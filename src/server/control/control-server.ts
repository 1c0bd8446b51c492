import type { Logger } from "../../node/logger.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { NamedScenario } from "../../scenario/scenario-source.js";
import type { StateFile } from "../state-file.js";

/** What the control plane needs of the program around the server. */
export interface SurroundingProgram {
  /** The scenario that the server was started with; a watched file changes it. */
  readonly startedScenario: () => NamedScenario;
  /** The file that keeps the sandbox, if there is one. */
  readonly stateFile: StateFile | undefined;
  /** Stops the server, and its process if that serves nothing else. */
  readonly stop: () => void;
  /** Called before each call of the control plane: other processes may have added requests. */
  readonly beforeControlCall: () => void;
  /** Called for each call of the control plane with a writing method, and each rejected token, once its response is known. */
  readonly onControlCall: Logger["controlCall"];
  /** Called with a defect; the client got a 500. */
  readonly onDefect: (error: unknown) => void;
}

/** What the control plane knows of the server that it belongs to. */
export interface ControlServer extends SurroundingProgram {
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
}
