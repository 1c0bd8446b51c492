import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { alignColumns } from "../src/report/plain-text.js";
import { nodeFolder } from "./matrix/nodes.js";
import { runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Runs HTTP clients with a hard-coded https address under `exec --intercept`, and compares what becomes of them with the table
// in docs/intercept.md. Words choose the clients whose names contain one of them.

type Result = "works" | "ignores the proxy" | "rejects the certificate";
type Row = readonly [name: string, expected: Result, command: readonly string[]];

const address = "https://api.example/v1/relying-party/me";
const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(root, "node_modules/.cache/svc-sandbox");
const words = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-intercepted-"));

const sh = (line: string) => ["sh", "-c", `${line} --header "x-api-key: $SVC_API_KEY" ${address}`];
const python = (...code: string[]) => [
  "python3",
  "-c",
  ["import os", `u = "${address}"`, 'h = {"x-api-key": os.environ["SVC_API_KEY"]}', ...code].join("\n"),
];
const aiohttp = (options: string) =>
  python(
    "import aiohttp, asyncio",
    "async def go():",
    `  async with aiohttp.ClientSession(${options}) as s, s.get(u, headers=h) as r: await r.text()`,
    "asyncio.run(go())",
  );
const ruby = (code: string) => [
  "ruby",
  "-e",
  code.replace("URL", `"${address}"`).replace("KEY", 'ENV["SVC_API_KEY"]'),
];
const php = (code: string) => [
  "php",
  "-r",
  `$u = "${address}"; $h = "x-api-key: " . getenv("SVC_API_KEY"); ${code}`,
];
const java = (client: string) => ["java", "-XX:TieredStopAtLevel=1", "Intercepted.java", address, client];

/** By client, its code; each is run by every Node. */
const inNode = {
  fetch: "await fetch(u, o)",
  "node:https":
    'await new Promise((y, n) => require("https").get(u, o, y).on("error", n)).then((r) => r.resume())',
  undici: 'await require("undici").request(u, o)',
  "undici, EnvHttpProxyAgent":
    'const { EnvHttpProxyAgent, request } = require("undici"); await request(u, { ...o, dispatcher: new EnvHttpProxyAgent() })',
  got: 'await (await import("got")).default(u, { ...o, retry: { limit: 0 } })',
  ky: 'await (await import("ky")).default(u, { ...o, retry: 0 })',
  axios: 'await require("axios").get(u, o)',
  "node:https, own Agent":
    'const { Agent, get } = require("https"); await new Promise((y, n) => get(u, { ...o, agent: new Agent({ keepAlive: true }) }, y).on("error", n)).then((r) => r.resume())',
  "undici, own Agent":
    'const { Agent, request } = require("undici"); await request(u, { ...o, dispatcher: new Agent() })',
  "axios, proxy: false": 'await require("axios").get(u, { ...o, proxy: false })',
  superagent: 'await require("superagent").get(u).set(o.headers)',
};
const ownProxy = ["axios", "undici, EnvHttpProxyAgent"];
const withoutProxy = ["node:https, own Agent", "undici, own Agent", "axios, proxy: false", "superagent"];

const rows: Row[] = [
  ["curl", "works", sh("curl -sf")],
  ["curl, pinned", "rejects the certificate", sh(`curl -sf --pinnedpubkey sha256//${"A".repeat(43)}=`)],
  ["wget", "rejects the certificate", sh("wget -q -O -")],
  ["wget, SVC_CA_FILE", "works", sh('wget -q -O - --ca-certificate="$SVC_CA_FILE"')],
  ["Python urllib", "works", python("import urllib.request as r", "r.urlopen(r.Request(u, headers=h))")],
  [
    "Python urllib3",
    "ignores the proxy",
    python("import urllib3", "urllib3.PoolManager(retries=False).request('GET', u, headers=h)"),
  ],
  ["Python requests", "works", python("import requests", "requests.get(u, headers=h)")],
  ["Python httpx", "works", python("import httpx", "httpx.get(u, headers=h)")],
  ["Python aiohttp", "ignores the proxy", aiohttp("")],
  ["Python aiohttp, trust_env", "works", aiohttp("trust_env=True")],
  ["Java HttpClient", "works", java("HttpClient")],
  ["Java HttpClient, NO_PROXY", "ignores the proxy", java("NO_PROXY")],
  ["Java HttpURLConnection", "works", java("HttpURLConnection")],
  ["Go net/http", "works", ["go", "run", "intercepted.go", address]],
  ["Go net/http, own Transport", "ignores the proxy", ["go", "run", "intercepted.go", address, "own"]],
  ["Ruby Net::HTTP", "works", ruby('require "net/http"; Net::HTTP.get(URI(URL), { "x-api-key" => KEY })')],
  ["Ruby open-uri", "works", ruby('require "open-uri"; URI.open(URL, "x-api-key" => KEY)')],
  ["PHP curl", "works", php("$c = curl_init($u); curl_setopt($c, CURLOPT_HTTPHEADER, [$h]); curl_exec($c);")],
  [
    "PHP streams",
    "ignores the proxy",
    php('file_get_contents($u, false, stream_context_create(["http" => ["header" => $h]]));'),
  ],
];
for (const major of [20, 22, 24] as const) {
  for (const [name, code] of Object.entries(inNode)) {
    const hasProxy = ownProxy.includes(name) || (major > 20 && !withoutProxy.includes(name));
    const script = `const u = "${address}", o = { headers: { "x-api-key": process.env.SVC_API_KEY } }; (async () => { ${code} })()`;
    const node = () => nodeFolder(major, cache).then((bin) => join(bin, "node"));
    if (isChosen(`Node ${major} ${name}`))
      rows.push([
        `Node ${major} ${name}`,
        hasProxy ? "works" : "ignores the proxy",
        [await node(), "-e", script],
      ]);
  }
}

function isChosen(name: string): boolean {
  return words.length === 0 || words.some((word) => name.includes(word));
}

/** What becomes of a client; `undefined` when this machine does not have it. */
async function run(command: readonly string[]): Promise<string | undefined> {
  const argv = ["exec", "--intercept", "api.example", "--format", "brief", "--", ...command];
  const { stderr, output } = await runProgram(process.execPath, [join(root, "bin/svc-sandbox.js"), ...argv], {
    cwd: folder,
    env: { GO111MODULE: "off" },
  });
  const brief = /^\{"verdict".*$/m.exec(stderr)?.[0];
  if (brief === undefined || /ModuleNotFoundError|: not found|extension not/.test(output)) return undefined;
  const { missed, next } = JSON.parse(brief) as { missed: object; next: string };
  if (!("200.test" in missed)) return "works";
  if (next.includes("ignores HTTPS_PROXY")) return "ignores the proxy";
  return next.includes("rejects the sandbox's certificate") ? "rejects the certificate" : output;
}

const tally = createTally("intercepted");
const table = [["client", "expected", "found"]];
try {
  await cp(join(root, "scripts/clients"), folder, { recursive: true });
  const npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  await runProgram("npm", npm, { cwd: folder });
  for (const [name, expected, command] of rows.filter(([one]) => isChosen(one))) {
    const found = await run(command);
    if (found === undefined) tally.skip(name, "this machine does not have it");
    else tally.count(name, found === expected ? undefined : `${expected} was expected: ${found}`);
    table.push([name, expected, (found ?? "-").split("\n")[0] as string]);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(`\n${alignColumns(table).join("\n")}\n`);
tally.close();
