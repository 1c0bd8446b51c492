import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "rolldown";
import { parseAst } from "rolldown/parseAst";

/** What few programs need, by names: of each part the modules through which all others come to it. */
export type Parts = Readonly<Record<string, readonly string[]>>;

const capture = [
  "src/api/story-sender.ts",
  "src/library/capture.ts",
  "src/library/captured-steps.ts",
  "src/world/story/run-step.ts",
];
const farmers = ["src/synthetic/farmers/farmers.ts"];
const preview = [
  "src/api/endpoints/attestations.ts",
  "src/api/endpoints/consent-requests.ts",
  "src/api/endpoints/preview.ts",
  "src/api/endpoints/visible-records.ts",
  "src/api/request-input.ts",
  "src/report/reproduce-preview.ts",
  "src/world/operations/consents.ts",
  "src/world/preview/consent-views.ts",
  "src/world/preview/consents.ts",
];

/** The parts that a page imports itself (`docs/decisions/0012`). */
export const pageParts: Parts = { capture, farmers, preview };

/** The parts that Node reads when one of their functions is first called (`docs/decisions/0002`). */
export const lateParts = {
  capture: ["src/library/capture.ts"],
  checks: [
    "src/scenario/check-input.ts",
    "src/scenario/interpret-scenario.ts",
    "src/scenario/parse-scenario.ts",
    "src/scenario/problems/source.ts",
    "src/scenario/rules/faults.ts",
    "src/schema/check.ts",
  ],
  farmers,
  names: ["src/synthetic/names.ts"],
  openapi: ["src/api/openapi.ts"],
  operations: [
    "src/world/operations/keys.ts",
    "src/world/operations/world.ts",
    "src/world/story/differences.ts",
  ],
  preview,
  report: ["src/report/report.ts"],
  snapshot: ["src/world/snapshot.ts"],
  variation: ["src/api/variation/vary.ts"],
  yaml: ["src/scenario/yaml.ts"],
} satisfies Parts;

const entryMark = "\0part:";
const cutMark = "\0cut:";

/** The entry points of parts, by the names of their bundles. */
export function partEntries(parts: Parts, { bundleOf }: Cut): Record<string, string> {
  return Object.fromEntries(Object.keys(parts).map((part) => [bundleOf(part), entryMark + part]));
}

/** How a part is cut from the rest. */
export interface Cut {
  readonly bundleOf: (part: string) => string;
  /** The entry point of a part, which has these functions of these files. */
  readonly entry: (part: string, functions: readonly (readonly [file: string, name: string])[]) => string;
  /** What a module outside has to say before it can call `part()`. */
  readonly access: (part: string) => string;
}

/** In Node, a part is a file that the first call of one of its functions reads. */
export const readWhenCalled: Cut = {
  bundleOf: (part) => `late-${part}`,
  entry: (_part, functions) =>
    functions.map(([file, name]) => `export { ${name} } from ${JSON.stringify(file)};`).join("\n"),
  access: (part) => `let loaded; const part = () => (loaded ??= require("./late-${part}.js"));`,
};

/** A page imports parts itself; they add their functions to `src/library/parts.ts`. */
export function addedByPage(root: string): Cut {
  const registry = JSON.stringify(join(root, "src/library/parts.ts"));
  return {
    bundleOf: (part) => part,
    entry: (part, functions) =>
      [
        // The preview shows farmers.
        ...(part === "preview" ? [`import ${JSON.stringify(`${entryMark}farmers`)};`] : []),
        `import { addPart } from ${registry};`,
        ...functions.map(([file, name]) => `import { ${name} } from ${JSON.stringify(file)};`),
        `addPart(${JSON.stringify(part)}, { ${functions.map(([, name]) => name).join(", ")} });`,
      ].join("\n"),
    access: (part) => `import { partOf } from ${registry}; const part = () => partOf("${part}");`,
  };
}

/** Modules that few programs use themselves: they need no cut, and may use more of a part than its functions. */
const isApart = (file: string) => /\/src\/(?:certify|check|cli\/certify|control)\//.test(file);

/** Makes an entry point of each part, and lets all modules outside call its functions there. */
export function cutParts(root: string, parts: Parts, cut: Cut): Plugin {
  const partOf = (file: string) =>
    Object.keys(parts).find((part) => parts[part]?.some((one) => join(root, one) === file));
  const all = join(root, "src/node/load-parts.ts");
  return {
    name: "cut-parts",
    async resolveId(source, importer, { kind }) {
      if (source.startsWith(entryMark)) return source;
      if (source.startsWith("./late-")) return { id: source, external: true };
      if (kind !== "import-statement" || importer === undefined || /^\0/.test(importer) || isApart(importer))
        return null;
      const found = await this.resolve(source, importer, { kind, skipSelf: true });
      const part = found === null ? undefined : partOf(found.id);
      return part === undefined || part === partOf(importer) ? null : cutMark + found?.id;
    },
    async load(id) {
      if (id === all) {
        const files = Object.keys(parts).map((part) => `require("./${cut.bundleOf(part)}.js");`);
        return `export function loadParts() { ${files.join(" ")} }`;
      }
      if (id.startsWith(entryMark)) {
        const part = id.slice(entryMark.length);
        const files = (parts[part] ?? []).map(async (one) => {
          const file = join(root, one);
          return (await exportedFunctions(file)).map((name) => [file, name] as const);
        });
        return cut.entry(part, (await Promise.all(files)).flat());
      }
      if (!id.startsWith(cutMark)) return null;
      const file = id.slice(cutMark.length);
      const calls = (await exportedFunctions(file)).map(
        (name) => `export const ${name} = (...given) => part().${name}(...given);`,
      );
      return [cut.access(partOf(file) as string), ...calls].join("\n");
    },
  };
}

/** The names of the functions that a module exports. Others can use nothing else of a part: the build fails if they do. */
async function exportedFunctions(file: string): Promise<string[]> {
  return parseAst(await readFile(file, "utf8"), { lang: "ts" }, file).body.flatMap((node) =>
    node.type === "ExportNamedDeclaration" && node.declaration?.type === "FunctionDeclaration"
      ? (node.declaration.id?.name ?? [])
      : [],
  );
}
