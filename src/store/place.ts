import type { SandboxError } from "../rules/errors.js";

/** The id of the server's own text; instances have longer ids. */
export const ownId = "own";

/** Where texts are, each under an id: a folder of files, or Redis. Each text is written whole, or stays as it was. */
export interface Place {
  /** The name of a text for messages, such as its file. */
  readonly nameOf: (id: string) => string;
  /** Resolves to `undefined` if there is no such text. */
  readonly read: (id: string) => Promise<string | undefined>;
  /** Resolves once a killed process would not lose it. */
  readonly write: (id: string, text: string) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
  /** What a caller gets whose change failed to be written. */
  readonly failureOf: (id: string, error: unknown) => SandboxError;
}
