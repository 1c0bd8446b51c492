import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSandbox, parseScenario } from "../src/index.js";
import { startServer } from "../src/server/index.js";
import { root } from "./run-program.js";

/**
 * Counts the source files of the two main paths: a GET that gets 200, from the socket to the socket,
 * and a scenario of three keys, from its text to a running sandbox. A file counts when one of its functions ran, as
 * V8's precise coverage sees it; only importing a file does not count.
 * Run it with `npm run paths`.
 */
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
const sourceFolder = join(root, "src/");

/** A source file's path in `src`; none for another file. */
function sourceFile(url = ""): string[] {
  const file = url.startsWith("file:") ? fileURLToPath(url.replace(/\?.*$/, "")) : url;
  return file.startsWith(sourceFolder) ? [file.slice(sourceFolder.length)] : [];
}

/** The source files with a function that ran since the last call. */
async function filesRun(): Promise<string[]> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  // The body of a module is an unnamed function that starts where the script does.
  const ran = result.filter(({ functions }) =>
    functions.some(({ functionName, ranges: [range] }) => {
      const isBody = functionName === "" && range?.startOffset === 0;
      return (range?.count ?? 0) > 0 && functionName !== "__name" && !isBody;
    }),
  );
  return [...new Set(ran.flatMap(({ url }) => sourceFile(url)))].sort();
}

const scenario = `version: 1
name: Three keys
clock: { now: 2026-03-02T09:00:00Z, frozen: true }
organizations:
  harvest-bank:
    type: bank
    keys:
      active: { environment: test }
      revoked: { environment: test, state: revoked }
      busy: { environment: test, usage: { this_minute: 60 } }
`;

await filesRun();
createSandbox({ scenario: parseScenario(scenario) });
const toSandbox = await filesRun();

const server = await startServer({ port: 0 });
const apiKey = server.sandbox.secret("active");
const path = "/v1/relying-party/me";
const get = async () => (await fetch(server.url + path, { headers: { "x-api-key": apiKey } })).text();
// The first requests open connections and prepare the record of their key; the path is what every later one takes.
for (let sent = 0; sent < 3; sent++) await get();
await filesRun();
const body = await get();
const toAnswer = await filesRun();
session.disconnect();
await server.close();
if (!body.startsWith('{"data"')) throw new Error(`the GET got ${body}`);

for (const [what, rows] of [
  ["files: a GET that answers 200", toAnswer],
  ["files: a scenario of three keys, from text to sandbox", toSandbox],
] as const)
  console.log(`${rows.length} ${what}\n${rows.map((row) => `  ${row}\n`).join("")}`);
