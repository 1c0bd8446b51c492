import type { ActionName } from "../domain/steps.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { Exchange } from "./history/exchange.js";

/** What may be repeated of a world: the world as it was, and the operations since then. Its requests are in the journal. */
export interface Recording {
  /** Takes note of the request that the journal has just recorded. */
  readonly request: (exchange: Pick<Exchange, "at" | "isRepeatable">) => void;
  readonly operation: (operation: RecordedOperation) => void;
  /** Begins anew with the world as it is, after something that cannot be repeated. */
  readonly restart: () => void;
  readonly read: () => Recorded;
}

export interface Recorded {
  /** `undefined` when the world is too large to be kept. */
  readonly beginning: Beginning | undefined;
  /** Those since the beginning, in their order. */
  readonly operations: readonly RecordedOperation[];
}

/** A world at a moment. */
export interface Beginning {
  readonly scenario: Scenario;
  /** The clock (epoch milliseconds). */
  readonly at: number;
  /** The number of requests that the journal had recorded by then. */
  readonly requests: number;
}

/** An operation of a user, or of a step of the story; holds no key. */
export interface RecordedOperation {
  readonly name: ActionName;
  readonly input: unknown;
  readonly actor: "administrator" | "member" | undefined;
  /** On the sandbox's clock (epoch milliseconds). */
  readonly at: number;
  /** The number of requests that the journal had recorded by then. */
  readonly requests: number;
  /** The code with which it was refused. */
  readonly refusal: string | undefined;
  /** The ref of the key that it made. */
  readonly made: string | undefined;
  /** The consent request that it was about. */
  readonly consent:
    | { readonly id: string; readonly farmer: number; readonly organization: string }
    | undefined;
}

/** What happened from one beginning to the next. */
interface Stretch {
  readonly beginning: Beginning | undefined;
  readonly operations: RecordedOperation[];
}

/** The number of requests and operations of a stretch. Two are kept, which journals and stories have room for. */
const stretchLength = 480;

/**
 * Makes the recording of a world. `look` returns the world as it is, or `undefined` for one that is too large to be copied time
 * and again.
 */
export function createRecording(first: Beginning, look: () => Beginning | undefined): Recording {
  let stretches: readonly Stretch[] = [{ beginning: first, operations: [] }];
  let length = 0;
  let lastAt = first.at;

  const restart = () => {
    stretches = [{ beginning: look(), operations: [] }];
    length = 0;
  };
  const count = (at: number) => {
    // No story runs backwards, as the clock does with a fake `Date`.
    if (at < lastAt) restart();
    lastAt = at;
    length += 1;
    if (length < stretchLength) return;
    stretches = [...stretches.slice(-1), { beginning: look(), operations: [] }];
    length = 0;
  };
  return {
    request({ at, isRepeatable }) {
      if (isRepeatable) count(at);
      else restart();
    },
    operation(operation) {
      stretches.at(-1)?.operations.push(operation);
      count(operation.at);
    },
    restart,
    read: () => ({
      beginning: stretches[0]?.beginning,
      operations: stretches.flatMap(({ operations }) => operations),
    }),
  };
}

/** Records nothing: what a timeline does happens by itself. */
export const noRecording: Recording = {
  request() {},
  operation() {},
  restart() {},
  read: () => ({ beginning: undefined, operations: [] }),
};
