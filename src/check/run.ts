import { successPathOf } from "../api/endpoint.js";
import { me } from "../api/endpoints/me.js";
import { isNoResponse, type NoResponse, type Send } from "../node/clients/send-once.js";
import { pluralize } from "../report/plain-text.js";
import { isSuccess, outcomeOf } from "../rules/outcomes.js";
import { mix32 } from "../rules/seed.js";
import {
  type ComparedRejections,
  compareRejections,
  compareScopes,
  compareSuccesses,
  minResponses,
  type RejectedAttempt,
} from "./compare.js";
import {
  anyWorking,
  findKey,
  type KeyedPath,
  keyedPaths,
  keylessPaths,
  keysInVariables,
  limitPaths,
  unusedVariables,
  type Variables,
} from "./contract.js";
import { type Attempt, type CompletedAttempt, judgeNoLimit, perMinuteOf, whyUntried } from "./judge.js";
import { inferAssumptions, scopesOf } from "./learn.js";
import type { CheckedOperation } from "./operations.js";
import { type CheckReport, checkReportOf, type TriedOperation } from "./report.js";
import {
  type CheckedResponse,
  createRedact,
  headerOf,
  isHtml,
  readResponse,
  shownText,
  undocumentedIn,
} from "./response.js";

interface CheckOptions {
  readonly url: string;
  readonly env: Variables;
  readonly maxRequests: number;
  readonly probeLimits: boolean;
  /** Makes well-formed but unknown keys, by number. */
  readonly unknownKey: (index: number) => string;
  readonly operations?: readonly CheckedOperation[];
}

/** Requests without a key come first: a host gets a key only if its responses could be the API's. */
export async function runCheck(send: Send, options: CheckOptions): Promise<CheckReport> {
  const { env, maxRequests, unknownKey, url } = options;
  const session = createSession(send, options);
  const attempts: Attempt[] = [];
  for (const { pathId, keyOf } of keylessPaths(unknownKey)) {
    attempts.push(await session.attempt({ pathId, keyOf, apiKey: keyOf(0) }));
  }
  for (const path of keyedPaths) attempts.push(await tryKeyedPath(session, path));
  const [working] = withStatus(attempts, 200);
  // The second response to the same key shows whether requests are counted.
  const repeated = working === undefined ? [] : [await session.attempt(working)];
  const operations = await tryOperations(session, attempts);
  for (const path of limitPaths) attempts.push(await tryLimit(session, path, working));
  const allAttempts = [...attempts, ...repeated];
  const rejections = await repeatRejections(session, withStatus(attempts, 401));
  return checkReportOf({
    url,
    requests: session.requests(),
    maxRequests,
    stopped: session.stopped(),
    attempts,
    operations: operations.length === 0 ? undefined : operations,
    compared: [
      ...rejections.differences,
      ...compareSuccesses(withStatus(allAttempts, 200)),
      ...compareScopes(
        withResponse(attempts).find(({ pathId }) => pathId === "403.insufficient_scope"),
        withStatus(attempts, 200),
      ),
    ],
    assumptions: inferAssumptions(allAttempts),
    notes: [
      ...Array.from(session.undocumented, (name) => `${name} is not in the contract.`),
      ...notesOnRejections(rejections, session.requests()),
      ...attempts.flatMap(({ pathId, variable }) =>
        variable === "SVC_KEY_LEGACY"
          ? [`SVC_KEY_LEGACY_LIVE was not tried: ${pathId} was checked with ${variable}.`]
          : [],
      ),
      ...unusedVariables(env).map((name) => `${name} is not used: no path has this name.`),
    ],
  });
}

