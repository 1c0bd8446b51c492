import { openApiDocument } from "../../api/openapi.js";
import { declareCommand } from "../command.js";

export const openapiCommand = declareCommand({
  summary: "print the OpenAPI 3.1.0 document of the API",
  description: "Prints the OpenAPI 3.1.0 document of the API as JSON.",
  flags: {},
  examples: {
    "svc-sandbox openapi > openapi.json": "keep it in a file",
  },
  async run({ io }) {
    // Printed as it is: an example may have a key.
    io.stdout.printSecret(`${JSON.stringify(openApiDocument(), null, 2)}\n`);
  },
});
