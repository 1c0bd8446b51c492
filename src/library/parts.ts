import { SandboxError } from "../domain/errors.js";

// What few worlds need is not in the build for browsers: a page adds it with an import of its own. `scripts/bundle.ts`
// has the calls of these functions; `docs/decisions/0012` says why.

/** The parts by the names of their entry points, with what they are for. */
const parts = {
  capture: "capture what the sandbox has seen",
  farmers: "make synthetic farmers",
  preview: "run the preview of the announced endpoints",
} as const;

type PartName = keyof typeof parts;
type Functions = Readonly<Record<string, (...given: never[]) => unknown>>;

// Registered globally, so that builds and copies of this package share what a page has loaded.
const key = Symbol.for("svc-sandbox.parts");
const loaded = globalThis as unknown as Record<symbol, Partial<Record<PartName, Functions>> | undefined>;

/** Adds the functions of a part. */
export function addPart(name: PartName, functions: Functions): void {
  loaded[key] = { ...loaded[key], [name]: functions };
}

/** Returns the functions of a part; throws `usage` when no import has added it. */
export function partOf(name: PartName): Functions {
  const functions = loaded[key]?.[name];
  if (functions !== undefined) return functions;
  throw new SandboxError(
    "usage",
    `Failed to ${parts[name]}: in browsers that is a part of its own. Write import "svc-sandbox/${name}" beside the import of svc-sandbox.`,
    { part: name },
  );
}