/** Starts a check that removes every key from its responses. */
function createSession(send: Send, options: CheckOptions) {
  const { env, maxRequests, unknownKey, url } = options;
  const unknown = Array.from({ length: maxResponses }, (_, index) => unknownKey(index));
  const redact = createRedact([...keysInVariables(env), ...unknown]);
  const undocumented = new Set<string>();
  let requests = 0;
  let withoutResponse = 0;
  let stopped: string | undefined;

  function whyNone(): string | undefined {
    if (stopped !== undefined) return "nothing was sent after the first request";
    if (withoutResponse >= maxWithoutResponse)
      return `nothing was sent after ${withoutResponse} requests without a response`;
    return requests < maxRequests ? undefined : `the ${maxRequests} requests of --max-requests are used up`;
  }
  async function ask(attempt: Attempt): Promise<CheckedResponse | NoResponse> {
    requests += 1;
    const reply = await send(attempt.apiKey, attempt.request);
    withoutResponse = isNoResponse(reply) ? withoutResponse + 1 : 0;
    if (isNoResponse(reply)) return reply;
    const response = readResponse(reply, redact);
    for (const name of undocumentedIn(response, attempt.endpoint ?? me)) undocumented.add(name);
    return response;
  }
  async function attempt({ pathId, apiKey, variable, keyOf, endpoint, request }: Attempt): Promise<Attempt> {
    const tried = { pathId, apiKey, variable, keyOf, endpoint, request };
    const reason = whyNone();
    if (reason !== undefined) return { ...tried, reason };
    const reply = await ask(tried);
    if (requests === 1) stopped = whyNotTheApi(reply, url);
    if (isNoResponse(reply)) return { ...tried, noResponse: reply.found };
    return { ...tried, response: reply, reason: whyUntried(tried, reply) };
  }
  return {
    options,
    requests: () => requests,
    undocumented,
    stopped: () => stopped,
    left: () => (whyNone() === undefined ? maxRequests - requests : 0),
    ask,
    attempt,
  };
}

type Session = ReturnType<typeof createSession>;

const maxWithoutResponse = 2;
const maxResponses = 25;
/** The responses to a cause after which a leak on half of the nodes would have been seen, as good as always. */
const enoughResponses = 8;

/** `undefined` if the response may be the API's: a redirect, a captive portal or a misspelled address must not get a key. */
function whyNotTheApi(reply: CheckedResponse | NoResponse, url: string): string | undefined {
  if (isNoResponse(reply)) return `Failed to reach ${url}: ${reply.found}. ${reply.hint}`;
  const { status } = reply;
  const why = (found: string, hint: string) => `Failed to check ${url}: ${found}. ${hint} No key was sent.`;
  if (status >= 300 && status < 400) {
    const location = headerOf(reply, "location");
    return why(
      `it redirects${location === undefined ? "" : ` to ${shownText(location)}`} (${status}), which is not followed`,
      "Give the address of the API itself; if a proxy or captive portal redirects, sign in there first.",
    );
  }
  if (isHtml(reply)) {
    return why(
      `it returns an HTML page (${status}), not JSON`,
      "A gateway without a backend, a proxy, a captive portal or another web site responds like this.",
    );
  }
  if (status !== 404) return undefined;
  return why("there is nothing at this path (404)", "The base URL is the part before /v1/relying-party/me.");
}

/** Returns the attempts that got this status, if it is also their path's. */
function withStatus(attempts: readonly Attempt[], status: number): CompletedAttempt[] {
  return withResponse(attempts).filter(
    ({ pathId, response }) => response.status === status && outcomeOf(pathId).status === status,
  );
}

function withResponse(attempts: readonly Attempt[]): CompletedAttempt[] {
  return attempts.filter((one): one is CompletedAttempt => one.response !== undefined);
}

/** Repeats rejected requests, since a server may reveal a cause on some nodes only; after a few rounds only suspects, until a difference is clear. */
async function repeatRejections(session: Session, rejected: readonly CompletedAttempt[]) {
  const rejections = rejected.map((one): RejectedAttempt => ({ ...one, responses: [one.response] }));
  for (let round = 1; ; round++) {
    const compared = compareRejections(rejections);
    const { suspects, differences } = compared;
    const isEven = round < minResponses || suspects.length + differences.length === 0;
    const repeated = isEven ? rejections : [...rejections.slice(0, 1), ...suspects];
    const max = isEven ? enoughResponses : maxResponses;
    if (repeated.length < 2 || round >= max || session.left() < repeated.length) return compared;
    // Another order each time: a balancer that takes its nodes in turn must not give each cause its own node.
    const order = repeated.map((one, i) => ({ one, at: mix32(64 * round + i) })).sort((a, b) => a.at - b.at);
    for (const { one } of order) {
      const reply = await session.ask({ ...one, apiKey: one.keyOf?.(round) ?? one.apiKey });
      if (isNoResponse(reply) || reply.status !== 401) return compareRejections(rejections);
      one.responses.push(reply);
    }
  }
}

