import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import project from "../../package.json" with { type: "json" };
import { builtIn, endpointsIn, fillPlaceholders } from "../../src/api/endpoints.js";
import { nextRequest } from "../../src/api/next-request.js";
import { allStatuses, errorStatuses, limitStatuses } from "../../src/api/variation/row.js";
import { variationTable } from "../../src/api/variation/table.js";
import { contractOutcomes, isLimit } from "../../src/compare/keys.js";
import { endings } from "../../src/compare/session.js";
import { countryOf } from "../../src/farmers/tables.js";
import { createSandbox, outcomes } from "../../src/index.js";
import { formats, reportFormats } from "../../src/report/render/layout.js";
import { adviceTable } from "../../src/rules/advice.js";
import { type Assumptions, assumptionTable } from "../../src/rules/assumptions.js";
import words from "../../src/rules/assumptions.json" with { type: "json" };
import { errorCauses } from "../../src/rules/errors.js";
import { farmerLocales } from "../../src/rules/farmer-values.js";
import { faultExamples, faultKinds, faultKindTable } from "../../src/rules/fault-effects.js";
import { outcomeRow } from "../../src/rules/outcomes.js";
import { mePath } from "../../src/rules/paths.js";
import { successOutcomesOf } from "../../src/sandbox/call.js";
import descriptions from "../../src/scenario/format/descriptions.json" with { type: "json" };
import { controlBodySchema, faultKindSentence } from "../../src/scenario/format/scenario-json-schema.js";
import { warningCodes } from "../../src/scenario/problems.js";
import { listed } from "../../src/schema/words.js";
import { codeOverHttp, httpErrors, statusOfCode } from "../../src/server/control/control-errors.js";
import { routes } from "../../src/server/control/routes/routes.js";
import { startFrozen } from "../support/doors.js";
import { anchorOf, code, type Part, pageNames, pageOf, root, table, withParts } from "../support/pages.js";
import { commandsPart, eachCommandPart, sharedFlagsPart, startVariablesPart } from "./cli-page.js";
import { controlOpenApi } from "./control-openapi.js";
import { samples } from "./samples.js";

// The product makes what is between `<!-- name -->` and `<!-- /name -->`; `npm run docs:update` writes it.

/** The tables of calls, each with the first parts of its paths. */
const callGroups: Readonly<Record<string, readonly string[]>> = {
  state: ["state", "revision", "clock", "upcoming", "assumptions", "profiles", "faults", "reset"],
  scenarios: ["scenarios", "scenario", "scenario.schema.json"],
  keys: ["organizations", "keys", "directory", "lifelines"],
  farmers: ["farmers"],
  requests: ["requests", "expect", "send", "report", "request-checks"],
  story: ["story"],
  server: ["health", "ready", "stop", "openapi.json", "", "docs"],
};

const pages: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  "README.md": { keys: keysPart },
  "docs/errors.md": {
    table: outcomesPart,
    api: responseCodesPart,
    rejections: rejectionsPart,
    warnings: warningsPart,
  },
  "docs/compare.md": { variables: variablesPart, endings: endingsPart },
  "docs/cli.md": {
    commands: commandsPart,
    "each command": eachCommandPart,
    "shared flags": sharedFlagsPart,
    variables: startVariablesPart,
  },
  "docs/calls.md": Object.fromEntries(
    Object.keys(callGroups).map((group) => [`calls: ${group}`, () => callsPart(group)]),
  ),
  "docs/specification.md": { assumptions: assumptionsPart, endpoints: endpointsPart },
  "docs/report.md": { advice: advicePart, formats: formatsPart },
  "docs/scenario-reference.md": { effects: effectsPart },
  "docs/farmers.md": { locales: localesPart },
  "docs/varied.md": { variants: variantsPart },
};

/** A page with more headings starts with links to all of them. */
const mostHeadings = 8;

test.each(pageNames)("%s matches the product (npm run docs:update)", async (page) => {
  const text = await withParts(page, { ...pages[page], ...samples[page] });
  await expect(withHeadings(text)).toMatchFileSnapshot(join(root, page));
});

