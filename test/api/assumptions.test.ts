import { expect, test } from "vitest";
import {
  type Assumptions,
  createSandbox,
  type Sandbox,
  type SandboxError,
  type Scenario,
} from "../../src/index.js";
import { assumptionTable } from "../../src/rules/assumptions.js";

type Probe = (sandbox: Sandbox) => unknown;

const keys = {
  main: { environment: "test", limits: { per_minute: 1, per_day: 2 } },
  full: { environment: "test", usage: { this_minute: 60, today: 60 } },
  other: { environment: "test", scopes: ["consents:read"] },
  old: { environment: "test", state: "retiring", replaced_by: "next", overlap_ends: "7d" },
  next: { environment: "test" },
} satisfies NonNullable<NonNullable<Scenario["organizations"]>[string]["keys"]>;

const call = (ref: string) => async (sandbox: Sandbox) => {
  const headers = { "x-api-key": sandbox.secret(ref) };
  const response = await sandbox.fetch("https://any.example/v1/relying-party/me", { headers });
  return { status: response.status, headers: [...response.headers], body: await response.text() };
};

const create = (sandbox: Sandbox, scopes?: string[]) =>
  sandbox.keys.create({ organization: "bank", environment: "test", name: "New", ...(scopes && { scopes }) })
    .key;

const code = (act: () => unknown) => {
  try {
    return [act()].length;
  } catch (error) {
    return (error as SandboxError).code;
  }
};

/** Another value of each assumption, and what a client or an administrator sees differently. */
const others: { readonly [Name in keyof Assumptions]: readonly [value: Assumptions[Name], probe: Probe] } = {
  rate_limit_code: ["slow_down", call("full")],
  request_id_on_errors: [true, call("unknown")],
  retry_after: ["seconds", call("full")],
  rate_limit_headers: ["draft", call("next")],
  error_details: [true, call("other")],
  me_scope: [null, call("other")],
  scopes: [
    ["attestations:read", "consents:read", "farms:read"],
    (sandbox) => code(() => create(sandbox, ["farms:read"])),
  ],
  www_authenticate: [true, call("unknown")],
};

test.each(Object.keys(assumptionTable) as (keyof Assumptions)[])(
  "the assumption %s changes what is seen",
  async (name) => {
    const seen = async (assumptions: NonNullable<Scenario["assumptions"]>) => {
      const clock = { now: "2026-03-02T09:00:30Z", frozen: true };
      const organizations = { bank: { type: "bank", keys } } as const;
      const scenario: Scenario = {
        version: 1,
        clock,
        organizations,
        assumptions,
      };
      return others[name][1](createSandbox({ scenario }) as Sandbox);
    };
    const usual = await seen({});
    expect(usual).toBeDefined();
    expect(await seen({ [name]: others[name][0] })).not.toEqual(usual);
  },
);
