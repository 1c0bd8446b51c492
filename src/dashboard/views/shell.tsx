import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { baseUrl, needsToken, revision, storedToken, storeToken, whyOffline } from "../control/call.js";
import { now, useData } from "../control/data.js";
import { linkTo, route } from "../control/route.js";
import { useShared } from "../control/shared.js";
import { CopyButton } from "../elements/copy.js";
import { DocsLink, fileName, InstantText } from "../elements/words.js";
import { KeysView } from "./keys.js";
import { OverviewView } from "./overview.js";
import { RequestsView } from "./requests.js";
import { ActiveFaults, SandboxView } from "./sandbox.js";
import { StoryView } from "./story.js";

/** The address of a view is its title in lower case. */
const views: readonly (readonly [title: string, View: ComponentType])[] = [
  ["Overview", OverviewView],
  ["Requests", RequestsView],
  ["Keys", KeysView],
  ["Story", StoryView],
  ["Sandbox", SandboxView],
];

/** The whole page: a view with its frame, or the form for the token. */
export function Shell() {
  const { view } = useShared(route);
  if (useShared(needsToken)) return <TokenForm />;
  const [title, View] = views.find(([name]) => name.toLowerCase() === view) ?? ["Overview", OverviewView];
  return (
    <>
      <Header />
      <div class="columns">
        <Navigation current={title} />
        <Main key={title} title={title}>
          <View />
        </Main>
      </div>
    </>
  );
}

function Header() {
  const { seed, version, scenario: file = "" } = useData("/health").data ?? {};
  const { profile = "minimal" } = useData("/report?story=true").data ?? {};
  // For an audience: its own name, otherwise that of its file without folders. Empty until it is read.
  const scenario = useData("/story").data?.name ?? fileName(file);
  const isConnected = useShared(revision) !== undefined;
  // Without a change of the address, which has the view.
  const focusMain = (event: Event) => {
    event.preventDefault();
    document.querySelector("main")?.focus();
  };
  return (
    <header class="bar page-header">
      <a class="skip-link" href={location.hash || "#/"} onClick={focusMain}>
        Skip to content
      </a>
      <a class="brand" href={linkTo("overview")}>
        svc-sandbox <small class="muted">{version}</small>
      </a>
      {scenario && (
        <span class="running">
          <a href={linkTo("sandbox", ["scenario"])}>
            <bdi>{scenario}</bdi>
          </a>{" "}
          <span class="muted">seed {seed}</span>{" "}
          {profile !== "minimal" && <a href={linkTo("sandbox", ["profile"])}>profile {profile}</a>}
        </span>
      )}
      <output class={isConnected ? "small connection open" : "small connection"}>
        {isConnected ? "connected" : "not connected"}
      </output>
      <div class="bar">
        <ActiveFaults />
        <CopyButton text={baseUrl}>Copy URL</CopyButton>
      </div>
    </header>
  );
}

/** The views and the clock. */
function Navigation({ current }: Readonly<{ current: string }>) {
  const { frozen } = useData("/clock").data ?? {};
  return (
    <nav class="page-navigation" aria-label="Views">
      <div>
        <ul class="views">
          {views.map(([title]) => (
            <li key={title}>
              <a href={linkTo(title.toLowerCase())} aria-current={title === current ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
        <div class="settings small">
          <a class="clock" href={linkTo("sandbox", ["clock"])}>
            <InstantText at={useShared(now)} />
          </a>
          {frozen && <a href={linkTo("sandbox", ["clock"])}>clock frozen</a>}
          <DocsLink to="README">Docs</DocsLink>
        </div>
      </div>
    </nav>
  );
}

/** Until a view has been drawn. */
let isFirstView = true;

/** The place of a view. It gets the focus when another view is shown. */
function Main({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const offline = useShared(whyOffline);
  useEffect(() => {
    document.title = `${title} · svc-sandbox`;
    // Another view starts at its top. The first view leaves the focus to the browser.
    if (!isFirstView) {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirstView = false;
  }, []);
  return (
    <main ref={main} tabIndex={-1} class="view">
      {offline && (
        <p class="notice" role="status">
          {offline} This page reconnects.
        </p>
      )}
      {children}
    </main>
  );
}

/** Asks for the control token, in place of the page. */
function TokenForm() {
  const input = useRef<HTMLInputElement>(null);
  // With the drawing, because text typed before the focus would be lost.
  useLayoutEffect(() => input.current?.focus(), []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    storeToken(input.current?.value.trim() ?? "");
  };
  return (
    <main class="panel stack token-form">
      <h1>svc-sandbox</h1>
      <p>This sandbox requires its control token. Whoever started the sandbox has it.</p>
      <form class="bar align-end" onSubmit={submit}>
        <label class="field">
          Control token <input ref={input} type="password" autocomplete="off" required />
        </label>
        <button type="submit">Continue</button>
      </form>
      {storedToken() !== null && (
        <p class="rejection" role="alert">
          The sandbox rejected this token. Each start has a new one unless it is set.
        </p>
      )}
    </main>
  );
}
