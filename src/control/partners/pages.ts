import { createHash } from "node:crypto";
import type { Response } from "express";
import { environmentLines, linesOf, powershellLines } from "../../node/client-variables.js";
import { xmlText } from "../../report/render/junit.js";

// Pages for partners, who do not have a token or the dashboard yet. They work without scripts.

const style = `:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
main{max-width:44rem;margin:2rem auto;padding:0 1rem}
pre{padding:.75rem;white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #8886;border-radius:.4rem}
label,summary{margin:.75rem 0 .25rem;font-weight:600}
label{display:block}
summary{cursor:pointer}
input,select,button{font:inherit;padding:.4rem .6rem}
button{margin-top:1rem}`;

// Allows only their own style and forms.
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** Sends one of these pages. */
export function sendPage(response: Response, status: number, html: string): void {
  response.set("Content-Security-Policy", policy).set("Referrer-Policy", "same-origin");
  response.status(status).type("html").send(html);
}

function pageOf(title: string, lines: readonly string[]): string {
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${xmlText(title)}</title>\n<style>${style}</style>\n</head>\n<body>\n<main>`,
    `<h1>${xmlText(title)}</h1>`,
    ...lines,
    "</main>\n</body>\n</html>\n",
  ].join("\n");
}

const paragraph = (text: string) => `<p>${xmlText(text)}</p>`;
const block = (text: string) => `<pre>${xmlText(text)}</pre>`;
const link = (href: string, text = href) => `<p><a href="${xmlText(href)}">${xmlText(text)}</a></p>`;

/** A scenario that partners can choose: its name (empty for the server's own) and its title. */
export interface OfferedScenario {
  readonly name: string;
  readonly title: string;
}

/** The page where a partner creates a sandbox. */
export function creationPage(offered: readonly OfferedScenario[], owner: string | undefined): string {
  const options = offered.map(
    ({ name, title }) => `<option value="${xmlText(name)}">${xmlText(title)}</option>`,
  );
  return pageOf("Create your sandbox", [
    paragraph("You get your own sandbox of the API: its keys, its clock and its requests are only yours."),
    ...(owner === undefined ? [] : [paragraph(`You are signed in as ${owner}.`)]),
    '<form method="post">',
    `<label for="scenario">Scenario</label>\n<select id="scenario" name="scenario">${options.join("")}</select>`,
    '<label for="label">Name, such as your team (optional)</label>',
    '<input id="label" name="label" maxlength="80" autocomplete="organization">',
    '<p><button type="submit">Create sandbox</button></p>\n</form>',
  ]);
}

/** The page of a one-time link. Only its button uses the link, because mail scanners open links but press no buttons. */
export function claimPage(): string {
  return pageOf("Open your sandbox", [
    paragraph("This link works once. The button shows the token of your sandbox: keep it in a safe place."),
    '<form method="post"><button type="submit">Show the token</button></form>',
  ]);
}

/** The page of a problem. */
export function problemPage(message: string): string {
  return pageOf("This did not work", [paragraph(message)]);
}

/** An instance with its token, for its partner. */
interface OpenedInstance {
  readonly base_url: string;
  readonly control_url: string;
  readonly scenario: string;
  readonly token: string;
  readonly expires_at: string | null;
  readonly requests_per_minute: number | null;
  readonly variables: Readonly<Record<string, string>>;
  /** The options for curl to trust the server; may be empty. */
  readonly curlOptions: string;
}

const inElements = linesOf((name, value) => `<${name}>${value}</${name}>\n`);
const environments: Readonly<Record<string, (variables: Readonly<Record<string, string>>) => string>> = {
  "Shell (bash, zsh)": linesOf((name, value) => `export ${name}='${value}'\n`),
  "File .env, Docker": environmentLines,
  PowerShell: powershellLines,
  Python: (all) => `import os\n${linesOf((name, value) => `os.environ["${name}"] = "${value}"\n`)(all)}`,
  "JavaScript, TypeScript": linesOf((name, value) => `process.env.${name} = "${value}";\n`),
  "Java (Maven Surefire)": (all) => `<environmentVariables>\n${inElements(all)}</environmentVariables>\n`,
  ".NET (.runsettings)": (all) => `<EnvironmentVariables>\n${inElements(all)}</EnvironmentVariables>\n`,
  Go: linesOf((name, value) => `os.Setenv("${name}", "${value}")\n`),
  Ruby: linesOf((name, value) => `ENV["${name}"] = "${value}"\n`),
  PHP: linesOf((name, value) => `putenv("${name}=${value}");\n`),
  "Rust (.cargo/config.toml)": (all) => `[env]\n${linesOf((name, value) => `${name} = "${value}"\n`)(all)}`,
};

/** The page of a partner's own sandbox: its token, its addresses and a first request. */
export function instancePage(opened: OpenedInstance): string {
  const { token, base_url, control_url, expires_at, requests_per_minute, variables, curlOptions } = opened;
  const dashboard = `${control_url}/#token=${token}`;
  const key = variables.SVC_API_KEY ?? variables.SVC_KEY_UNKNOWN;
  const all = { ...variables, SVC_SANDBOX_CONTROL_TOKEN: token };
  return pageOf("Your sandbox", [
    paragraph("This page is shown once. Copy the token and the keys now, and keep them in a safe place."),
    `<h2>First request</h2>`,
    block(`curl ${curlOptions}-i -H "x-api-key: ${key}" ${base_url}/v1/relying-party/me`),
    "<h2>Dashboard</h2>",
    link(dashboard, `${control_url}/`),
    paragraph("The dashboard shows your requests, keys and clock. It requires this token:"),
    block(token),
    "<h2>Environment</h2>",
    ...Object.entries(environments).map(
      ([language, text]) => `<details><summary>${xmlText(language)}</summary>${block(text(all))}</details>`,
    ),
    "<h2>Limits</h2>",
    paragraph(
      expires_at === null
        ? "Your sandbox is removed when nobody has used it for a while."
        : `Your sandbox is removed at ${expires_at}.`,
    ),
    ...(requests_per_minute === null
      ? []
      : [paragraph(`It accepts ${requests_per_minute} requests a minute for all its keys together.`)]),
    link(`${control_url}/docs/`, "Documentation"),
  ]);
}
