import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/support/property-seed.js";
import { isMapping } from "../rules/schema/shape.js";
import { createNotes } from "./document.js";
import { ofExamples, sampleOf } from "./sampler.js";
import { schemasOf } from "./schemas.js";

const names = ["a", "b", "c"];
const name = fc.constantFrom(...names);
const small = fc.integer({ min: 0, max: 3 });
const plain = fc.oneof(
  fc.integer({ min: -3, max: 9 }),
  fc.constantFrom("", "a", "bb", "2026-01-01", true, null, 1.5),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    plain,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const type = fc.constantFrom("array", "boolean", "integer", "null", "number", "object", "string");
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const inner = tie("schema");
  const some = fc.array(inner, { minLength: 1, maxLength: 3 });
  const leaves = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) }),
    const: value,
    minimum: small,
    maximum: small,
    exclusiveMinimum: small,
    exclusiveMaximum: small,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    minLength: small,
    maxLength: small,
    minItems: small,
    maxItems: small,
    minProperties: small,
    maxProperties: small,
    minContains: small,
    maxContains: small,
    pattern: fc.constantFrom("^a", "b+$", "[0-9]{4}"),
    format: fc.constantFrom("date", "email", "int32"),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 })),
    uniqueItems: fc.boolean(),
  };
  const nested = {
    items: inner,
    additionalProperties: inner,
    not: inner,
    contains: inner,
    if: inner,
    // biome-ignore lint/suspicious/noThenProperty: a keyword
    then: inner,
    else: inner,
    propertyNames: inner,
    unevaluatedProperties: inner,
    unevaluatedItems: inner,
    allOf: some,
    anyOf: some,
    oneOf: some,
    prefixItems: some,
    properties: fc.dictionary(name, inner, { maxKeys: 3 }),
    patternProperties: fc.dictionary(fc.constantFrom("^a", "c"), inner, { maxKeys: 2 }),
    dependentSchemas: fc.dictionary(name, inner, { maxKeys: 2 }),
    $ref: fc.constantFrom("#/$defs/One", "#/$defs/Two"),
  };
  const some_ = fc.tuple(
    fc.record(leaves, { requiredKeys: [] }),
    fc.subarray(Object.keys(leaves), { maxLength: 2 }),
    fc.record(nested, { requiredKeys: [] }),
    fc.subarray(Object.keys(nested), { maxLength: 2 }),
  );
  const picked = some_.map(([leaf, ofLeaf, nest, ofNest]) =>
    Object.fromEntries([
      ...Object.entries(leaf).filter(([one]) => ofLeaf.includes(one)),
      ...Object.entries(nest).filter(([one]) => ofNest.includes(one)),
    ]),
  );
  return {
    schema: fc.oneof({ maxDepth: 4, depthIdentifier: "schema" }, fc.boolean(), fc.constant({}), picked),
  };
});

/** The reader of a schema with these definitions, and the verdict of another validator; `undefined` if that one cannot read it. */
function both(schema: unknown, One: unknown, Two: unknown) {
  const root = { ...(isMapping(schema) ? schema : { allOf: [schema] }), $defs: { One, Two } };
  const problems: unknown[] = [];
  const report = (...problem: unknown[]) => void problems.push(problem);
  const document = {
    root,
    isOld: false,
    report,
    requireFine() {},
    notes: createNotes(),
  };
  const reader = schemasOf(document).response;
  reader.survey(root, []);
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, formats: fullFormats });
  const validate = ajv.compile(root);
  const isValid = (value: unknown) => {
    try {
      return validate(value);
    } catch (error) {
      // A type that contains itself without a member in between.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  };
  return { reader, root, problems, isValid };
}

test("generated values are valid for generated schemas exactly if another validator accepts them", () => {
  const decided = { valid: 0, invalid: 0 };
  fc.assert(
    fc.property(schema, schema, schema, fc.array(value, { maxLength: 6 }), (one, two, three, values) => {
      const { reader, root, isValid } = both(one, two, three);
      const check = reader.checkOf(root);
      for (const each of values) {
        const expected = isValid(each);
        if (expected === undefined) continue;
        decided[expected ? "valid" : "invalid"] += 1;
        expect([check(each) === undefined, each]).toEqual([expected, each]);
      }
    }),
    runs(800),
  );
  expect(Math.min(decided.valid, decided.invalid)).toBeGreaterThan(runs(200).numRuns);
});

test("each sample of a generated schema is valid for another validator, and the same for a seed", () => {
  let made = 0;
  fc.assert(
    fc.property(schema, schema, schema, (one, two, three) => {
      const { reader, root, isValid, problems } = both(one, two, three);
      if (problems.length > 0) return;
      const sample = sampleOf(reader, root, ofExamples);
      if (sample === undefined) return;
      made += 1;
      expect([isValid(sample.value) ?? true, sample.value]).toEqual([true, sample.value]);
      expect(sampleOf(reader, root, ofExamples)).toEqual(sample);
    }),
    runs(500),
  );
  expect(made).toBeGreaterThan(runs(200).numRuns);
});
