import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { createSandbox, parseScenario } from "../src/index.js";
import { startServer } from "../src/node/index.js";

/**
 * Counts the source files through which the two main paths run: a GET that answers 200, from the socket to the socket,
 * and a scenario of three keys, from its text to a running world. A file counts when one of its functions ran, as
 * V8's precise coverage sees it; importing a file alone does not count. Run it with `npm run paths`.
 */
const sourceFolder = fileURLToPath(new URL("../src/", import.meta.url));
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** The source files of which a function ran since the last call, relative to `src`. */
async function filesRun(): Promise<string[]> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const files = result
    .filter(({ functions }) => functions.some(ran))
    .map(({ url }) => (url.startsWith("file:") ? fileURLToPath(url.replace(/\?.*$/, "")) : url))
    .filter((file) => file.startsWith(sourceFolder))
    .map((file) => file.slice(sourceFolder.length));
  return [...new Set(files)].sort();
}

// The first function of a script is its module body, which is unnamed and starts where the script does.
function ran({
  functionName,
  ranges,
}: {
  functionName: string;
  ranges: { startOffset: number; count: number }[];
}) {
  const [{ startOffset, count }] = ranges as [{ startOffset: number; count: number }];
  return count > 0 && functionName !== "__name" && !(functionName === "" && startOffset === 0);
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
const toWorld = await filesRun();

const server = await startServer({ port: 0 });
const headers = { "x-api-key": server.sandbox.secret("active") };
const get = () => fetch(`${server.url}/v1/relying-party/me`, { headers });
await get(); // The first request of a key prepares its record; the path is what every later one takes.
await filesRun();
const { status } = await get();
const toAnswer = await filesRun();
await server.close();
if (status !== 200) throw new Error(`the GET got ${status}`);

for (const [path, files] of [
  ["a GET that answers 200", toAnswer],
  ["a scenario of three keys, from text to world", toWorld],
] as const) {
  console.log(`${files.length} files: ${path}\n${files.map((file) => `  ${file}\n`).join("")}`);
}
