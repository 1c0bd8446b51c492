import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { coreSender } from "../src/api/core-sender.js";
import { attestationSchema } from "../src/api/endpoints/attestations.js";
import { endpoints } from "../src/api/routes.js";
import { permissions, productionStatuses, validityStatuses } from "../src/domain/attestation.js";
import { consentStatuses, purposeCodes } from "../src/domain/consent.js";
import { personaOf } from "../src/domain/farmer.js";
import { type Outcome, outcomes } from "../src/domain/outcomes.js";
import * as core from "../src/index.js";
import { tellNext } from "../src/sandbox/story/tell.js";
import { levelsOf } from "../src/scenario/format/inspect.js";
import { scenarioSchema } from "../src/scenario/format/schema.js";
import { parseScenario } from "../src/scenario/parse-scenario.js";
import { codeBlocks, runExample } from "./support/documented-code.js";
import { openTestWorld } from "./support/doors.js";
import { previewDescription } from "./support/expect-preview.js";

const page = readFileSync(join(import.meta.dirname, "../docs/preview.md"), "utf8");

test("the page names every endpoint with its scope, every refusal, and every value that there is", () => {
  for (const { method, path, scope, preview } of endpoints) {
    if (preview !== true) continue;
    const needed = scope(openTestWorld("key-states").assumptions);
    expect(page).toContain(`| \`${method} ${path}\` | \`${needed}\` |`);
  }
  for (const { path, status, code, preview } of outcomes as readonly Outcome[]) {
    if (preview === true) expect(page).toContain(`| \`${path}\` | ${status} \`${code}\` |`);
  }
  const values = [consentStatuses, purposeCodes, permissions, productionStatuses, validityStatuses].flat();
  expect(values.filter((value) => !page.includes(`\`${value}\``))).toEqual([]);
});

test("the page names every member of the records, and every field of consents in a scenario", () => {
  const path = previewDescription.paths["/v1/relying-party/consent-requests"] as never as {
    post: {
      responses: { 201: { content: { "application/json": { schema: { properties: { data: object } } } } } };
    };
  };
  const consent = path.post.responses[201].content["application/json"].schema.properties.data;
  const members = [consent, attestationSchema].flatMap((schema) =>
    Object.keys((schema as { properties: object }).properties),
  );
  const fields = levelsOf(scenarioSchema)
    .filter((level) => level.path[0] === "consents")
    .flatMap((level) => level.fields);
  expect(members).toContain("respond_by");
  expect(fields).toContain("deeds");
  expect([...members, ...fields].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("the first farmers are as the page says, whatever the seed", () => {
  const rows = [...page.matchAll(/^\| (\d) \| `(\w+)` \|/gm)].map(([, farmer, persona]) => [
    Number(farmer),
    persona,
  ]);
  expect(rows).toHaveLength(5);
  for (const seed of [1, 7, 42]) {
    for (const [farmer, persona] of rows)
      expect([farmer, personaOf(seed, farmer as number)]).toEqual([farmer, persona]);
  }
});

test("the shares of the others are what the page says", () => {
  const count: Record<string, number> = {};
  for (let farmer = 5; farmer < 20_005; farmer++) {
    const persona = personaOf(1, farmer);
    count[persona] = (count[persona] ?? 0) + 1;
  }
  for (const [persona, share] of Object.entries({
    grants: 0.7,
    refuses: 0.1,
    silent: 0.15,
    grants_then_revokes: 0.05,
  })) {
    expect((count[persona] ?? 0) / 20_000).toBeCloseTo(share, 1.7);
  }
});

test("the code of the page runs, and its comments are true", async () => {
  for (const { code } of codeBlocks(page)) {
    expect(await runExample(code, { "svc-sandbox": core })).toBe(code.match(/; \/\/ /g)?.length ?? 0);
  }
});

test("the scenario of the page is valid, and its story goes as it says", async () => {
  const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const world = openTestWorld(parseScenario(yaml));
  for (let told = await tellNext(world, coreSender(world)); told !== undefined; ) {
    expect(told.differences).toEqual([]);
    told = await tellNext(world, coreSender(world));
  }
  expect(world.story.next).toBe(3);
});
