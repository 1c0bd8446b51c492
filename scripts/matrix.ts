import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { inParallel } from "../test/support/in-parallel.js";
import { cache, install, ownPlatform } from "./install.js";
import { type Cell, cells, type NodeMajor, nameOf } from "./matrix/cells.js";
import { runCell } from "./matrix/run-cell.js";
import { packProject } from "./pack.js";
import { createTally } from "./tally.js";

// `--quick` runs the cells that break first; other words choose the cells whose names contain them all.

const words = process.argv.slice(2);
const asked = cells.filter((cell) =>
  words.every((word) => (word === "--quick" ? cell.quick === true : nameOf(cell).includes(word))),
);

const tally = createTally("matrix");
const { tarball } = await packProject(tally.folder);
const nodes = remembered(nodeFolder);
const installations = remembered(async (packages: string) => {
  const into = join(tally.folder, packages.replace(/[^\w.]+/g, "-") || "alone");
  await install(into, [tarball, ...packages.split(" ").filter((one) => one !== "")]);
  return into;
});
const run = async (cell: Cell) =>
  runCell(cell, {
    installation: await installations(cell.packages.join(" ")),
    nodeBin: await nodes(cell.node),
    slug: `cell-${cells.indexOf(cell)}`,
  });

await inParallel(asked.length, Math.min(4, availableParallelism()), async (index) => {
  const cell = asked[index] as Cell;
  tally.count(nameOf(cell), await run(cell).catch((error: Error) => error.message));
});

/** A function that does its work once for each argument. */
function remembered<Argument, Result>(work: (argument: Argument) => Promise<Result>) {
  const done = new Map<Argument, Promise<Result>>();
  return (argument: Argument): Promise<Result> => {
    const known = done.get(argument) ?? work(argument);
    done.set(argument, known);
    return known;
  };
}

/**
 * The folder of a Node of a major version, to be put into `PATH`: this one, or the newest of the npm registry, which is
 * kept in the cache folder. Throws when npm does.
 */
async function nodeFolder(major: NodeMajor): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return dirname(process.execPath);
  const folder = join(cache, `node-${major}`);
  const name = `node-${ownPlatform}`;
  const bin = join(folder, "node_modules", name, "bin");
  if (existsSync(join(bin, "node"))) return bin;
  await install(folder, [`${name}@${major}`]);
  return bin;
}
