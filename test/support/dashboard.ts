import { describe, onTestFinished } from "vitest";
import {
  type ActingAs,
  createSandbox,
  type KeyCreation,
  type KeyView,
  type OrganizationUpdate,
  type OrganizationView,
  type RequestView,
  type Sandbox,
  type Scenario,
} from "../../src/index.js";
import { openControlDashboard } from "./control-dashboard.js";
import { mePath } from "./doors.js";

/** What who-am-I said to a key. */
export interface WhoAmI {
  readonly status: number;
  /** The API's error code; `null` on success. */
  readonly code: string | null;
  /** `data` of a success. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of it, it checks
  readonly data: any;
}

/** A key that was just made. */
export interface MadeKey {
  readonly key: KeyView;
  readonly secret: string;
}

/** How to rotate; the overlap in milliseconds. */
export interface Rotating extends ActingAs {
  readonly overlap?: number;
  readonly as?: string;
}

/**
 * What an administrator does in the dashboard, whichever way leads to it. Refusals are errors with a `code` and
 * `details`; times are epoch milliseconds or ISO 8601, lengths of time milliseconds.
 */
export interface Dashboard {
  readonly create: (key: KeyCreation, as?: ActingAs) => Promise<MadeKey>;
  readonly rotate: (ref: string, rotation?: Rotating) => Promise<MadeKey>;
  readonly revoke: (ref: string, as?: ActingAs) => Promise<KeyView>;
  readonly keys: () => Promise<readonly KeyView[]>;
  readonly key: (ref: string) => Promise<KeyView>;
  readonly updateOrganization: (
    ref: string,
    change: OrganizationUpdate,
    as?: ActingAs,
  ) => Promise<OrganizationView>;
  readonly organization: (ref: string) => Promise<OrganizationView>;
  readonly requests: () => Promise<readonly RequestView[]>;
  readonly advance: (by: number) => Promise<void>;
  readonly setClock: (to: string) => Promise<void>;
  readonly now: () => Promise<string>;
  readonly reset: () => Promise<void>;
  readonly callMe: (secret: string) => Promise<WhoAmI>;
  /** The full key of a ref of the scenario; refuses for one that was made at run time. */
  readonly secret: (ref: string) => string;
  /** The whole world as it is, which a refusal must leave as it was. */
  readonly snapshot: () => Scenario;
}

/** A way to the dashboard. */
interface Way {
  readonly name: string;
  readonly open: (scenario: Scenario) => Promise<Dashboard & { readonly close: () => Promise<void> }>;
}

const library: Way = {
  name: "library",
  async open(scenario) {
    return { ...libraryDashboard(createSandbox({ scenario })), async close() {} };
  },
};

/** The dashboard of a sandbox in this process, and all there is to see of it. */
export function libraryDashboard(sandbox: Sandbox): Dashboard {
  return {
    create: async (key, as) => sandbox.keys.create(key, as),
    rotate: async (ref, { actor, ...rotation } = {}) =>
      sandbox.keys.rotate(ref, rotation, actor === undefined ? {} : { actor }),
    revoke: async (ref, as) => sandbox.keys.revoke(ref, as),
    keys: async () => sandbox.keys.list(),
    key: async (ref) => sandbox.keys.get(ref),
    updateOrganization: async (ref, change, as) => sandbox.organizations.update(ref, change, as),
    organization: async (ref) => sandbox.organizations.get(ref),
    requests: async () => sandbox.requests.list(),
    async advance(by) {
      sandbox.clock.advance(by);
    },
    async setClock(to) {
      sandbox.clock.set(to);
    },
    now: async () => sandbox.clock.now(),
    reset: async () => sandbox.reset(),
    async callMe(secret) {
      const response = await sandbox.fetch(`https://api.example${mePath}`, {
        headers: { "x-api-key": secret },
      });
      const body = await response.json();
      return { status: response.status, code: body.error?.code ?? null, data: body.data };
    },
    secret: (ref) => sandbox.secret(ref),
    snapshot: () => sandbox.snapshot(),
  };
}

const controlPlane: Way = { name: "control plane", open: openControlDashboard };

const ways: readonly Way[] = [library, controlPlane];

/** Runs the same tests through every way to the dashboard. `open` starts a world of a scenario behind it. */
export function describeDashboards(
  title: string,
  tests: (open: (scenario: Scenario) => Promise<Dashboard>) => void,
): void {
  describe.each(ways)(`${title} ($name)`, (way) => {
    tests(async (scenario) => {
      const { close, ...dashboard } = await way.open(scenario);
      onTestFinished(close);
      return dashboard;
    });
  });
}
