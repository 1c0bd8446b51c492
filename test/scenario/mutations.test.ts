import fc from "fast-check";
import { test } from "vitest";
import { parse, stringify } from "yaml";
import { parseScenario, ScenarioError } from "../../src/index.js";
import { starterScenario } from "../../src/scenario/starter.generated.js";
import { runs } from "../support/property-seed.js";

type Mapping = Record<string, unknown>;
type Step = readonly [holder: Mapping | unknown[], name: string];

/** Every node of a value below its top, as what holds it and its name in there. */
function nodesOf(value: unknown): Step[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((name): Step[] => [
    [value as Mapping, name],
    ...nodesOf((value as Mapping)[name]),
  ]);
}

const names = fc.oneof(
  fc.constantFrom("keys", "perMinute", "__proto__", "constructor", "<<", "extends", "a b", "state", "", "9"),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const values = fc.oneof(
  fc.constantFrom(
    "active",
    "retiring",
    "rotated",
    "expired",
    "live",
    "-1d",
    "8d",
    "2026-02-30",
    "revoked",
    "main",
  ),
  fc.constantFrom("SVC_test_4eC39HqLyjWDarjtT1zdp7dc", "SVC_live_x", "key-states", "attestations:read"),
  fc.jsonValue({ maxDepth: 3 }),
);
const mutation = fc.record({
  node: fc.nat(),
  kind: fc.constantFrom("delete", "rename", "retype"),
  name: names,
  value: values,
});

function mutate(
  scenario: unknown,
  { node, kind, name, value }: { node: number; kind: string; name: string; value: unknown },
) {
  const nodes = nodesOf(scenario);
  const [holder, at] = nodes[node % nodes.length] as Step;
  const place = holder as Mapping;
  if (kind === "retype") place[at] = value;
  else if (Array.isArray(holder)) holder.splice(Number(at), 1);
  else {
    const old = place[at];
    delete place[at];
    if (kind === "rename")
      Object.defineProperty(place, name, {
        value: old,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
}

/** Whether every problem of the text points into the text. Throws what is no ScenarioError. */
function pointsIntoTheText(text: string): boolean {
  try {
    parseScenario(text);
    return true;
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const lines = text.split("\n");
    return (
      error.problems.length > 0 &&
      error.problems.every(({ line = 0, column = 0 }) => {
        const length = lines[line - 1]?.length ?? -1;
        return line >= 1 && column >= 1 && column <= length + 1;
      })
    );
  }
}

test("a mutated scenario parses, or every problem has its place in the file", () => {
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), fc.boolean(), (mutations, flow) => {
      const scenario: unknown = parse(starterScenario);
      for (const one of mutations) mutate(scenario, one);
      return pointsIntoTheText(stringify(scenario, { collectionStyle: flow ? "flow" : "block" }));
    }),
    runs(100),
  );
});

test("a text with characters put in or cut out parses, or every problem has its place in the file", () => {
  const pieces = fc.oneof(
    fc.constantFrom("\t", "{", "]", '"', "'", "*a", "&a ", "!!x ", "---\n", "\n", ": ", "- "),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.nat(starterScenario.length), fc.nat(40), pieces, (at, cut, piece) =>
      pointsIntoTheText(starterScenario.slice(0, at) + piece + starterScenario.slice(at + cut)),
    ),
    runs(100),
  );
});
