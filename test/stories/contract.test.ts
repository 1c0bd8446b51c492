import { expect, it } from "vitest";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The example of the contract for scenario files, whole: only what stands there as `…` is filled in or left out.
const example = `version: 1
name: Key states
description: One key for every way the API can answer.
seed: 1
clock: { now: 2026-03-02T09:00:00Z, frozen: true }
default_key: active
assumptions: { profile: minimal, rate_limit_code: rate_limited }
organizations:
  harvest-bank:
    name: Harvest Cooperative Bank
    type: bank
    status: active
    sandbox_access: true
    live_access: approved
    keys:
      active: { environment: test, name: Core banking, scopes: [attestations:read], limits: { per_minute: 60, per_day: 1000 } }
      revoked: { environment: test, state: revoked }
      expired: { environment: test, expires: -1d }
      old: { environment: test, legacy: true }
      retiring: { environment: test, state: retiring, replaced_by: new-key, overlap_ends: 30m }
      new-key: { environment: test }
      busy: { environment: test, usage: { this_minute: 60, today: 400 } }
      pinned: { environment: test }
population: { organizations: 200, keys_per_organization: 3, farmers: 5000, locale: en }
timeline:
  - { at: 10m, revoke: { key: active } }
faults:
  - { when: { key: busy, every: 10 }, then: { status: 503 } }
story:
  - say: A bank calls the API for the first time.
  - request: { key: active }
    expect: { status: 200, body: { data: { environment: test, usage: { today: 1 } } } }
  - rotate: { key: active, as: active-2, overlap: 60m }
  - advance: 61m
  - request: { key: active }
    expect: { status: 401, code: unauthorized, path: 401.rotated }
`;

it("verifies the example of the contract, whose timeline comes too late to revoke a key", async () => {
  const { code, stdout, stderr } = await runCli(["verify", "contract.yaml"], {
    cwd: temporaryFolder({ "contract.yaml": example }),
  });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(
    /\n {4,}meanwhile, at 2026-03-02T09:10:00Z: revoke active → refused: key_not_active \(.*retiring.*\)\n/,
  );
  expect(stdout).toMatch(/\ncontract\.yaml: 5 steps, 3 expectations, all hold/);
  const json = await runCli(["verify", "contract.yaml", "--json"], {
    cwd: temporaryFolder({ "contract.yaml": example }),
  });
  expect(JSON.parse(json.stdout)[0].steps[3].meanwhile).toMatchObject([
    { timeline_step: 1, at: "2026-03-02T09:10:00.000Z", refusal: "key_not_active" },
  ]);
});
