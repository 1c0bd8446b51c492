import { scenarioJsonSchema } from "../../scenario/format/schema.js";
import type { Run } from "../command.js";
import { exitCode } from "../exit-codes.js";

/** `svc-sandbox schema` */
export const schema: Run = async ({ io }) => {
  io.stdout.write(`${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`);
  return exitCode.fine;
};
