import { parseBenchArguments } from "./arguments.js";
import { bundlePrograms } from "./bundle.js";
import { measureDashboard } from "./dashboard.js";
import { measureFairness } from "./fairness.js";
import { type Figure, figureTable } from "./figure.js";
import { measureFirstAnswer } from "./first-answer.js";
import { measureImports } from "./imports.js";
import { measureManyKeys } from "./many-keys.js";
import { measureReplicas } from "./replicas.js";
import { measureThroughput } from "./throughput.js";

const measurements = {
  throughput: measureThroughput,
  dashboard: measureDashboard,
  "many-keys": measureManyKeys,
  "first-answer": measureFirstAnswer,
  imports: measureImports,
  fairness: measureFairness,
  replicas: measureReplicas,
};

const args = parseBenchArguments(process.argv.slice(2), Object.keys(measurements));
const bundle = await bundlePrograms();
try {
  const figures: Figure[] = [];
  for (const [name, measure] of Object.entries(measurements)) {
    if (!args.measurements.includes(name)) continue;
    console.error(`measuring ${name} …`);
    figures.push(...(await measure(args, bundle)));
  }
  console.log(figureTable(figures));
} finally {
  await bundle.remove();
}
