import { parseArgs } from "node:util";

/** What `npm run bench` was asked for. */
export interface BenchArguments {
  /** The Node that runs the servers and the starts; the bench itself stays on the one it was started with. */
  readonly node: string;
  /** Whether to take fewer and shorter rounds: enough to see that it works, too few to trust. */
  readonly quick: boolean;
  /** Which measurements to take; all of them when empty. */
  readonly only: readonly string[];
}

/** Reads the command line of the bench; throws on a flag it does not know. */
export function parseBenchArguments(args: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { node: { type: "string", default: process.execPath }, quick: { type: "boolean", default: false } },
  });
  return { node: values.node, quick: values.quick, only: positionals };
}
