import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { baseUrl, ControlError, call, lastIssued } from "../../control/call.js";
import { useResources } from "../../control/resource.js";
import { assumptions, curlLine, report } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { CopyButton } from "../../elements/copy-button.js";
import { Confirm, Dialog } from "../../elements/forms/dialog.js";
import { Choice, TextField } from "../../elements/forms/field.js";
import { ActionForm, numberIn, textIn } from "../../elements/forms/form.js";
import { hasEnded } from "../../elements/key-state.js";
import { linkTo, route } from "../../route.js";
import { actor } from "./actor.js";

interface KeyAction {
  readonly words: string;
  readonly class: "quiet" | "danger";
  /** Whether it is possible with a key (R42). */
  readonly isFor: (key: Shown<"ListedKey">) => boolean;
  /** Its dialog. Default: a confirmation. */
  readonly form?: (props: KeyFormProps) => preact.JSX.Element;
  /** Whether only the key's own page has it. */
  readonly isOnPage?: boolean;
}

/** The actions with a key, in the order of their buttons. */
export const keyActions: Readonly<Record<"rotate" | "expire" | "revoke", KeyAction>> = {
  rotate: { words: "Rotate", class: "quiet", isFor: ({ state }) => state === "active", form: RotateKey },
  expire: {
    ...{ words: "Ends in…", class: "quiet", isFor: (key) => !hasEnded(key) },
    ...{ form: ExpireKey, isOnPage: true },
  },
  revoke: { words: "Revoke", class: "danger", isFor: (key) => !hasEnded(key) },
};

/** The open dialog: an action, and the key or organization that it affects. */
type Doing =
  | { readonly kind: "create"; readonly organizations: readonly string[] }
  | { readonly kind: keyof typeof keyActions; readonly key: Shown<"ListedKey"> };

export const doing = signal<Doing | undefined>(undefined);

const onClose = () => {
  doing.value = undefined;
};

export function KeyDialog() {
  // A dialog of the view that was left.
  useEffect(() => onClose, []);
  const open = doing.value;
  if (open === undefined) return null;
  if (open.kind === "create") return <CreateKey organizations={open.organizations} />;
  const { form: Form = RevokeKey } = keyActions[open.kind];
  return <Form of={open.key} />;
}

interface KeyFormProps {
  readonly of: Shown<"ListedKey">;
}

function RevokeKey({ of: key }: KeyFormProps) {
  return (
    <Confirm
      title={`Revoke ${key.ref}?`}
      action="Revoke the key"
      run={() => call(pathOf({ kind: "revoke", key }), { method: "POST", actor: actor.value })}
      instead="Cancel"
      onClose={onClose}
    >
      <p>
        The next request with <code>{key.ref}</code> gets 401. This cannot be undone.
      </p>
    </Confirm>
  );
}

function ExpireKey({ of: key }: KeyFormProps) {
  const send = async (form: FormData) => {
    const body = { expires: textIn(form, "expires") };
    await call(pathOf({ kind: "expire", key }), { method: "POST", body, actor: actor.value });
    onClose();
  };
  return (
    <Dialog title={`The end of ${key.ref}`} onClose={onClose}>
      <ActionForm action="Set the end" send={send}>
        {(problems) => (
          <TextField
            name="expires"
            label="End"
            hint="In a duration such as 30d, or at a time such as 2026-03-02T09:00:00Z. From then on, requests get 401."
            problem={problems.expires}
            required
          />
        )}
      </ActionForm>
    </Dialog>
  );
}

const pathOf = ({ kind, key }: Extract<Doing, { readonly key: Shown<"ListedKey"> }>) =>
  `/keys/${encodeURIComponent(key.ref)}/${kind}`;

const limits = [
  ["minute", "60"],
  ["day", "1000"],
] as const;

