import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { ScenarioProblemCode } from "../../src/index.js";
import { root } from "./pages.js";

/** The folder of pairs: an input, and next to it the exact text that it results in. */
export const messageFolder = (kind: "scenarios" | "commands") => join(root, "test/messages", kind);

/** The names of a folder's files with this ending. */
export const messageNames = (kind: "scenarios" | "commands", ending: string) =>
  readdirSync(messageFolder(kind))
    .filter((file) => file.endsWith(ending))
    .map((file) => basename(file, ending))
    .sort();

/** A scenario with a mistake, whose name is its problem's code, a dot and what is wrong. */
export interface WrongScenario {
  readonly name: string;
  readonly code: ScenarioProblemCode;
  readonly text: string;
}

export const wrongScenarios: readonly WrongScenario[] = messageNames("scenarios", ".yaml").map((name) => ({
  name,
  code: name.split(".")[0]?.replaceAll("-", "_") as ScenarioProblemCode,
  text: readFileSync(join(messageFolder("scenarios"), `${name}.yaml`), "utf8"),
}));
