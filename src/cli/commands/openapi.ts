import { openApiDocument } from "../../api/openapi.js";
import type { Run } from "../command.js";
import { exitCode } from "../exit-codes.js";

/** `svc-sandbox openapi` */
export const openapi: Run = async ({ io, flags }) => {
  io.stdout.write(`${JSON.stringify(openApiDocument({ preview: flags.preview ?? false }), null, 2)}\n`);
  return exitCode.fine;
};
