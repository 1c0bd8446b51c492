import { Writable } from "node:stream";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { isNoAnswer } from "../../check/answer.js";
import { SandboxError } from "../../domain/errors.js";
import { clientEnvironment } from "../../node/client-variables.js";
import { sendOnce } from "../../node/clients/send-once.js";
import { version } from "../../node/package-files.js";
import { checkValue } from "../../schema/check.js";
import { didYouMean, quote } from "../../schema/words.js";
import type { RunningServer } from "../../server/serve-log.js";
import type { Runtime } from "../../world/runtime.js";
import { describeFailure } from "../exit-codes.js";
import { explain, headerOf } from "../explanation.js";
import { defaultWait } from "../flags.js";
import type { Io } from "../io.js";
import { listTools, requestOf, type ToolName, tools } from "./tools.js";

const instructions =
  "An offline sandbox of the relying-party API: GET /v1/relying-party/me with the header x-api-key. Call environment, and run the client's tests with these variables. Then call report: missed has each path that is not covered, with the key to send. AGENTS.md in the package has the expected behavior of each path.";

/** Serves the tools of a running sandbox on stdin and stdout, until stdin ends or the signal is aborted. */
export async function serveMcp(
  runtime: Runtime,
  server: Pick<RunningServer, "url" | "controlUrl">,
  { stdin, stdout }: Pick<Io, "stdin" | "stdout">,
  stopping: AbortSignal,
): Promise<void> {
  const call = (name: string, input: Readonly<Record<string, unknown>>) => {
    if (!Object.hasOwn(tools, name)) {
      const hint = didYouMean(name, Object.keys(tools));
      throw new SandboxError("not_found", `There is no tool ${quote(name)}.${hint}`);
    }
    return callTool(name as ToolName, input, runtime, server);
  };
  const protocol = new Server(
    { name: "svc-sandbox", version },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator: { getValidator: noValidator } },
  );
  protocol.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listTools() }));
  protocol.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: input = {} } }) => {
    const [isError, text] = await Promise.resolve()
      .then(() => call(name, input))
      .then(
        ({ ok, text }) => [!ok, text] as const,
        (error) => [true, describeFailure(error, { json: true }).trimEnd()] as const,
      );
    return { isError, content: [{ type: "text" as const, text }] };
  });
  const output = new Writable({ write: (chunk, _encoding, done) => void stdout.write(String(chunk), done) });
  await new Promise<void>((resolve) => {
    const end = () => resolve();
    for (const event of ["end", "close", "error"]) stdin?.once(event, end);
    stopping.addEventListener("abort", end, { once: true });
    protocol.connect(new StdioServerTransport(stdin, output));
  });
  await protocol.close();
}

async function callTool(
  name: ToolName,
  given: Readonly<Record<string, unknown>>,
  runtime: Runtime,
  server: Pick<RunningServer, "url" | "controlUrl">,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const tool = tools[name];
  const input = checkValue(tool.input, given, `Failed to call ${name}`) as Readonly<Record<string, unknown>>;
  const world = runtime.world();
  if ("call" in tool) {
    const { path, ...request } = requestOf(tool.call, input);
    const url = new URL(server.controlUrl + path);
    // Not by `fetch`, which may use a proxy.
    const answer = await sendOnce(url, { ...request, timeout: defaultWait, maxBody: 16 * 1024 * 1024 });
    if (isNoAnswer(answer)) throw new SandboxError("usage", `${answer.found}. ${answer.hint}`);
    return { ok: answer.status < 300, text: new TextDecoder().decode(answer.body) };
  }
  const answer =
    name === "explain"
      ? explain(headerOf(String(input.key), world, world.name), world)
      : clientEnvironment(world, server);
  return { ok: true, text: JSON.stringify(answer) };
}

// Of the answers of a user's form, for which the sandbox never asks.
function noValidator(): never {
  throw new Error("The sandbox shows no forms.");
}
