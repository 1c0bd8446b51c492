import { resolve } from "node:path";
import { readBundledScenario } from "../../node/bundled-files.js";
import { readScenarioFile } from "../../node/load-scenario.js";
import { isScenarioName } from "../../scenario/bundled.js";
import type { Run } from "../command.js";
import { exitCode } from "../exit-codes.js";

/** `svc-sandbox show` */
export const show: Run = async ({ words, io }) => {
  const [name = ""] = words;
  const text = isScenarioName(name)
    ? await readBundledScenario(name)
    : readScenarioFile(resolve(io.cwd, name), name);
  io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  return exitCode.fine;
};
