import type { World } from "../../sandbox/world.js";
import { controlCalls } from "./calls.js";
import { pages } from "./pages.js";

/**
 * A plain page that says what runs here and links to what there is to see.
 *
 * `here` is what the page was asked as: its links are relative to that, so that an instance's lead to the instance.
 */
export function linksPage(world: World, { here, isInstance }: { here: string; isInstance: boolean }): string {
  const name = escapeHtml(world.name);
  const base = here.endsWith("/") ? "." : "./__sandbox";
  const paths = [
    ...controlCalls
      .filter(({ method, path }) => method === "GET" && !path.includes("{"))
      .filter(({ preview }) => preview !== true || world.preview),
    ...pages.filter(({ path }) => path !== "/"),
  ].map(({ path }) => path);
  const links = paths
    .filter((path) => !(isInstance && path === "/instances"))
    .map((path) => `<li><a href="${base}${path}">/__sandbox${path}</a></li>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>svc-sandbox: ${name}</title>
<h1>svc-sandbox</h1>
<p>Scenario <strong>${name}</strong>, seed ${world.seed}. The API is at <code>/v1/relying-party/me</code> under the base URL.</p>
<ul>
${links.join("\n")}
</ul>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
