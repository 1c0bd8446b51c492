// A server made as docs/doors.md shows, for more keys than a scenario file may have.
import { readFileSync } from "node:fs";
import { startServer } from "../../../dist/esm/node.js";

const [file, port] = process.argv.slice(2);
await startServer({ scenario: JSON.parse(readFileSync(file, "utf8")), port: Number(port) });
