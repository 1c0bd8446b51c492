import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { unreadable } from "../../node/files/load-scenario.js";
import { readBundledScenario } from "../../node/package-files.js";
import { isScenarioName } from "../../scenario/bundled.js";
import type { Run } from "../command.js";
import { exitCode } from "../exit-codes.js";

/** `svc-sandbox show` */
export const show: Run = async ({ words, io }) => {
  const [name = ""] = words;
  const text = isScenarioName(name) ? await readBundledScenario(name) : await readOwn(name, io.cwd);
  io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  return exitCode.fine;
};

async function readOwn(name: string, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, name), "utf8");
  } catch (error) {
    throw unreadable(error as NodeJS.ErrnoException, name);
  }
}
