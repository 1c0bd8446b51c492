import { scenarioSecret } from "../../src/sandbox/secrets.js";
import { farmerId } from "../../src/synthetic/farmer-id.js";
import { describeDoors, type OpenDoor } from "./doors.js";
import { expectPreview } from "./expect-preview.js";
import { previewScenario } from "./preview-scenario.js";
import type { Seen, Sent } from "./send.js";

const base = "/v1/relying-party";
export const consentsPath = `${base}/consent-requests`;
export const attestationsPath = `${base}/attestations`;

/** A JSON value in which tests look around. */
// biome-ignore lint/suspicious/noExplicitAny: what is in it is what the test is about.
export type Json = any;

/** An answer at a path of the preview, checked against the description; its body is parsed. */
export type Got = Seen & { readonly json: Json };

/** A client of the preview behind a door. */
export interface PreviewClient {
  readonly door: OpenDoor;
  readonly send: (key: string, sent: Sent) => Promise<Got>;
  /** Asks the farmer at an index; `more` goes into the body. */
  readonly ask: (key: string, farmer: number, more?: object, headers?: Sent["headers"]) => Promise<Got>;
  readonly get: (key: string, path: string) => Promise<Got>;
  readonly cancel: (key: string, id: string) => Promise<Got>;
  readonly attestations: (key: string, query?: string) => Promise<Got>;
  readonly farmer: (index: number) => string;
}

export const purpose = { code: "credit_assessment", text: "To assess an application for a loan." };

/** A client of the world behind a door; all that comes is held against the description. */
export function previewClient(door: OpenDoor): PreviewClient {
  const farmer = (index: number) => farmerId(door.world.seed, index);
  const send = async (key: string, sent: Sent): Promise<Got> => {
    const seen = await door.send({
      ...sent,
      headers: { "x-api-key": scenarioSecret(door.world, key), ...sent.headers },
    });
    expectPreview(sent.method ?? "GET", sent.path ?? "", seen);
    return { ...seen, json: seen.body === "" ? undefined : JSON.parse(seen.body) };
  };
  return {
    door,
    send,
    farmer,
    ask: (key, index, more = {}, headers = {}) =>
      send(key, {
        method: "POST",
        path: consentsPath,
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ farmer_id: farmer(index), purpose, permissions: ["land"], ...more }),
      }),
    get: (key, path) => send(key, { path: path.startsWith("/") ? path : `${consentsPath}/${path}` }),
    cancel: (key, id) => send(key, { method: "POST", path: `${consentsPath}/${id}/cancel` }),
    attestations: (key, query = "") => send(key, { path: attestationsPath + query }),
  };
}

/** Runs the same tests of the preview through every door. */
export function describePreview(title: string, tests: (open: () => Promise<PreviewClient>) => void): void {
  describeDoors(title, (open) => tests(async () => previewClient(await open(previewScenario))));
}
