import inspector from "node:inspector";
import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { handle } from "../src/api/handle.js";
import { createSandbox, parseScenario } from "../src/index.js";
import { runtimeOf } from "../src/library/create-sandbox.js";
import { settled } from "../src/sandbox/operations/operations.js";
import { startServer } from "../src/server/index.js";

/**
 * Counts the source files of the two main paths: a GET that gets 200, from the socket to the socket,
 * and a scenario of three keys, from its text to a running sandbox. A file counts when one of its functions ran, as
 * V8's precise coverage sees it; only importing a file does not count.
 *
 * Then lists the calls from one source file into another while `handle` returns 200: each is one more file that a reader
 * enters and leaves. Run it with `npm run paths`.
 */
const sourceFolder = fileURLToPath(new URL("../src/", import.meta.url));
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** The source files with a function that ran since the last call, relative to `src`. */
async function filesRun(): Promise<string[]> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const files = result
    .filter(({ functions }) => functions.some(ran))
    .flatMap(({ url }) => sourceFile(url) ?? []);
  return [...new Set(files)].sort();
}

function sourceFile(url: string): string | undefined {
  const file = url.startsWith("file:") ? fileURLToPath(url.replace(/\?.*$/, "")) : url;
  return file.startsWith(sourceFolder) ? file.slice(sourceFolder.length) : undefined;
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

/** The calls from one source file into another in a run, in order, as a debugger that steps into everything sees them. */
function callsBetweenFiles(run: () => void): string[] {
  const urls = new Map<string, string>();
  const calls: string[] = [];
  let before: readonly string[] = [];
  // Steps in this thread: it hears of each pause in the middle of it.
  const stepper = new inspector.Session();
  stepper.connect();
  stepper.on("Debugger.scriptParsed", ({ params: { scriptId, url } }) => urls.set(scriptId, url));
  stepper.on("Debugger.paused", ({ params: { callFrames } }) => {
    const frames = callFrames.flatMap(({ location: { scriptId }, functionName }) => {
      const file = sourceFile(urls.get(scriptId) ?? "");
      return file === undefined ? [] : { file, functionName };
    });
    const entered = frames.reverse().filter(({ file }, index) => file !== frames[index - 1]?.file);
    for (const { file, functionName } of entered.slice(before.length)) calls.push(`${file} ${functionName}`);
    before = entered.map(({ file }) => file);
    stepper.post("Debugger.stepInto");
  });
  stepper.post("Debugger.enable");
  stepper.post("Debugger.pause");
  run();
  stepper.disconnect();
  return calls;
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
const get = async () => (await fetch(`${server.url}/v1/relying-party/me`, { headers })).text();
// The first requests open connections and prepare the record of their key; the path is what every later one takes.
for (let sent = 0; sent < 3; sent++) await get();
await filesRun();
const body = await get();
const toAnswer = await filesRun();
await session.post("Profiler.stopPreciseCoverage");
session.disconnect();
const world = settled(runtimeOf(server.sandbox));
const request = { method: "GET", path: "/v1/relying-party/me", apiKey: headers["x-api-key"] };
const calls = callsBetweenFiles(() => handle(world, request));
await server.close();
if (!body.startsWith('{"data"')) throw new Error(`the GET got ${body}`);

for (const [what, rows] of [
  ["files: a GET that answers 200", toAnswer],
  ["files: a scenario of three keys, from text to world", toWorld],
  ["calls between files: handle(world, request) answers 200", calls],
] as const) {
  console.log(`${rows.length} ${what}\n${rows.map((row) => `  ${row}\n`).join("")}`);
}
