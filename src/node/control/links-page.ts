import type { World } from "../../sandbox/world.js";

/** A plain page that says what runs here and links to the control plane's calls. */
export function linksPage(world: World): string {
  const name = escapeHtml(world.name);
  const links = [
    "health",
    "state",
    "keys",
    "organizations",
    "clock",
    "requests",
    "scenarios",
    "openapi.json",
    "control.openapi.json",
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>svc-sandbox: ${name}</title>
<h1>svc-sandbox</h1>
<p>Scenario <strong>${name}</strong>, seed ${world.seed}. The API is at <code>/v1/relying-party/me</code>.</p>
<ul>
${links.map((link) => `<li><a href="/__sandbox/${link}">/__sandbox/${link}</a></li>`).join("\n")}
</ul>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
