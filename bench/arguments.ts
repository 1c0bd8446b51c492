import { parseArgs } from "node:util";

/** What `npm run bench` was asked for. */
export interface BenchArguments {
  /** The Node that runs the servers and the starts; the client stays on the one that runs the bench. */
  readonly node: string;
  /** Whether to take fewer and shorter rounds: enough to see that the bench works, too few to trust. */
  readonly quick: boolean;
  readonly measurements: readonly string[];
}

/** Reads the command line: flags, and the names of the measurements to take, all of them when none is named. */
export function parseBenchArguments(args: readonly string[], known: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      node: { type: "string", default: process.execPath },
      quick: { type: "boolean", default: false },
    },
  });
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(
      `Failed to find the measurement ${JSON.stringify(unknown)}: there are ${known.join(", ")}.`,
    );
  }
  return { ...values, measurements: positionals.length === 0 ? known : positionals };
}
