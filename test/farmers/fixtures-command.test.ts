import { once } from "node:events";
import type { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { farmerRow } from "../../src/cli/commands/fixtures.js";
import { createSandbox, type Farmer, type Sandbox } from "../../src/index.js";
import { runCli, startCli } from "../support/run-cli.js";
import { startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function printed(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(["fixtures", ...argv], { cwd: temporaryFolder() });
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

const records = async (...argv: string[]): Promise<Farmer[]> =>
  (await printed("farmers", ...argv))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** A table as RFC 4180 says, read by a reader of our own that knows quotes. */
function readCsv(text: string): string[][] {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g;
  const rows: string[][] = [[]];
  for (const [, quoted, plain = "", end] of text.matchAll(cell)) {
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\n") rows.push([]);
  }
  expect(rows.pop()).toEqual([]);
  return rows;
}

describe("svc-sandbox fixtures farmers", () => {
  it("prints ten farmers, a JSON object a line, the same ones every day", async () => {
    const farmers = await records();
    expect(farmers).toHaveLength(10);
    const sandbox: Sandbox = createSandbox({ scenario: "key-states", now: "2026-03-02T09:00:00Z" });
    expect(farmers).toEqual(sandbox.farmers.list({ limit: 10 }));
  });

  it("gives the farmers of a scenario with its seed, time and locale", async () => {
    const scenario = {
      version: 1,
      seed: 7,
      clock: { now: "2027-05-01T00:00:00Z" },
      population: { organizations: 1, locale: "en" },
    } as const;
    const sandbox: Sandbox = createSandbox({ scenario });
    const given = ["--seed", "7", "--now", "2027-05-01T00:00:00Z", "--locale", "en", "--from", "990"];
    expect(await records(...given)).toEqual(sandbox.farmers.list({ offset: 990, limit: 10 }));
  });

  it("goes to the last instant of a clock, and no further", async () => {
    const now = "9999-12-24T23:59:59.999Z";
    const sandbox: Sandbox = createSandbox({ now });
    expect(await records("--now", now)).toEqual(sandbox.farmers.list({ limit: 10 }));
    const later = await runCli(["fixtures", "farmers", "--now", "9999-12-25T00:00:00Z"]);
    expect([later.code, later.stderr]).toEqual([2, expect.stringContaining(`the latest time is ${now}`)]);
  });

  it("gives the same records in every format", async () => {
    const farmers = await records("--count", "40", "--from", "5");
    const of = (format: string) => printed("farmers", "--count", "40", "--from", "5", "--format", format);
    expect(JSON.parse(await of("json"))).toEqual(farmers);
    expect(parse(await of("yaml"))).toEqual(farmers);
    // To readers of YAML 1.1 a bare date is no text.
    expect(parse(await of("yaml"), { version: "1.1" })).toEqual(farmers);
    const [head, ...rows] = readCsv(await of("csv"));
    const [first = {}] = farmers.map(farmerRow);
    expect(head).toEqual(Object.keys(first));
    const cells = farmers.map(farmerRow).map((row) => Object.values(row).map((value) => String(value ?? "")));
    expect(rows).toEqual(cells);
    const collection = JSON.parse(await of("geojson"));
    expect(collection.type).toBe("FeatureCollection");
    expect(collection.features.map(({ id }: { id: string }) => id)).toEqual(
      farmers.flatMap(({ parcels }) => parcels.map(({ id }) => id)),
    );
    const owners = collection.features.map(
      ({ properties }: { properties: { farmer_id: string } }) => properties.farmer_id,
    );
    expect(owners).toEqual(farmers.flatMap(({ farmer_id: id, parcels }) => parcels.map(() => id)));
  });

  it("prints a complete document of each format, also an empty one", async () => {
    const of = (format: string) => printed("farmers", "--count", "0", "--format", format);
    expect(await of("ndjson")).toBe("");
    expect(JSON.parse(await of("json"))).toEqual([]);
    expect(parse(await of("yaml"))).toEqual([]);
    const [head] = (await printed("farmers", "--count", "1", "--format", "csv")).split("\n");
    expect(await of("csv")).toBe(`${head}\n`);
    expect(JSON.parse(await of("geojson"))).toEqual({ type: "FeatureCollection", features: [] });
  });
});

describe("svc-sandbox fixtures organizations", () => {
  it("prints the organizations of a scenario's population", async () => {
    const sandbox: Sandbox = createSandbox({
      scenario: { version: 1, seed: 3, population: { organizations: 5 } },
    });
    const expected = sandbox.organizations.list().map(({ ref, id, name, type }) => ({ ref, id, name, type }));
    const json = await printed("organizations", "--count", "5", "--seed", "3", "--format", "json");
    expect(JSON.parse(json)).toEqual(expected);
    const csv = await printed("organizations", "--count", "5", "--seed", "3", "--format", "csv");
    expect(readCsv(csv)).toEqual([["ref", "id", "name", "type"], ...expected.map((a) => Object.values(a))]);
  });
});

describe("many farmers", () => {
  it("that a signal cuts off have its exit code", async () => {
    const running = startCli(["fixtures", "farmers", "--count", "1000000"]);
    await running.stdout.shows(/farmer_/);
    expect((await running.stop("SIGINT")).code).toBe(130);
  });

  it("end without a word when the reader has seen enough", async () => {
    const { child, ended } = startBin(["fixtures", "farmers", "--count", "1000000"]);
    await once(child.stdout as Readable, "data");
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: "" });
  });
});
