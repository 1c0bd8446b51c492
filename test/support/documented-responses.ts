import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outcomes, type PathId, type ScenarioName } from "../../src/index.js";
import { startServer } from "../../src/server/index.js";
import { pageOf, sectionOf } from "./pages.js";
import { runCli } from "./run-cli.js";
import { runCommand } from "./running-command.js";
import { isOfTheConnection } from "./send.js";

const page = "docs/errors.md";

/** The text of docs/errors.md with the response that the curl line of each section gets from a fresh server. */
export async function withDocumentedResponses(given: string): Promise<string> {
  const responses = await Promise.all(
    outcomes.map(async ({ path }) => [path, await responseOf(path)] as const),
  );
  return responses.reduce((text, [path, response]) => withResponse(text, path, response), given);
}

/** The text with the response of one section. Other sections stay as they are, also if this one has none or an empty one. */
function withResponse(text: string, path: string, response: string): string {
  const section = new RegExp(`(?<=\n### \`${path}\`\n)(?:(?!\n#{2,3} )[\\s\\S])*`);
  const block = /```http\n(?:[\s\S]*?\n)?```|The API sends no response\./;
  return text.replace(section, (own) => own.replace(block, () => response));
}

const environments = new Map<string, Promise<Record<string, string>>>();

async function keysOf(scenario: string): Promise<Record<string, string>> {
  const { stdout } = await runCli(["keys", scenario, "--format", "env"]);
  const lines = stdout.trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("=", 2)));
}

/** curl's exit code if a fault prevents a complete response. */
const curlFailures: Partial<Record<PathId, number>> = {
  "fault.reset": 56,
  "fault.hang": 28,
  "fault.truncate": 18,
};

/**
 * Runs the curl line of a path with the scenario started above it, and returns the response in Markdown; throws if it
 * does not end on this path.
 */
async function responseOf(path: PathId): Promise<string> {
  const section = sectionOf(page, `\`${path}\``);
  const before = pageOf(page).split(`\n### \`${path}\`\n`)[0] as string;
  const scenario = [...before.matchAll(/svc-sandbox start ([\w-]+)$/gm)].at(-1)?.[1] ?? "";
  const [, line = ""] = /```sh\n(curl .*)\n```/.exec(section) ?? [];
  const server = await startServer({ scenario: scenario as ScenarioName, frozen: true });
  // The page is made before any test.
  const cwd = mkdtempSync(join(tmpdir(), "svc-sandbox-"));
  try {
    if (!environments.has(scenario)) environments.set(scenario, keysOf(scenario));
    // The line stays as it is: curl's own settings lead to another port.
    const connectTo = `connect-to = "127.0.0.1:4747:127.0.0.1:${new URL(server.url).port}"\nnoproxy = "*"\n`;
    writeFileSync(join(cwd, ".curlrc"), connectTo);
    const env = { ...(await environments.get(scenario)), CURL_HOME: cwd };
    const { code, stdout } = await runCommand(line, { cwd, env }).ended;
    const met = server.sandbox.requests.list().at(-1);
    if ((met?.pathId !== path && met?.fault !== path) || code !== (curlFailures[path] ?? 0))
      throw new Error(`${page}: the curl line of ${path} ends on ${met?.pathId} with code ${code}: ${line}`);
    return stdout === "" ? "The API sends no response." : shown(stdout);
  } finally {
    rmSync(cwd, { recursive: true });
    await server.close(0);
  }
}

/** The id differs for each request, and the type is JSON; the page says so. */
const leftOut = ["content-length", "x-request-id"];
const usualType = "content-type: application/json";

function shown(stdout: string): string {
  const [head = "", ...body] = stdout.split("\r\n\r\n");
  const [start = "", ...headers] = head.split("\r\n");
  const status = Number(start.split(" ")[1]);
  const own = headers
    .map((header) => header.split(/: (.*)/) as [name: string, value: string])
    .filter(([name]) => !isOfTheConnection(name) && !leftOut.includes(name.toLowerCase()))
    .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
    .filter((line) => line !== usualType);
  const first = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
  return ["```http", first, ...own, "", body.join("\r\n\r\n"), "```"].join("\n");
}
