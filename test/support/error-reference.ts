import { STATUS_CODES } from "node:http";
import { coreSender } from "../../src/api/core-sender.js";
import { outcomeOf, outcomes, type PathId } from "../../src/domain/outcomes.js";
import { scenarioSecret } from "../../src/sandbox/secrets.js";
import type { StoryAnswer } from "../../src/sandbox/story/story.js";
import type { World } from "../../src/sandbox/world.js";
import { mePath, openTestWorld } from "./doors.js";
import { type DocumentedCall, pathProse } from "./error-prose.js";

/** The paths, each with what `docs/errors.md` says of it, in Markdown. */
export function pathSections(): string {
  return outcomes.map(({ path }) => section(path)).join("\n\n");
}

/** All paths with their status and code, in Markdown. */
export function pathTable(): string {
  const rows = outcomes.map(({ path, status, code, when, promised }) => [
    `[\`${path}\`](#${path.replaceAll(".", "")})`,
    status === 0 ? "" : `${status}${code === null ? "" : ` \`${code}\``}`,
    when,
    promised ? "yes" : "no",
  ]);
  return [["path", "answer", "when", "promised"], ["---", "---", "---", "---"], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** The curl line of a path, as the page has it. */
export function curlLine(path: PathId): string {
  const { key, method, path: target = mePath, headers = {}, body, flags } = pathProse[path].call;
  return [
    "curl -i",
    ...(flags === undefined ? [] : [flags]),
    ...(method === undefined ? [] : [`-X ${method}`]),
    ...(key === undefined ? [] : [`-H "x-api-key: ${key}"`]),
    ...Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`),
    ...(body === undefined ? [] : [`-d '${body}'`]),
    `http://127.0.0.1:4747${target}`,
  ].join(" ");
}

function section(path: PathId): string {
  const { scenario, more, rules } = pathProse[path];
  const { when, whatToDo } = outcomeOf(path);
  return [
    `### \`${path}\``,
    `${when[0]?.toUpperCase()}${when.slice(1)}.`,
    answerBlock(path),
    wrapped(more),
    wrapped(`**What to do.** ${whatToDo}`),
    `**Try it** with the scenario \`${scenario}\`:`,
    `\`\`\`sh\n${curlLine(path)}\n\`\`\``,
    rules.length === 0 ? "Not part of the specification." : `Rules: ${rules.join(", ")}.`,
  ].join("\n\n");
}

function answerBlock(path: PathId): string {
  const answer = answerOf(path);
  if (answer.status === 0) return "There is no answer.";
  const shown = Object.entries(answer.headers).filter(([name]) => name !== "content-length");
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    ...shown.map(([name, value]) => `${name}: ${value}`),
  ];
  return ["```http", ...head, "", readable(answer.body), "```"].join("\n");
}

/** What the call of a path is answered, by a sandbox that was just started. */
function answerOf(path: PathId): StoryAnswer {
  const { scenario, call } = pathProse[path];
  const world = openTestWorld(scenario);
  const answer = coreSender(world)({
    // As curl does.
    method: call.method ?? (call.body === undefined ? "GET" : "POST"),
    path: call.path ?? mePath,
    headers: headersOf(call, world),
    body: call.body,
  });
  if (answer.pathId !== path && answer.fault !== path) {
    throw new Error(`the call documented for ${path} ends on ${answer.pathId}`);
  }
  return answer;
}

function headersOf({ key, headers = {} }: DocumentedCall, world: World): Record<string, string> {
  const more = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  if (key === undefined) return more;
  const secret = (_all: string, name: string) =>
    scenarioSecret(world, name.toLowerCase().replaceAll("_", "-"));
  return { ...more, "x-api-key": key.replace(/\$\{?SVC_KEY_(\w+)\}?/, secret) };
}

const widestLine = 118;

function wrapped(text: string): string {
  const lines: string[] = [""];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`.trimStart();
    if (line.length > widestLine) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines.join("\n");
}

/** A body as the page shows it: JSON with line breaks, anything else as it is. */
export function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2).replace(/\[\s+("[^"]*")\s+\]/g, "[$1]");
  } catch {
    return body;
  }
}
