import { parseBenchArguments } from "./arguments.js";
import { bundlePrograms } from "./bundle.js";
import { measureControl } from "./control.js";
import { measureDashboard } from "./dashboard.js";
import { measureFarmers } from "./farmers.js";
import { type Figure, figureTable } from "./figure.js";
import { measureFirstAnswer } from "./first-answer.js";
import { measureHttp2 } from "./http2.js";
import { measureImports } from "./imports.js";
import { measureLibrary } from "./library.js";
import { measureManyKeys } from "./many-keys.js";
import { measureMemory } from "./memory.js";
import { measureRejections } from "./rejections.js";
import { measureStore } from "./store.js";
import { measureThroughput } from "./throughput.js";

const measurements = {
  throughput: measureThroughput,
  http2: measureHttp2,
  control: measureControl,
  dashboard: measureDashboard,
  "many-keys": measureManyKeys,
  memory: measureMemory,
  "first-answer": measureFirstAnswer,
  imports: measureImports,
  library: measureLibrary,
  farmers: measureFarmers,
  rejections: measureRejections,
  store: measureStore,
};

const asked = parseBenchArguments(process.argv.slice(2), Object.keys(measurements));
const bundle = await bundlePrograms();
try {
  const figures: Figure[] = [];
  for (const [name, measure] of Object.entries(measurements)) {
    if (!asked.measurements.includes(name)) continue;
    console.error(`measuring ${name} …`);
    figures.push(...(await measure(asked, bundle)));
  }
  console.log(figureTable(figures));
} finally {
  await bundle.remove();
}
