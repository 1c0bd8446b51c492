import { openApiDocument } from "../../api/openapi.js";
import { declareCommand, toggle } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { verbose } from "../flags.js";

export const command = declareCommand({
  summary: "print the OpenAPI 3.1.0 document of the API",
  description: "Prints the OpenAPI 3.1.0 document of the API as JSON.",
  words: [],
  flags: {
    preview: toggle(
      "--preview",
      "also the announced endpoints, consent requests and attestations; their shapes are a guess",
    ),
    verbose,
  },
  examples: [
    { line: "svc-sandbox openapi > openapi.json", does: "keep it in a file" },
    {
      line: "svc-sandbox openapi --preview",
      does: "with the announced endpoints, as this project guesses them",
    },
  ],
  async run({ io, flags }) {
    io.stdout.write(`${JSON.stringify(openApiDocument({ preview: flags.preview ?? false }), null, 2)}\n`);
    return exitCode.fine;
  },
});
