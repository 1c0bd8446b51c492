import { parseBenchArguments } from "./arguments.js";
import { bundlePrograms } from "./bundle.js";
import { figureTable } from "./figure.js";
import { measureThroughput } from "./throughput.js";

const measurements = { throughput: measureThroughput };

const asked = parseBenchArguments(process.argv.slice(2));
const bundle = await bundlePrograms();
try {
  const figures = [];
  for (const [name, measure] of Object.entries(measurements)) {
    if (asked.only.length > 0 && !asked.only.includes(name)) continue;
    figures.push(...(await measure(asked, bundle)));
  }
  console.log(figureTable(figures));
} finally {
  await bundle.remove();
}