function notesOnRejections(
  { suspects, differences, varying, responses }: ComparedRejections,
  requests: number,
) {
  const paths = suspects.map(({ pathId }) => pathId).join(", ");
  const enough = requests + 6 * minResponses;
  const perhaps = `${paths}: the response differs from 401.missing, perhaps by chance. To see if it reveals the cause (R14), check again with --max-requests ${enough}.`;
  const part = `Not compared between causes of 401, because it varies between equal requests (ids, numbers, times, nodes): ${varying.join(", ")}.`;
  const unseen = `Compared ${pluralize(responses, "response")} to each cause of 401. Nodes of the server that sent none of them were not tried.`;
  const isEven = suspects.length === 0 && differences.length === 0 && responses > 0;
  return [suspects.length > 0 && perhaps, varying.length > 0 && part, isEven && unseen].filter(
    (note) => note !== false,
  );
}

async function tryKeyedPath(session: Session, path: KeyedPath): Promise<Attempt> {
  const { pathId } = path;
  const keyFound = findKey(path, session.options.env);
  return "reason" in keyFound ? { pathId, ...keyFound } : session.attempt({ pathId, ...keyFound });
}

/** Tries each operation of a document that has a request, with a working key that has its scope. */
async function tryOperations(session: Session, attempts: readonly Attempt[]): Promise<TriedOperation[]> {
  const working = withStatus(attempts, 200);
  const tried: TriedOperation[] = [];
  for (const { operation, endpoint, request, reason } of session.options.operations ?? []) {
    if (endpoint === undefined || endpoint.responsesContext) {
      const own = endpoint === undefined ? [] : attempts.filter(({ pathId }) => isSuccess(pathId));
      tried.push({ operation, attempts: own, reason });
      continue;
    }
    const pathId = successPathOf(endpoint, "200.test");
    const needed = String(endpoint.scope);
    const able = working.find(({ response }) => scopesOf(response).includes(needed)) ?? working[0];
    const { apiKey, variable } = able ?? {};
    const why = reason ?? (able ? undefined : `needs a key that works in ${anyWorking.join(" or ")}`);
    const planned = { pathId, endpoint, request, apiKey, variable };
    tried.push({
      operation,
      attempts: [why ? { pathId, reason: why } : await session.attempt(planned)],
    });
  }
  return tried;
}

/** Reaches a limit if requested: with a key at its limit, or by using up a working key's minute if enough requests are left. */
async function tryLimit(session: Session, path: KeyedPath, working?: CompletedAttempt): Promise<Attempt> {
  const { pathId } = path;
  if (!session.options.probeLimits)
    return { pathId, reason: "limits are only reached on purpose with --probe-limits" };
  const keyed = await tryKeyedPath(session, path);
  // A minute may have passed since its key reached the limit.
  const spare =
    keyed.apiKey === undefined
      ? working
      : withResponse([keyed]).find(({ response }) => response.status === 200);
  if (pathId !== "429.per_minute" || spare === undefined) return keyed;
  const perMinute = perMinuteOf(spare);
  if (perMinute === undefined) return { pathId, reason: "the response to the working key has no per_minute" };
  const needed = perMinute + 1;
  if (session.left() >= needed) return useUpMinute(session, { ...spare, pathId }, perMinute);
  const enough = session.requests() + needed;
  const reason = `needs ${needed} requests, one more than per_minute, and ${session.left()} are left; --max-requests ${enough} has room for them`;
  return { pathId, reason };
}

async function useUpMinute(session: Session, probe: CompletedAttempt, perMinute: number): Promise<Attempt> {
  const responses: CheckedResponse[] = [];
  while (responses.length <= perMinute) {
    const probed = await session.attempt(probe);
    if (probed.response?.status !== 200) return probed;
    responses.push(probed.response);
  }
  return { ...probe, response: responses.at(-1), ...judgeNoLimit(responses, perMinute) };
}
