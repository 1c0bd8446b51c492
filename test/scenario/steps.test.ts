import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../support/bundle.js";

// Numbers of four digits, so that a text grows as the number of its parts.
const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(1000 + index)).join("");
const bank = "version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n";
const sound = "version: 1\norganizations: { bank: { type: bank } }\n";
const key = (n: number | string, more = "") => `      key-${n}: { environment: test${more} }\n`;

// Found by measuring: each took many seconds for a text that a server accepts, or could.
const shapes: Readonly<Record<string, (size: number) => string>> = {
  "sound keys": (size) =>
    `version: 1\norganizations:\n${times(size, (n) => `  bank-${n}:\n    type: bank\n    keys:\n${key(n)}`)}`,
  "unknown fields": (size) => sound + times(size * 4, (n) => `field-${n}: 1\n`),
  "unknown fields in a line": (size) => `{ version: 1, ${times(size * 4, (n) => `field-${n}: 1, `)} }`,
  "fields of the format in wrong cases": (size) => bank + times(size * 2, (n) => key(n, ", Per-Minute: 1")),
  "unknown replacements": (size) =>
    bank + times(size, (n) => key(n, `, state: retiring, replaced_by: kay-${n}`)),
  "active keys of one organization": (size) => bank + times(size * 2, (n) => key(n)),
  "refs in wrong spelling": (size) => bank + times(size * 2, (n) => key(`Ä_${n}`)),
  "duplicate fields": (size) => sound + times(size * 4, () => "name: x\n"),
  "aliases of a long list": (size) =>
    `x-a: &a [${times(size * 4, () => "1, ")}]\nx-b: [${times(size, () => "*a, ")}]\n${sound}`,
  "merge keys": (size) => `x-a: [${times(size * 2, () => "{ <<: 1 }, ")}]\n${sound}`,
  anchors: (size) => `${times(size * 2, (n) => `x-${n}: &a${n} 1\n`)}${sound}`,
  "anchors with aliases": (size) => `${times(size, (n) => `x-${n}: &a${n} 1\ny-${n}: *a${n}\n`)}${sound}`,
  "quotes in a line, and an error": (size) => `[${times(size * 10, () => '"a", ')}`,
  "brackets in texts, and an error": (size) =>
    `name: a${times(size * 5, () => " [ {")}\n${times(size * 5, () => "# ] }\n")}b: "`,
  "a long word, and an error": (size) => `a: ${"a".repeat(size * 50)}\nb: "`,
  "many lines, and an error": (size) => `${times(size * 4, (n) => `a${n}: b\n`)}b: "`,
  comments: (size) => times(size * 4, () => "# comment\n") + sound,
  "empty lists": (size) => `x-a: [${times(size * 10, () => "[], ")}]\n${sound}`,
  "names of secrets": (size) => bank + times(size * 2, (n) => key(n, `, secrets: ${n}`)),
  "steps with unknown keys": (size) =>
    `${bank}${key("a")}story:\n${times(size, (n) => `  - revoke: { key: kay-${n} }\n`)}`,
  "steps that make keys": (size) =>
    `${bank}${key("a")}story:\n${times(size, (n) => `  - create_key: { organization: bank, environment: test, name: a, ref: kay-${n} }\n`)}`,
  "a population": (size) => `version: 1\npopulation: { organizations: 10 }\n#${"x".repeat(size * 50)}`,
  "a population of many keys": (size) => `version: 1\npopulation: { organizations: ${size * 100} }\n`,
  "a population of too many keys, and a pinned one": (size) =>
    `${bank}${key("a", `, secret: SVC_test_sbx${"a".repeat(29)}`)}population: { organizations: ${size * 100}, keys_per_organization: 10 }\n`,
};

let worker: Worker;
beforeAll(async () => {
  const workerData = await bundle("src/scenario/scenario-source.ts");
  worker = new Worker(new URL("./step-counter.js", import.meta.url), { workerData });
});
afterAll(() => worker.terminate());

async function stepsOf(text: string): Promise<number> {
  worker.postMessage(text);
  const [steps] = await once(worker, "message");
  return steps;
}

test.each(Object.entries(shapes))(
  "%s: four times the text takes at most four times the steps",
  async (_name, textOf) => {
    const [small, large] = [textOf(250), textOf(1000)];
    const [few, many] = [await stepsOf(small), await stepsOf(large)];
    expect(many / few).toBeLessThan((1.002 * large.length) / small.length);
  },
);
