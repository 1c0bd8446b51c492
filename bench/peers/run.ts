import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mustRun } from "../../scripts/run-program.js";
import { bundlePrograms } from "../programs.js";
import { makeJob } from "./job.js";
import { measure } from "./measure.js";
import { peers } from "./peers.js";
import { keyCounts, partOf, type Readings, type Results } from "./table.js";

// `npm run bench:peers`: measures the peers and keeps the results; `npm run docs:update` writes them into the docs.

const folder = fileURLToPath(new URL(".", import.meta.url));
const resultsFile = `${folder}results.json`;
// `--quick` measures the sandbox once and keeps nothing: enough to see that the command works.
const { values } = parseArgs({
  options: { only: { type: "string" }, quick: { type: "boolean", default: false } },
});
const names = values.quick ? ["ours"] : (values.only?.split(",") ?? Object.keys(peers));
const unknown = names.find((name) => !(name in peers));
if (unknown !== undefined)
  throw new Error(`Failed to find ${unknown} of --only: there are ${Object.keys(peers).join(", ")}.`);
// The process groups of the peers do not receive Ctrl+C.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

if (!values.quick && !existsSync(`${folder}node_modules`)) {
  console.error(`installing the peers in ${folder} …`);
  const argv = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  await mustRun("npm", argv, { cwd: folder, timeout: 1_200_000 });
}

const machine = `${process.platform} on ${cpus().length} cores, Node ${process.versions.node}`;
const measured = { ...(JSON.parse(await readFile(resultsFile, "utf8")) as Results).peers };
const bundle = await bundlePrograms();
try {
  for (const name of names)
    measured[name] = { version: await versionOf(name), readings: await measureAll(name) };
} finally {
  await bundle.remove();
}
console.log(partOf({ machine, peers: measured }));
if (!values.quick)
  await writeFile(resultsFile, `${JSON.stringify({ machine, peers: measured }, undefined, 2)}\n`);

async function measureAll(name: string): Promise<Readings> {
  const readings: Record<string, Readings[string]> = {};
  for (const keys of values.quick ? keyCounts.slice(0, 1) : keyCounts) {
    console.error(`measuring ${name} with ${keys} keys …`);
    readings[keys] = await measure(name, await makeJob(keys), bundle).catch((error: Error) => {
      console.error(error.message);
      return { failure: error.message.split("\n")[0] as string };
    });
  }
  return readings;
}

async function versionOf(name: string): Promise<string> {
  const of = peers[name]?.package;
  const file = of === undefined ? "../../package.json" : `node_modules/${of}/package.json`;
  return JSON.parse(await readFile(`${folder}${file}`, "utf8")).version;
}
