import { openApiDocument } from "../../api/openapi.js";
import { declareCommand, toggle } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { writeData } from "../tell.js";

export const command = declareCommand({
  summary: "print the OpenAPI 3.1.0 document of the API",
  description: "Prints the OpenAPI 3.1.0 document of the API as JSON.",
  flags: {
    preview: toggle(
      "--preview",
      "also the announced endpoints, consent requests and attestations; their shapes are a guess",
    ),
  },
  examples: {
    "svc-sandbox openapi > openapi.json": "keep it in a file",
    "svc-sandbox openapi --preview": "include the announced endpoints, as a guess",
  },
  async run({ io, flags }) {
    writeData(
      io.stdout,
      `${JSON.stringify(openApiDocument({ preview: flags.preview ?? false }), null, 2)}\n`,
    );
    return exitCode.fine;
  },
});
