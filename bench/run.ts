import { parseBenchArguments } from "./arguments.js";
import { bundlePrograms } from "./bundle.js";
import { measureDashboard } from "./dashboard.js";
import { type Figure, figureTable } from "./figure.js";
import { measureFirstAnswer } from "./first-answer.js";
import { measureReplicas } from "./replicas.js";
import { measureThroughput } from "./throughput.js";

const measurements = {
  throughput: measureThroughput,
  dashboard: measureDashboard,
  "first-answer": measureFirstAnswer,
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
