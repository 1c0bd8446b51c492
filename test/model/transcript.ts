import { type KeyView, type Sandbox, SandboxError } from "../../src/index.js";
import { mePath } from "../support/send.js";
import { type Command, refs } from "./commands.js";

/** A sandbox of the model's scenario, and the secrets by which its keys are called. */
export interface Played {
  readonly sandbox: Sandbox;
  readonly secrets: Readonly<Record<string, string>>;
}

/** A sandbox to which nothing has happened yet. */
export function played(sandbox: Sandbox): Played {
  const scenarioRefs = sandbox.keys.list().map(({ ref }) => ref);
  return { sandbox, secrets: Object.fromEntries(scenarioRefs.map((ref) => [ref, sandbox.secret(ref)])) };
}

/** Carries commands out, one after the other; responds to all that was to be seen of each, secrets aside. */
export async function transcript(game: Played, steps: readonly Command[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const step of steps) seen.push(await carryOut(game, step));
  return seen;
}

/** Carries one command out; responds to all that is to be seen of it, secrets aside. */
export async function carryOut(game: Played, step: Command): Promise<unknown> {
  if (step.do === "request") return request(game, step);
  try {
    return act(game, step);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    // A list of refs is in the order in which the keys were made, which a snapshot does not keep across organizations.
    const { known, ...details } = error.details as { known?: readonly string[] };
    return { code: error.code, ...details, known: known?.toSorted() };
  }
}

async function request(
  { sandbox, secrets }: Played,
  { key, method, path }: Extract<Command, { do: "request" }>,
): Promise<unknown> {
  const sent: Record<string, string | undefined> = {
    none: undefined,
    junk: "junk",
    unknown: sandbox.secret("unknown"),
    ...secrets,
  };
  const secret = sent[key] ?? (key === "none" ? undefined : `SVC_test_nobody-holds-${key}`);
  const response = await sandbox.fetch(`https://api.example${path}`, {
    method,
    headers: secret === undefined ? {} : { "x-api-key": secret },
  });
  const body = await response.text();
  return { status: response.status, headers: [...response.headers], body };
}

function act(game: Played, step: Exclude<Command, { do: "request" }>): unknown {
  const { sandbox } = game;
  const secrets = game.secrets as Record<string, string>;
  switch (step.do) {
    case "advance":
      return sandbox.clock.advance(step.by);
    case "revoke":
      return visible(sandbox.keys.revoke(step.key));
    case "rotate": {
      const overlap = step.overlap === 0 ? 0 : (`${step.overlap / 1000}s` as const);
      const { key, secret } = sandbox.keys.rotate(step.key, { overlap, as: step.as });
      secrets[step.as] = secret;
      return visible(key);
    }
    case "create": {
      const { ref, organization, environment, scopes } = step;
      const { key, secret } = sandbox.keys.create({ ref, organization, environment, scopes, name: "later" });
      secrets[ref] = secret;
      return visible(key);
    }
    case "organization":
      return sandbox.organizations.update(step.ref, {
        status: step.active ? "active" : "inactive",
        liveAccess: step.live,
        sandboxAccess: step.sandboxAccess,
      });
  }
}

/** A key as it is shown, without what is random of a key that was made at run time. */
export function visible({ fingerprint, ...key }: KeyView): unknown {
  return key;
}

/** A game goes on in another sandbox, with the same secrets. */
export function movedTo(sandbox: Sandbox, { secrets }: Played): Played {
  return { sandbox, secrets: { ...secrets } };
}

/** Requests that look at every key there may be. */
export const roundOfRequests: readonly Command[] = [
  ...refs,
  "g",
  "h",
  "i",
  "j",
  "k",
  "l",
  "none",
  "unknown",
].map(
  (key) => ({ do: "request", key, method: "GET", path: mePath }) as Command, // of these keys
);
