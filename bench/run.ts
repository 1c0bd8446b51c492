import { parseArgs } from "node:util";
import { missing } from "../test/support/programs.js";
import { measureDashboard } from "./dashboard.js";
import { earlierVersion } from "./earlier-version.js";
import { type Figure, figureLine, figureTable } from "./figure.js";
import { measureFirstResponse } from "./first-response.js";
import { measureGrowth, measureState } from "./growth.js";
import { bundlePrograms } from "./programs.js";
import { measureThroughput } from "./throughput.js";

/** Each measurement, and the program that it needs besides Node; without it, it is left out. */
const measurements = {
  throughput: { measure: measureThroughput },
  dashboard: { measure: measureDashboard, needs: "chromium" },
  "first-response": { measure: measureFirstResponse },
  growth: { measure: measureGrowth },
  state: { measure: measureState },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean" },
    // A commit, or the folder of a built copy of the project.
    against: { type: "string" },
  },
});
const names = Object.keys(measurements);
const unknown = positionals.find((name) => !names.includes(name));
if (unknown !== undefined) {
  throw new Error(`Failed to find the measurement "${unknown}": there are ${names.join(", ")}.`);
}
// What is compared with an earlier version.
const compared = ["throughput", "first-response"];
const chosen = positionals.length > 0 ? positionals : values.against === undefined ? names : compared;
const against = values.against && (await earlierVersion(values.against));
const args = { quick: false, ...values, against };
const bundle = await bundlePrograms();
const figures: Figure[] = [];
try {
  for (const [name, { measure, ...more }] of Object.entries(measurements)) {
    if (!chosen.includes(name)) continue;
    const why = "needs" in more ? missing(more.needs) : undefined;
    console.error(why === undefined ? `measuring ${name} …` : `leaving out ${name}: ${why}`);
    if (why !== undefined) continue;
    for await (const figure of measure(args, bundle)) {
      figures.push(figure);
      console.error(figureLine(figure));
    }
  }
} finally {
  // Also if a measurement fails: the others take minutes.
  console.log(figureTable(figures));
  await bundle.remove();
}