function CreateKey({ organizations }: { readonly organizations: readonly string[] }) {
  useResources(assumptions);
  const { scopes: known = [], default_expiry: lifetime = "none" } = assumptions.data.value ?? {};
  return (
    <IssueKey
      title="Create a key"
      path="/keys"
      bodyOf={(form) => ({
        organization: form.get("organization"),
        environment: form.get("environment"),
        name: form.get("name"),
        scopes: form.getAll("scopes"),
        limits: { per_minute: numberIn(form, "per_minute"), per_day: numberIn(form, "per_day") },
        expires: textIn(form, "expires"),
        ref: textIn(form, "ref"),
      })}
      action="Create the key"
    >
      {(problems) => (
        <>
          <TextField
            name="name"
            label="Name"
            hint="The system that uses the key, such as “Core banking”."
            problem={problems.name}
            required
          />
          <Choice
            name="organization"
            label="Organization"
            hint={organizations.length === 50 ? "Filter the list for another one." : undefined}
            problem={problems.organization}
            of={organizations}
          />
          <fieldset class="bar choices">
            <legend>Environment</legend>
            {(["test", "live"] as const).map((environment) => (
              <label key={environment}>
                <input
                  type="radio"
                  name="environment"
                  value={environment}
                  defaultChecked={environment === "test"}
                />{" "}
                {environment}
              </label>
            ))}
          </fieldset>
          <fieldset class="bar choices">
            <legend>Scopes</legend>
            {known.map((scope) => (
              <label key={scope}>
                <input
                  type="checkbox"
                  name="scopes"
                  value={scope}
                  defaultChecked={scope === "attestations:read"}
                />{" "}
                <code>{scope}</code>
              </label>
            ))}
          </fieldset>
          <div class="form-fields">
            {limits.map(([window, usual]) => (
              <TextField
                key={window}
                name={`per_${window}`}
                label={`Requests per ${window}`}
                hint="A whole number; 0 allows no requests."
                problem={problems[`limits.per_${window}`]}
                inputMode="numeric"
                defaultValue={usual}
              />
            ))}
            <TextField
              name="expires"
              label="Expires"
              hint={`Such as 30d or 2026-03-02T09:00:00Z. Default: ${lifetime === "none" ? "never" : `after ${lifetime}`}.`}
              problem={problems.expires}
            />
            <TextField
              name="ref"
              label="Ref"
              hint="A short name for scenarios. Default: derived from the name."
              problem={problems.ref}
            />
          </div>
        </>
      )}
    </IssueKey>
  );
}

// In minutes, with labels. The last one is the maximum of the service (R39).
const overlaps = [
  ["0", "0: the old key stops working immediately"],
  ["15", "15 minutes"],
  ["60", "60 minutes, the service's default"],
  [String(24 * 60), "1 day"],
  [String(7 * 24 * 60), "7 days, the maximum"],
  ["other", "Other…"],
] as const;

const overlapRange = "0 to 10,080 minutes (7 days).";

function RotateKey({ of: old }: KeyFormProps) {
  const overlap = useSignal("60");
  const isOther = overlap.value === "other";
  return (
    <IssueKey
      title={`Rotate ${old.ref}`}
      path={pathOf({ kind: "rotate", key: old })}
      bodyOf={(form) => ({
        overlap_minutes: numberIn(form, isOther ? "minutes" : "overlap"),
        as: textIn(form, "as"),
      })}
      action="Rotate the key"
    >
      {(problems) => (
        <>
          <p>
            The replacement has the same name, scopes and limits, and works immediately. The old key works
            until its overlap ends.
          </p>
          <Choice
            name="overlap"
            label="Overlap"
            value={overlap.value}
            onChange={({ currentTarget }) => {
              overlap.value = currentTarget.value;
            }}
            of={overlaps}
          />
          {isOther ? (
            <TextField
              name="minutes"
              label="Overlap in minutes"
              hint={overlapRange}
              required
              inputMode="decimal"
              problem={problems.overlap_minutes && `Enter ${overlapRange}`}
            />
          ) : null}
          <TextField
            name="as"
            label="Ref of the replacement"
            hint="Default: the old ref with the next free number."
            problem={problems.as}
          />
        </>
      )}
    </IssueKey>
  );
}

interface IssueKeyProps {
  readonly title: string;
  readonly path: string;
  readonly bodyOf: (form: FormData) => unknown;
  readonly action: string;
  /** The fields. Each problem has the name of its field. */
  readonly children: (problems: Readonly<Record<string, string>>) => ComponentChildren;
}

