import fc from "fast-check";
import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { nodePlatform } from "../../src/node/platform.js";
import { createWorld } from "../../src/sandbox/create-world.js";
import { updateOrganization } from "../../src/sandbox/operations/change-world.js";
import { createKey } from "../../src/sandbox/operations/create-key.js";
import { revokeKey, rotateKey } from "../../src/sandbox/operations/rotate-key.js";
import { unknownSecret } from "../../src/sandbox/scenario-keys.js";
import { scenarioSecrets } from "../../src/sandbox/secrets.js";
import type { World } from "../../src/sandbox/world.js";
import { type Command, command, modelScenario, settings, start } from "../model/commands.js";
import { create, type Model, revoke, rotate, whoAmI } from "../model/specification-model.js";
import { propertySeed } from "../support/property-seed.js";

function openBoth(chosen: Model["settings"]): { model: Model; world: World } {
  const key = {
    scopes: ["attestations:read"],
    perMinute: 60,
    perDay: 1000,
    expires: null,
    revoked: null,
    overlapEnds: null,
  };
  const model: Model = {
    now: start,
    settings: chosen,
    organizations: {
      bank: { active: true, live: "approved", sandboxAccess: true },
      insurer: { active: true, live: "not_approved", sandboxAccess: true },
    },
    keys: {
      a: { ...key, organization: "bank", environment: "test", perMinute: 2, perDay: 3, counted: [] },
      b: { ...key, organization: "bank", environment: "live", expires: start + 90_000, counted: [] },
      ...Object.fromEntries(
        ["g", "h", "i"].map((ref) => [
          ref,
          { ...key, organization: "bank", environment: "test" as const, counted: [] },
        ]),
      ),
      c: { ...key, organization: "insurer", environment: "test", scopes: ["consents:read"], counted: [] },
      d: { ...key, organization: "insurer", environment: "live", counted: [] },
    },
  };
  return { model, world: createWorld(modelScenario(chosen), { platform: nodePlatform }) };
}

/** Carries the command out on both sides and answers what each said. */
function carryOut(
  step: Command,
  model: Model,
  world: World,
  secrets: Record<string, string>,
): [unknown, unknown] {
  switch (step.do) {
    case "request":
      return request(step.key, model, world, secrets);
    case "advance":
      model.now += step.by;
      world.clock.advance(step.by);
      return [model.now, world.clock.now()];
    case "revoke":
      return [revoke(model, step.key), codeOfRefusal(() => revokeKey(world, { key: step.key }))];
    case "rotate":
      return [
        rotate(model, step.key, step.as, step.overlap),
        codeOfRefusal(() => {
          secrets[step.as] = rotateKey(world, { key: step.key, overlap: step.overlap, as: step.as }).secret;
        }),
      ];
    case "create": {
      const { ref, organization, environment, scopes } = step;
      return [
        create(model, ref, { organization, environment, scopes, perMinute: 60, perDay: 1000 }),
        codeOfRefusal(() => {
          secrets[ref] = createKey(world, {
            ref,
            organization,
            environment,
            scopes,
            name: "made later",
          }).secret;
        }),
      ];
    }
    case "organization": {
      const { ref, active, live, sandboxAccess } = step;
      model.organizations[ref] = { active, live, sandboxAccess };
      updateOrganization(world, {
        ref,
        status: active ? "active" : "inactive",
        live_access: live,
        sandbox_access: sandboxAccess,
      });
      return [null, null];
    }
  }
}

function request(
  key: string,
  model: Model,
  world: World,
  secrets: Record<string, string>,
): [unknown, unknown] {
  const apiKey = { none: undefined, junk: "junk", unknown: unknownSecret(1) }[key] ?? secrets[key];
  const { answer } = handle(world, { method: "GET", path: "/v1/relying-party/me", apiKey });
  const body = JSON.parse(answer.body);
  const said = {
    status: answer.status,
    code: body.error?.code ?? null,
    today: body.data?.usage.today ?? null,
  };
  return [whoAmI(model, key in secrets ? key : null), said];
}

function codeOfRefusal(act: () => unknown): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test("R6 R9 R12 R13 R18–R26 R29–R32 R37–R43 any sequence of events goes as in the model of the specification", {
  timeout: 240_000,
}, () => {
  fc.assert(
    fc.property(settings, fc.array(command, { minLength: 1, maxLength: 30 }), (chosen, steps) => {
      const { model, world } = openBoth(chosen);
      const secrets = scenarioSecrets(world);
      for (const step of steps) {
        const [expected, said] = carryOut(step, model, world, secrets);
        expect(said).toEqual(expected);
      }
    }),
    { numRuns: 5_000, ...propertySeed },
  );
});
