import { loadReader } from "../../node/platform.js";
import { isMapping } from "../../rules/schema/shape.js";
import { quote } from "../../rules/schema/words.js";
import { bundledScenarios, isScenarioName, scenarioNames } from "../../scenario/bundled.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { Server } from "../sockets/server-state.js";
import { HttpRejection } from "./rejections.js";

type Document = Extract<Scenario["openapi"], { readonly text: string }>;

/** The document that a sent scenario names; `undefined` for none. Throws `document_not_allowed`. */
export async function documentSent(
  sent: unknown,
  server: Pick<Server, "store" | "own">,
): Promise<Document | undefined> {
  const { extends: base, openapi } = isMapping(sent) ? sent : { extends: sent };
  const inherited =
    typeof base === "string" && isScenarioName(base) ? bundledScenarios[base].openapi : undefined;
  const document = documentNamed(openapi, server);
  if ((document ?? inherited) !== undefined) await loadReader();
  return document;
}

function documentNamed(
  openapi: unknown,
  { store, own }: Pick<Server, "store" | "own">,
): Document | undefined {
  const { text, file, operations } = isMapping(openapi) ? openapi : { file: openapi };
  // The checks of a scenario report anything else.
  if (typeof (text ?? file) !== "string") return undefined;
  const bundled = scenarioNames.map((name) => bundledScenarios[name]);
  const known = [store.sandbox.given, own().scenario, ...bundled].flatMap((one) => withText(one.openapi));
  const found = known.find((one) =>
    text === undefined ? baseName(one.file) === baseName(file) : one.text === text,
  );
  if (found !== undefined)
    return operations === undefined ? found : { ...found, operations: operations as string[] };
  const name = typeof file === "string" ? `the document ${quote(file.slice(0, 100))}` : "this document";
  throw new HttpRejection(
    "document_not_allowed",
    `The server was not started with ${name}. Its host can start the server with it: svc-sandbox start --openapi FILE.`,
  );
}

const withText = (openapi: Scenario["openapi"]): Document[] =>
  typeof openapi === "object" && "text" in openapi ? [openapi] : [];

const baseName = (file: unknown) => (typeof file === "string" ? file.replace(/^.*[\\/]/, "") : undefined);