/** A form that creates a key, then its secret, which the header copies until a reload. */
function IssueKey({ title, path, bodyOf, action: words, children }: IssueKeyProps) {
  const issued = useIssued();
  const { leave, onCopied, question } = useUnstored(issued.value, onClose);
  const send = async (fields: FormData) => {
    const body = bodyOf(fields);
    try {
      issued.value = await call<Shown<"IssuedKey">>(path, { method: "POST", body, actor: actor.value });
    } catch (error) {
      const { code, message } = error as ControlError;
      if (code !== "overlap_out_of_range") throw error;
      throw new ControlError(code, message, { overlap_minutes: message });
    }
  };
  if (issued.value === undefined) {
    return (
      <Dialog title={title} onClose={onClose}>
        <ActionForm action={words} send={send}>
          {children}
        </ActionForm>
      </Dialog>
    );
  }
  return (
    <>
      <Dialog title={`The secret of ${issued.value.key.ref}`} onClose={leave}>
        <Secret issued={issued.value} onCopied={onCopied} />
      </Dialog>
      {question}
    </>
  );
}

/**
 * Keeps the page at its address until the returned function is called: Back calls `ask` instead of leaving, and the browser
 * asks before a reload.
 */
function keepAddress(ask: () => void): () => void {
  const stay = () => {
    // Back has already changed the browser's address, but not yet the route.
    const { view, parts, query } = route.peek();
    history.pushState("kept", "", linkTo(view, parts, Object.fromEntries(query)));
  };
  const back = () => {
    if (history.state === "kept") return;
    stay();
    ask();
  };
  const reload = (event: Event) => event.preventDefault();
  stay();
  addEventListener("popstate", back);
  addEventListener("beforeunload", reload);
  return () => {
    removeEventListener("popstate", back);
    removeEventListener("beforeunload", reload);
    if (history.state === "kept") history.back();
  };
}

/** A key that a component issues, until it no longer exists because another scenario or a reset has started. */
export function useIssued() {
  const issued = useSignal<Shown<"IssuedKey"> | undefined>(undefined);
  const isKnown = lastIssued.value !== undefined;
  useEffect(() => {
    if (!isKnown) issued.value = undefined;
  }, [isKnown]);
  return issued;
}

/** Asks before a secret that is not stored is lost: by `leave`, Back or a reload. */
export function useUnstored(issued: Shown<"IssuedKey"> | undefined, onClose: () => void) {
  const isStored = useSignal(false);
  const isLeaving = useSignal(false);
  const asks = (does: boolean) => () => {
    isLeaving.value = does;
  };
  const isAtRisk = issued !== undefined && !isStored.value;
  // With the drawing: Back can be pressed as soon as the secret is visible.
  useLayoutEffect(() => (isAtRisk ? keepAddress(asks(true)) : undefined), [isAtRisk]);
  const onCopied = () => {
    isStored.value = true;
  };
  const question = isLeaving.value ? (
    <Confirm
      title="Did you store the secret?"
      action="I stored it"
      class=""
      run={async () => {
        onCopied();
        // The dialog must close first: below it, no element can receive the focus.
        setTimeout(onClose);
      }}
      instead="Show it again"
      onClose={asks(false)}
    >
      <p>You cannot see it again. Until a reload, the top of this page copies it.</p>
    </Confirm>
  ) : null;
  return { leave: isAtRisk ? asks(true) : onClose, onCopied, question };
}

interface SecretProps {
  readonly issued: Shown<"IssuedKey">;
  readonly onCopied: () => void;
}

export function Secret({ issued, onCopied }: SecretProps) {
  useResources(report);
  const { key, secret } = issued;
  const curl = curlLine(baseUrl, secret);
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    lastIssued.value = issued;
    // The form with the focus is gone.
    shown.current?.focus();
  }, []);
  return (
    <div class="stack secret" ref={shown} tabIndex={-1}>
      <p>
        <strong>Copy it now: it is shown only once.</strong> Like the service, the sandbox stores only a hash.
        A lost secret cannot be recovered.
      </p>
      <p>
        <code class="secret-text">{secret}</code>
      </p>
      <p class="bar">
        <CopyButton text={secret} onCopied={onCopied}>
          Copy the secret
        </CopyButton>
        {curl ? (
          <CopyButton text={curl} onCopied={onCopied}>
            Copy as curl
          </CopyButton>
        ) : null}
      </p>
      <p class="muted">
        Fingerprint <code>{key.fingerprint}</code>
      </p>
    </div>
  );
}
