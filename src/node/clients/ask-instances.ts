import { SandboxError } from "../../rules/errors.js";
import { parsedJson } from "../../rules/schema/json.js";
import type { Shape, ValueOf } from "../../rules/schema/shape.js";
import * as s from "../../rules/schema/shape.js";
import { readHttpUrl } from "../addresses.js";
import {
  ask,
  type ControlAddress,
  type ControlReply,
  isNot,
  noControlPlane,
  readAs,
  timeText,
} from "./ask-control.js";

const plain = (max: number) => s.text({ max, pattern: /^[\x20-\x7E]*$/ });
const linkShape = s.openMapping({ claim_url: plain(600) });
const id = s.text({ max: 40, pattern: /^[\w-]+$/ });
const listedShape = s.list(
  s.openMapping({
    id,
    label: s.nullable(s.text()),
    expires_at: s.nullable(timeText),
    traffic: s.nullable(
      s.openMapping({ requests: s.count(), coverage: s.count(), last_path_id: s.nullable(plain(80)) }),
    ),
  }),
);
const brokenShape = s.list(s.openMapping({ id }));
// Nothing else may get into a file that a shell reads, and later commands of ours.
const urlText = s.text({ max: 500, pattern: /^https?:\/\/[\w.~/:@[\]%-]+$/ });
const keyText = s.text({ max: 200, pattern: /^[\w.~-]+$/ });
const claimedShape = s.openMapping({
  base_url: plain(500),
  control_url: plain(500),
  token: s.text({ max: 200, pattern: /^[\w.~+/=-]+$/ }),
  environment: s.record(
    s.text(),
    s.text({ pattern: /^SVC_(?:BASE_URL|CONTROL_URL|API_KEY|KEY_[A-Z0-9_]+)$/ }),
  ),
});

export type InstanceSummary = ValueOf<typeof listedShape>[number];

interface NewInstance {
  readonly label?: string | undefined;
  readonly expires?: string | undefined;
  readonly scenario?: string | undefined;
  readonly seed?: number | undefined;
}

export async function askNewInstance(call: ControlAddress, settings: NewInstance) {
  const made = await ask(call, "create an instance at", "POST", "/instances", { json: settings });
  return readOrFail(linkShape, made, 201);
}

export async function askInstances(call: ControlAddress) {
  const listed = await ask(call, "list the instances of", "GET", "/instances");
  const instances = readOrFail(listedShape, listed, 200);
  const { broken } = parsedJson(listed.text) as { readonly broken?: unknown };
  return { instances, broken: (readAs(brokenShape, broken) ?? []).map((one) => one.id) };
}

export async function askLink(call: ControlAddress, id: string): Promise<string> {
  const path = `/instances/${encodeURIComponent(id)}/link`;
  return readOrFail(linkShape, await ask(call, "make a link at", "POST", path), 201).claim_url;
}

export async function removeInstance(call: ControlAddress, id: string): Promise<void> {
  const path = `/instances/${encodeURIComponent(id)}`;
  const { status, error, failed } = await ask(call, "remove an instance of", "DELETE", path);
  if (status !== 204) throw failed(error?.message ?? noControlPlane);
}

export async function claimInstance(link: string, call: Omit<ControlAddress, "url" | "token">) {
  // The Windows command prompt keeps single quotes.
  const url = readHttpUrl(link.replace(/^'(.*)'$/, "$1").replace(/#.*$/, ""));
  const [, code] = /#code=(\w{1,80})'?$/.exec(link) ?? [];
  const [, base, id] = /^(.*)\/i\/([\w-]{1,40})\/__sandbox\/?$/.exec(url?.pathname ?? "") ?? [];
  if (url === undefined || code === undefined || id === undefined) {
    // Without the link, whose code may be valid.
    throw new SandboxError(
      "usage",
      `Invalid link. Use the whole link in quotes, such as 'https://sandbox.example/i/aB3/__sandbox/#code=xY4'.`,
    );
  }
  const address = { ...call, url: url.origin + base };
  const claimed = await ask(address, "claim the link at", "POST", `/instances/${id}/claim`, {
    json: { code },
  });
  const instance = readOrFail(claimedShape, claimed, 200);
  const wrong = Object.entries(instance.environment).find(
    ([name, value]) => readAs(name.endsWith("_URL") ? urlText : keyText, value) === undefined,
  );
  if (wrong !== undefined)
    throw claimed.failed(`its ${wrong[0]} is not ${wrong[0].endsWith("_URL") ? "a URL" : "a key"}.`);
  return instance;
}

function readOrFail<Of extends Shape>(
  shape: Of,
  { status, data, error, failed }: ControlReply,
  wanted: number,
): ValueOf<Of> {
  const found = status === wanted ? readAs(shape, data) : undefined;
  if (found !== undefined) return found;
  throw failed(error?.message ?? (status === 404 ? noControlPlane : isNot(status, "an instance")));
}
