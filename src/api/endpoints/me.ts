import { environments } from "../../rules/keys/key-text.js";
import { mePath } from "../../rules/known-paths.js";
import { organizationViewFields } from "../../rules/organization.js";
import type { ReleasedEndpoint, TextBody } from "../../sandbox/call.js";
import type { KeyEntry } from "../../sandbox/registry.js";
import type { RecordAdditions } from "../../sandbox/variants.js";
import * as s from "../../schema/shape.js";
import { jsonBody, utf8Length } from "../http-messages.js";

const contextShape = s.mapping({
  data: s.openMapping({
    organization: s.mapping({ id: s.uuid(), name: s.text(), type: organizationViewFields.type }),
    environment: s.described(s.choice(environments), "The environment of the key, which matches its prefix."),
    scopes: s.described(s.list(s.text(), { min: 1 }), "The scope names granted to the key."),
    limits: s.openMapping({
      per_minute: s.described(s.integer(), "Requests allowed per minute for the key."),
      per_day: s.described(s.integer(), "Requests allowed per day for the key."),
    }),
    usage: s.openMapping({
      today: s.described(s.integer({ min: 1 }), "Requests counted today, including the current one."),
    }),
  }),
});

/** The body of a 200 of `GET /v1/relying-party/me`. A service may add members. */
export interface KeyContext extends s.ValueOf<typeof contextShape> {}

/** What ends the body after `usage.today`. */
const closingBraces = "}}}";

/** Who am I: the context of the calling key (section 4.1 of the specification; R1–R8). */
export const me: ReleasedEndpoint = {
  method: "GET",
  path: mePath,
  operationId: "getRelyingPartyContext",
  summary: "Who am I",
  description:
    "Confirms the API key and reports its context. The call counts as one request against the key's limits.",
  responseName: "RelyingPartyContext",
  responseShape: contextShape,
  responseExample: {
    data: {
      organization: {
        id: "5d1f7f0e-6c0b-4f57-9c53-0d2f3ce1a6b4",
        name: "Harvest Cooperative Bank",
        type: "bank",
      },
      environment: "test",
      scopes: ["attestations:read"],
      limits: { per_minute: 60, per_day: 1000 },
      usage: { today: 1 },
    },
  },
  status: 200,
  isMe: true,
  hasBody: true,
  respond: contextOf,
  example: () => jsonBody(me.responseExample),
};

/** The context of a key. Only `usage.today`, its last member, changes between responses. */
function contextOf(caller: KeyEntry, additions: RecordAdditions): TextBody {
  const { text, bytes } = bodyBeforeUsage(caller, additions);
  const today = String(caller.usage.dayCount);
  return { text: `${text}${today}${closingBraces}`, bytes: bytes + today.length + closingBraces.length };
}

/** The body up to the number in `usage.today`. It is kept with the key until one of its records changes: to write it takes 13% of a request. */
function bodyBeforeUsage(caller: KeyEntry, additions: RecordAdditions): TextBody {
  const { key, owner, prepared } = caller;
  const { organization } = owner;
  const hasSameRecords = prepared?.key === key && prepared.organization === organization;
  if (hasSameRecords && prepared.additions === additions) return prepared;

  const whole = JSON.stringify({
    data: {
      organization: {
        id: organization.id,
        name: organization.name + additions.nameEnding,
        type: organization.type,
      },
      environment: key.environment,
      scopes: [...key.scopes, ...additions.scopes],
      limits: { per_minute: key.limits.perMinute, per_day: key.limits.perDay },
      usage: { today: 0 },
    },
  });
  const text = whole.slice(0, -`0${closingBraces}`.length);
  caller.prepared = { key, organization, additions, text, bytes: utf8Length(text) };
  return caller.prepared;
}
