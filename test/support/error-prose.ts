import type { PathId } from "../../src/domain/outcomes.js";
import type { ScenarioName } from "../../src/scenario/bundled.js";

/** What `docs/errors.md` says of a path beyond what the sandbox knows of it, and the call that ends on it. */
export interface PathProse {
  /** How it looks to a client, why it is so, and which mistakes are made; beside `whatToDo`. */
  readonly more: string;
  /** The rules of the specification; none where the sandbox does what the specification does not speak of. */
  readonly rules: readonly string[];
  readonly scenario: ScenarioName;
  readonly call: DocumentedCall;
}

/** A call as curl makes it. */
export interface DocumentedCall {
  /** What stands in the x-api-key header, with the variables of `svc-sandbox keys --format env`. Default: no header. */
  readonly key?: string;
  /** Default: GET. */
  readonly method?: string;
  /** Default: the path of the API. */
  readonly path?: string;
  /** More headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: none. */
  readonly body?: string;
  /** Flags of curl. Default: none beside -i. */
  readonly flags?: string;
}

/** The prose of each path. */
export const pathProse: Readonly<Record<PathId, PathProse>> = {
  "200.test": {
    more: "`environment` is what the prefix of the key says. `usage.today` counts the requests of today, this one included. A program reads the members that it knows and skips the others: the API may add some.",
    rules: ["R1", "R2", "R3", "R4", "R5", "R6", "R7", "R24"],
    scenario: "active",
    call: { key: "$SVC_KEY_ACTIVE" },
  },
  "200.live": {
    more: "Whether a key is live shows in its prefix and in `environment`, and nowhere else. It is worth a check before a program goes into production.",
    rules: ["R1", "R3", "R45"],
    scenario: "active",
    call: { key: "$SVC_KEY_LIVE" },
  },
  "200.legacy": {
    more: "The answer is that of any other key. A program that checks keys for `SVC_` before it sends them fails here by its own fault.",
    rules: ["R16", "R17"],
    scenario: "legacy-keys",
    call: { key: "$SVC_KEY_LEGACY" },
  },
  "200.retiring": {
    more: "Nothing in the answer says that the key is about to end. Whoever rotated it knows when: an hour later if nothing else was chosen, seven days later at most.",
    rules: ["R38", "R39"],
    scenario: "rotation",
    call: { key: "$SVC_KEY_RETIRING" },
  },
  "200.replacement": {
    more: "It has the name, the scopes and the limits of the key that it replaces. That its usage starts from zero is an assumption (`replacement_usage`).",
    rules: ["R26", "R37"],
    scenario: "rotation",
    call: { key: "$SVC_KEY_REPLACEMENT" },
  },
  "401.missing": {
    more: "Often the variable that should hold the key is empty, or a proxy on the way takes the header out.",
    rules: ["R9", "R14"],
    scenario: "key-states",
    call: {},
  },
  "401.malformed": {
    more: "In the call below the key is good, and the word before it is not.",
    rules: ["R10", "R14"],
    scenario: "key-states",
    call: { key: "Bearer $SVC_KEY_ACTIVE" },
  },
  "401.unknown": {
    more: "In the call below a letter too many was copied along with the key. The same key behind the prefix of the other environment is unknown as well.",
    rules: ["R11", "R14", "R15"],
    scenario: "key-states",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
    call: { key: "${SVC_KEY_ACTIVE}x" },
  },
  "401.revoked": {
    more: "Revoking takes effect with the very next request. The other keys of the organization are not affected: a key for each system keeps the damage small.",
    rules: ["R12", "R14", "R41", "R42"],
    scenario: "revoked",
    call: { key: "$SVC_KEY_REVOKED" },
  },
  "401.expired": {
    more: "The answers before it do not warn. An expired key cannot be rotated any more. When and why keys expire at the real service is not published.",
    rules: ["R13", "R14", "R42", "R43"],
    scenario: "expired",
    call: { key: "$SVC_KEY_EXPIRED" },
  },
  "401.rotated": {
    more: "Some machine was forgotten when the new key was handed out, or the overlap was `0`.",
    rules: ["R14", "R38", "R40", "R42"],
    scenario: "rotation",
    call: { key: "$SVC_KEY_ROTATED" },
  },
  "403.access_denied": {
    more: "It concerns test and live keys alike. People have to settle it; a program stops asking and tells them.",
    rules: ["R18"],
    scenario: "organization-inactive",
    call: { key: "$SVC_KEY_ORGANIZATION_INACTIVE" },
  },
  "403.live_not_approved": {
    more: "Code and message are those of a suspension: a program cannot tell the two apart. The key can be kept; it works from the approval on.",
    rules: ["R19"],
    scenario: "live-not-approved",
    call: { key: "$SVC_KEY_LIVE_NOT_APPROVED" },
  },
  "403.live_suspended": {
    more: "All live keys of the organization are refused, and no new one can be created. The keys can be kept; they work again when the suspension ends.",
    rules: ["R20"],
    scenario: "live-suspended",
    call: { key: "$SVC_KEY_LIVE_SUSPENDED" },
  },
  "403.insufficient_scope": {
    more: "Rotating does not help: a replacement has the scopes of the old key. Which scope this call needs is not published; the sandbox assumes `attestations:read` (`me_scope`).",
    rules: ["R21", "R37"],
    scenario: "wrong-scope",
    call: { key: "$SVC_KEY_WRONG_SCOPE" },
  },
  "429.per_minute": {
    more: "The code is an assumption (`rate_limit_code`), and so is how a minute is measured (`minute_window`): go by the status. There may be a `Retry-After`; nothing promises it. Other keys are not held back.",
    rules: ["R22", "R25", "R28"],
    scenario: "rate-limited",
    call: { key: "$SVC_KEY_RATE_LIMITED_MINUTE" },
  },
  "429.per_day": {
    more: "The answer does not tell it from a minute's limit; `limits` and `usage` of the last 200 do. When the day ends is an assumption (`day_resets_at`).",
    rules: ["R23", "R25", "R28"],
    scenario: "rate-limited",
    call: { key: "$SVC_KEY_RATE_LIMITED" },
  },
  "404.unknown_path": {
    more: "The specification does not speak of it; the sandbox answers before it looks at the key. The announced endpoints are not released, and get this answer, too.",
    rules: ["R47", "R49"],
    scenario: "key-states",
    call: { key: "$SVC_KEY_ACTIVE", path: "/v1/relying-party/you" },
  },
  "405.method": {
    more: "The specification does not speak of it; the sandbox answers before it looks at the key.",
    rules: [],
    scenario: "key-states",
    call: { key: "$SVC_KEY_ACTIVE", method: "POST" },
  },
  "400.bad_request": {
    more: "Only in the [preview](preview.md). `details.reason` says what is wrong. curl sends a form where nobody says that it is JSON, and so do some libraries.",
    rules: [],
    scenario: "announced-endpoints",
    call: { key: "$SVC_KEY_LENDING", method: "POST", path: "/v1/relying-party/consent-requests" },
  },
  "404.unknown_record": {
    more: "Only in the [preview](preview.md). The answer is the same whether there is no such record at all or it is not for this key: that of another organization, or a farmer of the sandbox for a live key.",
    rules: [],
    scenario: "announced-endpoints",
    call: { key: "$SVC_KEY_LENDING", path: "/v1/relying-party/consent-requests/consent_nothing" },
  },
  "409.conflict": {
    more: "Only in the [preview](preview.md). Here a request is to be taken back that the farmer has rejected; `details.status` says where it stands.",
    rules: [],
    scenario: "announced-endpoints",
    call: {
      key: "$SVC_KEY_LENDING",
      method: "POST",
      path: "/v1/relying-party/consent-requests/consent_bIq1nIbtZOyG7lOmvznc/cancel",
    },
  },
  "422.validation": {
    more: "Only in the [preview](preview.md). `details.fields` names each field, parameter or header of which something is wrong, and never repeats what was sent.",
    rules: [],
    scenario: "announced-endpoints",
    call: {
      key: "$SVC_KEY_LENDING",
      path: "/v1/relying-party/consent-requests",
      headers: { "Content-Type": "application/json" },
      body: "{}",
    },
  },
  "422.idempotency_key": {
    more: "Only in the [preview](preview.md). A key stands for one request: a client that makes a key for every loan, say, cannot ask twice about the same one.",
    rules: [],
    scenario: "announced-endpoints",
    call: {
      key: "$SVC_KEY_LENDING",
      path: "/v1/relying-party/consent-requests",
      headers: { "Content-Type": "application/json", "Idempotency-Key": "season-2026" },
      body: '{"farmer_id":"farmer_30bc4058216c7d68","purpose":{"code":"monitoring","text":"Why."},"permissions":["land"]}',
    },
  },
  "fault.latency": {
    more: "The answer is the API's own, and counts; it is only late. It is journaled on its own path, with the fault beside it.",
    rules: [],
    scenario: "bad-day",
    call: { key: "$SVC_KEY_DELAYED" },
  },
  "fault.status": {
    more: "The body may be the API's, or a page of HTML that a gateway sends: read the status first, and JSON only where the media type says so.",
    rules: [],
    scenario: "bad-day",
    call: { key: "$SVC_KEY_UNAVAILABLE" },
  },
  "fault.reset": {
    more: "A program gets an error of the network in the place of an answer, such as `ECONNRESET`. It cannot know whether the request was counted.",
    rules: [],
    scenario: "bad-day",
    call: { key: "$SVC_KEY_CONNECTION_RESET" },
  },
  "fault.hang": {
    more: "Many HTTP clients have no time limit unless they are given one. `-m 2` is that of curl, in seconds.",
    rules: [],
    scenario: "bad-day",
    call: { key: "$SVC_KEY_HANGING", flags: "-m 2" },
  },
  "fault.truncate": {
    more: "The status was sent before the connection broke, so that it says 200. `Content-Length` announces more bytes than come.",
    rules: [],
    scenario: "bad-day",
    call: { key: "$SVC_KEY_CUT_SHORT" },
  },
  "fault.malformed": {
    more: "All bytes have come, and they are not JSON. Whoever reads the status alone takes this for a success.",
    rules: [],
    scenario: "bad-day",
    call: { key: "$SVC_KEY_BROKEN_JSON" },
  },
  "fault.slow": {
    more: "Bytes keep coming, so that a limit for silence never ends it. The answer is the API's own, and counts. `-N` lets curl print what has come so far.",
    rules: [],
    scenario: "bad-day",
    call: { key: "$SVC_KEY_SLOW", flags: "-N" },
  },
};
