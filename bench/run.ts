import { parseArgs } from "node:util";
import { measureDashboard } from "./dashboard.js";
import { type Figure, figureTable } from "./figure.js";
import { measureFirstAnswer } from "./first-answer.js";
import { bundlePrograms } from "./programs.js";
import { measureReplicas } from "./replicas.js";
import { measureThroughput } from "./throughput.js";

const measurements = {
  throughput: measureThroughput,
  dashboard: measureDashboard,
  "first-answer": measureFirstAnswer,
  replicas: measureReplicas,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    node: { type: "string", default: process.execPath },
    quick: { type: "boolean", default: false },
  },
});
const names = Object.keys(measurements);
const unknown = positionals.find((name) => !names.includes(name));
if (unknown !== undefined) {
  throw new Error(
    `Failed to find the measurement ${JSON.stringify(unknown)}: there are ${names.join(", ")}.`,
  );
}
const bundle = await bundlePrograms();
try {
  const figures: Figure[] = [];
  for (const [name, measure] of Object.entries(measurements)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    console.error(`measuring ${name} …`);
    figures.push(...(await measure(values, bundle)));
  }
  console.log(figureTable(figures));
} finally {
  await bundle.remove();
}
