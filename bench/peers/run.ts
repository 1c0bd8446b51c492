import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundlePrograms } from "../bundle.js";
import { commandFile } from "../command.js";
import { installedPeer, installPeers, javaVersion } from "./install.js";
import { makeJob } from "./job.js";
import { fullEffort, measure, quickEffort } from "./measure.js";
import { peers } from "./peers.js";
import { plotOf } from "./plot.js";
import { keyCounts, type Results, withReading } from "./results.js";
import { partOf, tablesOf } from "./table.js";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const resultsFile = file("results.json");
const pageFile = file("../../docs/benchmarks.md");
const plotFile = file("../../docs/images/peers.svg");

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    keys: { type: "string" },
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    // Writes the page from what was measured before.
    render: { type: "boolean", default: false },
  },
});

/** The items that a flag names, all of them without it. */
function chosen<Item>(flag: string, items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  const names = values[flag as "only" | "keys"]?.split(",") ?? items.map(nameOf);
  const known = items.map(nameOf);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`Failed to find ${JSON.stringify(unknown)} of --${flag}: there are ${known.join(", ")}.`);
  }
  return items.filter((item) => names.includes(nameOf(item)));
}

const asked = chosen("only", peers, ({ name }) => name);
const counts = chosen("keys", keyCounts, String);
// The groups of the peers do not hear Ctrl+C themselves.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

if (values.render) await render(JSON.parse(readFileSync(resultsFile, "utf8")));
else await run();

async function run(): Promise<void> {
  if (!existsSync(commandFile.replace(/bin\/[^/]+$/, "dist/esm"))) {
    throw new Error("Failed to find the built command: run npm run build first.");
  }
  await installPeers();
  const bundle = await bundlePrograms();
  const effort = values.quick ? quickEffort : fullEffort;
  const surroundings = { bundle, node: process.execPath, effort };
  // A trial stands for itself; a full run replaces what it measured and keeps the rest.
  let results: Results = { machine: machineOf(), peers: {} };
  if (!values.quick && existsSync(resultsFile)) {
    results = { ...JSON.parse(readFileSync(resultsFile, "utf8")), machine: machineOf() };
  }
  try {
    for (const keys of counts) {
      const job = await makeJob(keys);
      for (const peer of asked) {
        console.error(`measuring ${peer.title} with ${keys.toLocaleString("en")} keys …`);
        const installed = await installedPeer(peer);
        const reading = await measure(peer, job, surroundings).catch((error: Error) => {
          console.error(error.message);
          return { failure: error.message.split("\n")[0] as string };
        });
        results = withReading(results, peer.name, installed, keys, reading);
        if (!values.quick) await writeFile(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`);
      }
    }
  } finally {
    await bundle.remove();
  }
  console.log(tablesOf(results));
  if (values.write && !values.quick) await render(results);
}

async function render(results: Results): Promise<void> {
  const page = await readFile(pageFile, "utf8");
  const place = /(?<=<!-- peers -->\n)[\s\S]*?(?=<!-- \/peers -->)/;
  const part = `\n${partOf(results)}\n\n`;
  await writeFile(
    pageFile,
    page.replace(place, () => part),
  );
  await writeFile(plotFile, plotOf(results));
}

function machineOf(): string {
  const java = javaVersion();
  const parts = [`${process.platform} on ${cpus().length} cores`, `Node ${process.versions.node}`];
  return [...parts, ...(java === undefined ? [] : [java])].join(", ");
}
