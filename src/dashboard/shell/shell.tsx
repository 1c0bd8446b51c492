import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { baseUrl, forget, hasToken, isTokenRejected, needsToken, useToken } from "../control/call.js";
import { turnOff } from "../control/faults.js";
import { lastIssued } from "../control/issued.js";
import { now, useNow } from "../control/now.js";
import { useResources } from "../control/resource.js";
import { assumptions, clock, faults, health } from "../control/resources.js";
import { connection, tryNow, whyGone, whyOffline } from "../control/revision.js";
import { CopyButton } from "../elements/copy-button.js";
import { DocsLink } from "../elements/docs-link.js";
import { ActionButton } from "../elements/forms/action.js";
import { AskButton } from "../elements/forms/ask.js";
import { InstantText } from "../elements/instant.js";
import { counted, firstSentence } from "../elements/words.js";
import { linkTo, route } from "../route.js";
import { actor } from "../views/keys/actor.js";
import { noteCopied } from "../views/keys/secret.js";
import { views } from "./views.js";

export function Shell() {
  if (needsToken.value) return <TokenForm />;
  return whyGone.value === undefined || health.data.value !== undefined ? <Frame /> : <Gone />;
}

function Gone() {
  return (
    <main class="stack token-form">
      <h1>No sandbox here</h1>
      <p>{firstSentence(whyGone.value ?? "")}</p>
      <p>Ask the person who sent you this address for the current one.</p>
    </main>
  );
}

function Frame() {
  const { view: name } = route.value;
  const shown = Object.hasOwn(views, name) ? views[name] : undefined;
  return (
    <>
      <Header />
      <Navigation current={name} />
      <Main name={name} title={shown?.title ?? "Not found"}>
        {shown === undefined ? (
          <>
            <h1>Not found</h1>
            <p>
              No view is called “<bdi>{name.slice(0, 100)}</bdi>”.{" "}
              <a href={linkTo("overview")}>Go to the overview.</a>
            </p>
          </>
        ) : (
          <shown.View />
        )}
      </Main>
    </>
  );
}

function focusMain(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("main")?.focus();
}

function Header() {
  useResources(health);
  const { scenario, seed, version } = health.data.value ?? {};
  return (
    <header class="page-header bar">
      <a class="skip-link" href={`${location.hash || "#/"}`} onClick={focusMain}>
        Skip to content
      </a>
      <a class="brand" href={linkTo("overview")}>
        svc-sandbox <small>{version}</small>
      </a>
      <span class="running">
        {scenario === undefined ? null : (
          <>
            <a class="scenario-name" href={linkTo("scenario")}>
              <bdi>{scenario}</bdi>
            </a>{" "}
            <span class="muted">seed {seed}</span>
          </>
        )}
      </span>
      <ActiveFaults />
      <Connect />
      <output class={`connection ${connection.value}`}>
        <span>{connection.value === "open" ? "live" : "not connected"}</span>
      </output>
    </header>
  );
}

/** Faults change responses, so every view shows them and turns them off. */
function ActiveFaults() {
  useResources(faults);
  const active = faults.data.value?.length ?? 0;
  if (active === 0) return null;
  return (
    <span class="bar small active-faults">
      <a href={linkTo("faults")}>{counted(active, "fault")} active</a>
      <ActionButton class="quiet" run={() => turnOff()}>
        Turn off
      </ActionButton>
    </span>
  );
}

/** What a client needs: the base URL, and a key that this tab knows, or where to create one. */
function Connect() {
  const { key, secret } = lastIssued.value ?? {};
  return (
    <span class="bar small connect">
      <CopyButton text={baseUrl}>Copy URL</CopyButton>
      {secret !== undefined ? (
        <CopyButton text={secret} onCopied={noteCopied}>
          Copy key <bdi>{key?.ref}</bdi>
        </CopyButton>
      ) : route.value.view === "keys" ? null : (
        <a href={linkTo("keys")}>Create a key</a>
      )}
    </span>
  );
}

function ForgetToken() {
  return (
    <AskButton
      class="quiet small"
      question={{
        title: "Forget the token?",
        action: "Forget it",
        run: async () => forget(),
        text: "This tab then has no access until you enter the token again.",
      }}
    >
      Forget the token
    </AskButton>
  );
}

/** The settings that make responses differ from a plain sandbox, each with a link to change it. */
function Chips() {
  useResources(assumptions);
  const { profile = "minimal" } = assumptions.data.value ?? {};
  const chips = [
    profile !== "minimal" && { words: `profile ${profile}`, to: linkTo("faults"), kind: "access" },
    actor.value === "member" && { words: "acting as member", to: linkTo("keys"), kind: "key" },
    clock.data.value?.frozen === true && { words: "clock frozen", to: linkTo("time"), kind: "limit" },
  ].filter((chip) => chip !== false);
  if (chips.length === 0) return null;
  return (
    <ul class="bar chips" aria-label="Active settings">
      {chips.map(({ words, to, kind }) => (
        <li key={kind}>
          <a class={`badge tone-${kind}`} href={to}>
            {words}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Navigation({ current }: { readonly current: string }) {
  useNow();
  return (
    <nav class="page-navigation" aria-label="Views">
      <div>
        <ul class="views">
          {Object.entries(views).map(([name, { title }]) => (
            <li key={name}>
              <a href={linkTo(name)} aria-current={name === current ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
        <div class="bar small settings">
          <a class="clock" href={linkTo("time")} title="The sandbox's clock">
            <InstantText at={now.value} />
          </a>
          <Chips />
          <DocsLink to="">Docs</DocsLink>
          {hasToken() ? <ForgetToken /> : null}
        </div>
      </div>
    </nav>
  );
}

function Main(props: {
  readonly name: string;
  readonly title: string;
  readonly children: preact.ComponentChildren;
}) {
  const { name, title, children } = props;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} · svc-sandbox`;
  }, [title]);
  useEffect(() => {
    // Another view starts at its top. The first view leaves the focus to the browser.
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [name]);
  return (
    <main ref={main} tabIndex={-1} class={`view view-${name}`} key={name}>
      {whyOffline.value === undefined ? null : <NotConnected />}
      {children}
    </main>
  );
}

function NotConnected() {
  return (
    <div class="notice warning bar" role="status">
      <p>
        {whyOffline.value}
        {whyGone.value === undefined ? " This page reconnects when that changes." : null}
      </p>
      <button type="button" class="quiet" onClick={tryNow}>
        Try now
      </button>
    </div>
  );
}

function TokenForm() {
  const input = useRef<HTMLInputElement>(null);
  // With the drawing, because text typed before the focus would be lost.
  useLayoutEffect(() => input.current?.focus(), []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = new FormData(event.target as HTMLFormElement).get("token");
    if (typeof token === "string" && token !== "") useToken(token.trim());
  };
  return (
    <main class="stack token-form">
      <h1>svc-sandbox</h1>
      <p>
        This sandbox requires its control token: the one that it was started with, or that it printed when it
        started.
      </p>
      <form class="bar" onSubmit={submit}>
        <label>
          Control token <input ref={input} name="token" type="password" autocomplete="off" required />
        </label>
        <button type="submit">Continue</button>
        {isTokenRejected() ? (
          <p class="rejection" role="alert">
            The sandbox rejected this token. Each start prints a new one, unless --control-token sets it.
          </p>
        ) : null}
      </form>
    </main>
  );
}