/** A page with the list of its headings, if it has many, before the first one. */
function withHeadings(text: string): string {
  const [first = "", ...sections] = text
    .replace(/^<!-- headings -->\n[\s\S]*?<!-- \/headings -->\n+/m, "")
    .split(/^(?=## )/m);
  if (sections.length <= mostHeadings) return first + sections.join("");
  const titles = sections.map((section) => section.slice(3, section.indexOf("\n")));
  const links = titles.map((title) => `[${title}](#${anchorOf(title)})`);
  return `${first}<!-- headings -->\n\n${links.join(" · ")}\n\n<!-- /headings -->\n\n${sections.join("")}`;
}

/** Blocks of output that are not made, by their start: another test compares them, or they are input or a drawing. */
const compared: Readonly<Record<string, readonly string[]>> = {
  // The drawing of rejected requests, which is also docs/images/rejected.svg.
  "docs/certify.md": ["plain run "],
  // The sessions and the curl lines run in shell.slow.test.ts.
  "docs/control-plane.md": ['{"data":', "id: 8"],
  "docs/frameworks.md": ['{ "@parcel/'],
};

test("every sample of output on a page is made by the product, or compared by another test", () => {
  const unknown = pageNames.flatMap((page) => {
    const own = pageOf(page).replaceAll(/<!-- (.+?) -->\n[\s\S]*?<!-- \/\1 -->/g, "");
    const blocks = [...own.matchAll(/^```(?:text|console|json|http)\n([\s\S]*?)^```/gm)].map(
      ([, text]) => text,
    );
    return blocks.filter((text) => !compared[page]?.some((start) => text?.startsWith(start)));
  });
  expect(unknown).toEqual([]);
});

test.each(["whoami.test.js", "whoami.jest.cjs", "whoami.node.mjs"])(
  "examples/exec/%s has a row for each promised outcome, and the same client (npm run docs:update)",
  async (name) => {
    const page = `examples/exec/${name}`;
    const sandbox = createSandbox();
    const rows = sandbox.report().outcomes.flatMap(({ outcome, promised, howToCover }) => {
      // Its client calls `/me`.
      if (!promised || howToCover?.request.path !== mePath) return [];
      const { status, code } = outcomeRow(outcome);
      // Jest passes a callback in place of a missing word.
      const word =
        status === 200 ? sandbox.keys.get(howToCover.ref).environment : status === 429 ? null : code;
      const row = [howToCover.ref, status, word];
      return `  [${row.map((one) => JSON.stringify(one)).join(", ")}],\n`;
    });
    const text = pageOf(page).replace(/(?<=const rows = \[\n).*?(?=\];)/s, () => rows.join(""));
    const client = (file: string) => file.slice(file.indexOf("/**\n * Use your client"));
    expect(client(text).split("beforeEach")[0]).toBe(
      client(pageOf("examples/exec/whoami.test.js")).split("beforeEach")[0],
    );
    await expect(text).toMatchFileSnapshot(join(root, page));
  },
);

test.each([
  "go/whoami_test.go",
  "jest/confirm-key.test.js",
  "junit5/WhoamiTest.java",
  "node-test/confirm-key.test.js",
  "pytest/test_whoami.py",
  "vitest/confirm-key.test.js",
])("examples/%s has each key of its scenario that gets a response of its own", (name) => {
  const sandbox = createSandbox();
  const keys = new Set(sandbox.keys.list().map(({ ref }) => String(ref)));
  const rejected = sandbox.report().outcomes.flatMap(({ outcome, promised, howToCover }) => {
    const ref = howToCover?.ref ?? "";
    return promised && keys.has(ref) && outcomeRow(outcome).status !== 200 ? [ref] : [];
  });
  expect(rejected).not.toEqual([]);
  const words = new Set(pageOf(`examples/${name}`).match(/[\w-]+/g));
  expect(rejected.filter((ref) => !words.has(ref))).toEqual([]);
});

const account = new URL(project.homepage).pathname.split("/")[1] as string;
// In `docker run ghcr.io/…`, `uses: …` and the like.
const named = /(?<=\b(?:github\.com|ghcr\.io)\/|(?:uses:|--repo) )[\w-]+(?=\/svc-sandbox\b)/g;
const pagesWithAccount = [...pageNames, "SECURITY.md"].filter((page) => pageOf(page).search(named) >= 0);

test.each(pagesWithAccount)(
  "%s names the account of the repository in package.json (npm run docs:update)",
  async (page) => {
    await expect(pageOf(page).replaceAll(named, account)).toMatchFileSnapshot(join(root, page));
  },
);

test("only package.json decides who the owner of the repository is: no file leaves it open", () => {
  const folders = [".ci", ".github", "docs", "examples", "packaging", "scenarios", "scripts", "src", "test"];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  );
  const top = readdirSync(root).filter((file) => file !== "package-lock.json");
  const texts = [...top, ...files].filter((file) => /\.(?:\w+)$/.test(file) && !/node_modules/.test(file));
  const open = texts.filter((one) => statSync(join(root, one)).isFile() && /\bOWN[E]R\b/.test(pageOf(one)));
  expect([pagesWithAccount.length > 2, texts.length > 500, open]).toEqual([true, true, []]);
});

function assumptionsPart(): string {
  const varies = (name: string) =>
    variationTable.some(({ variants }) => variants.some(({ assume = {} }) => name in assume));
  const rows = Object.entries<(typeof assumptionTable)[keyof Assumptions]>(assumptionTable);
  return table(
    ["assumption", "`minimal`", "`typical`", "`varied`", "open in the specification"],
    ...rows.map(([name, { minimal, typical, choices }]) => {
      const { meaning } = words[name as keyof Assumptions];
      return [
        code(name),
        code(minimal),
        typical === undefined ? "" : code(typical),
        varies(name) ? "varies" : "",
        choices === undefined ? meaning : `${meaning} One of ${code(choices)}.`,
      ];
    }),
  );
}

function effectsPart(): string {
  const rows = faultKinds.map((kind) => [
    code(Object.entries(faultExamples[kind]).flat().join(": ")),
    faultKindSentence(kind),
    faultKindTable[kind].combinesWith.map(code).join(", "),
    code(`fault.${kind}`),
  ]);
  const ofStatus = (["body: html", "retry_after: 30s"] as const).map((example) => {
    const [name] = example.split(": ") as ["body" | "retry_after"];
    const described = descriptions.scenario[`faults.<item>.then.${name}`];
    return [code(example), described, code("status"), code("fault.status")];
  });
  return table(["`then`", "effect", "fits", "outcome"], ...rows, ...ofStatus);
}

const responseWords: Readonly<Record<number, string>> = {
  200: "200 with the key's organization, scopes, limits and usage",
  401: "401 `unauthorized`, the same bytes for all",
  429: "429 `rate_limited` (the specification leaves this code open)",
};
const limitWords: Readonly<Record<string, string>> = {
  "429.per_minute": " (until the next minute)",
  "429.per_day": " (always: a limit of 0)",
};

function keysPart(): string {
  const sandbox = startFrozen("key-states");
  const ends = [...sandbox.registry.keys.keys()].map(
    (ref) => [ref, nextRequest(sandbox, ref).outcome] as const,
  );
  const all = [...ends, ["unknown", "401.unknown"], ["malformed", "401.malformed"]] as const;
  const responses = new Map<string, string[]>();
  for (const { id: outcome, status, code: word } of outcomes) {
    const response = responseWords[status] ?? `${status} ${code(word)}`;
    const refs = all.flatMap(([ref, end]) =>
      end === outcome ? `${code(ref)}${limitWords[outcome] ?? ""}` : [],
    );
    if (refs.length > 0) responses.set(response, [...(responses.get(response) ?? []), ...refs]);
  }
  const rows = [...responses].map(([response, refs]) => {
    const none = response === responseWords[401] ? "; no key" : "";
    return [`${refs.join(", ")}${none}`, response];
  });
  return table(["key", "response"], ...rows);
}

function variablesPart(): string {
  const lines: string[] = [];
  for (const { outcome, variables, kind } of contractOutcomes) {
    if (variables.length === 0) continue;
    const keys = variables
      .map(code)
      .join(", ")
      .replace(/, (?=[^,]*$)/, " or ");
    const key = kind === undefined ? keys : `${kind} key in ${keys}`;
    lines.push(`- ${code(outcome)}: ${isLimit(outcome) ? `${key}, with \`--probe-limits\`` : key}`);
  }
  return lines.join("\n");
}

function endingsPart(): string {
  return Object.values(endings)
    .map(({ when, suspicion }) => `- ${when}: ${suspicion}`)
    .join("\n");
}

const firstPart = (path: string) => path.split("/")[1] as string;

test("docs/control-plane.openapi.json describes the control plane (npm run docs:update)", async () => {
  await expect(await controlOpenApi()).toMatchFileSnapshot(join(root, "docs/control-plane.openapi.json"));
});

test("docs/calls.md lists every call in one table", () => {
  const paths = routes.map(({ path }) => firstPart(path));
  expect([...new Set(paths)].sort()).toEqual(Object.values(callGroups).flat().sort());
});

function callsPart(group: string): string {
  const shownRoutes = routes.filter(({ path }) => callGroups[group]?.includes(firstPart(path)));
  const rows = shownRoutes.map(({ method, path, body, query, summary }) => [
    code(`${method} ${path}`),
    [...fieldsOf(body), ...Object.keys(query?.fields ?? {}).map((name) => `?${name}=`)].map(code).join(", "),
    summary,
  ]);
  return table(["call", "fields", "effect"], ...rows);
}

function fieldsOf(body: (typeof routes)[number]["body"] = "nothing"): string[] {
  const { properties = {}, required = [] } = controlBodySchema(body) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.keys(properties).map((field) => (required.includes(field) ? field : `${field}?`));
}

// The specification promises the status, and leaves its code open.
const notPromised = (status: number) => (status === 429 ? " (code not promised)" : "");

function outcomesPart(): string {
  const reported = createSandbox().report().outcomes;
  const keyOf = (id: string) => reported.find(({ outcome }) => outcome === id)?.howToCover?.ref;
  return table(
    ["outcome", "response", "key", "cause", "what to do"],
    ...outcomes.map(({ id: outcome, status, code: errorCode, when, whatToDo }) => [
      code(outcome),
      status === 0 ? "" : `${status}${errorCode === null ? "" : ` ${code(errorCode)}`}${notPromised(status)}`,
      keyCell(keyOf(outcome)),
      when,
      whatToDo,
    ]),
  );
}

function keyCell(ref: string | undefined): string {
  if (ref === undefined) return "";
  return ref === "none" ? "none" : code(ref);
}

function responseCodesPart(): string {
  const failures = outcomes.filter(({ code }) => code !== null);
  const rows = failures.map(({ code: name, status, message }) => [
    code(name),
    status + notPromised(status),
    String(message),
  ]);
  const unlike = rows.filter((row, index) => index === rows.findIndex((one) => one.join() === row.join()));
  return table(["code", "status", "message"], ...unlike);
}

function rejectionsPart(): string {
  const statuses: Readonly<Record<string, number>> = statusOfCode;
  const own = Object.entries(errorCauses).map(([name, cause]) => {
    const other = codeOverHttp[name];
    return [code(name), `${statuses[name] ?? ""}${other === undefined ? "" : ` ${code(other)}`}`, cause];
  });
  const overHttp = Object.entries(httpErrors).map(([name, [status, cause]]) => [
    code(name),
    String(status),
    cause,
  ]);
  return table(["rejection", "over HTTP", "cause"], ...own, ...overHttp);
}

function warningsPart(): string {
  const names = warningCodes.map(code);
  return `${listed(names, "and")} are warnings; in \`start\`, \`step_fails\` is one.`;
}

function advicePart(): string {
  const rerun = { certify: "svc-sandbox certify", command: "npm test" };
  return table(
    ["advice", "level", "what the client did", "what to do"],
    ...adviceTable.map(({ id, level, meaning, whatToDo }) => [
      code(id),
      level,
      meaning,
      fillPlaceholders(whatToDo, endpointsIn({}), rerun),
    ]),
  );
}

/** The table of the built-in endpoints, and a section with an example for each. */
function endpointsPart(): string {
  const rows = builtIn.map((endpoint) => {
    const { method, path, operationId, scope = "me_scope" } = endpoint;
    const successes = successOutcomesOf(endpoint).map(code).join(", ");
    return [code(`${method} ${path}`), code(operationId), scope === null ? "none" : code(scope), successes];
  });
  const sections = builtIn.map(({ method, path, description, responseExample }) => {
    const body = JSON.stringify(responseExample, null, 2);
    return `### ${method} ${path}\n\n${description}\n\n\`\`\`json\n${body}\n\`\`\``;
  });
  const head = ["endpoint", "operation id", "scope", "outcomes of its successes"];
  return [table(head, ...rows), ...sections].join("\n\n");
}

/** The rows of what varies, with their variants in order. */
function variantsPart(): string {
  const names = new Map([
    [allStatuses, "all"],
    [errorStatuses, "errors"],
    [limitStatuses, "successes, 429"],
  ]);
  // The page says that an assumption has the name of its row.
  for (const { id, assumption = id } of variationTable) expect(assumption).toBe(id);
  const rows = variationTable.map(({ id, statuses, variants }) => [
    code(id),
    names.get(statuses) ?? statuses.join(", "),
    variants.map(({ id }) => code(id)).join(", "),
  ]);
  return table(["row", "responses", "variants"], ...rows);
}

function localesPart(): string {
  const countryNames = new Intl.DisplayNames("en", { type: "region" });
  const named = farmerLocales.map((locale) => {
    const { code: country } = countryOf(locale);
    return `${code(locale)} (${countryNames.of(country) ?? country})`;
  });
  return `${named.join(", ")}.`;
}

function formatsPart(): string {
  const rows = reportFormats.map((format) => {
    const { title, mediaType, extensions } = formats[format];
    return `| \`${format}\` | ${title} | ${extensions.map((one) => `\`${one}\``).join(", ")} | \`${mediaType}\` |`;
  });
  return ["| format | is | endings | media type |", "|---|---|---|---|", ...rows].join("\n");
}
