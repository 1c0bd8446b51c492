import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { unreadable } from "../../node/files/load-scenario.js";
import { readBundledScenario } from "../../node/package-files.js";
import { isScenarioName } from "../../scenario/bundled.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { writeData } from "../tell.js";

export const command = declareCommand({
  summary: "print a scenario's YAML",
  description: "Prints the YAML of a scenario, unchanged.",
  words: { "<scenario>": "a bundled name or a file" },
  flags: {},
  examples: {
    "svc-sandbox show key-states": "read a bundled scenario",
    "svc-sandbox show rotation > my.yaml": "start your own from it",
  },
  async run({ words, io }) {
    const [name = ""] = words;
    const text = isScenarioName(name) ? await readBundledScenario(name) : await readOwn(name, io.cwd);
    writeData(io.stdout, text.endsWith("\n") ? text : `${text}\n`);
    return exitCode.fine;
  },
});

async function readOwn(name: string, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, name), "utf8");
  } catch (error) {
    throw unreadable(error as NodeJS.ErrnoException, name, cwd);
  }
}
