import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { IssuedKey, ListedKey } from "../control/responses.js";
import { Shared, useShared } from "../control/shared.js";
import { Button, Dialog } from "../elements/action.js";
import { Field, Form, RefField, Submit, textIn, timeForms, useFieldProblem } from "../elements/form.js";
import { Secret } from "./secret.js";

/** Whether a key is over for good: only such a one of the sandbox gets a 401. */
export const isOver = ({ next_request: next }: ListedKey) => next.status === 401;

/** What a person can do with a key: each action has a button, and a dialog with a field or a warning. */
const keyActions = {
  rotate: {
    button: "Rotate…",
    title: (ref: string) => `Rotate ${ref}`,
    text: "The new key has its scopes and limits. The old one works until the overlap ends.",
    field: <Field name="overlap" label="Overlap" placeholder="60m" hint="From 0s to 7d" />,
    submit: "Rotate the key",
    style: "quiet",
    isPossible: ({ state }: ListedKey) => state === "active",
  },
  expire: {
    button: "Set its end…",
    title: (ref: string) => `When ${ref} ends`,
    text: undefined,
    field: <Field name="expires" label="Ends" required hint={timeForms} />,
    submit: "Set the end",
    style: "quiet",
    isPossible: (key: ListedKey) => !isOver(key),
  },
  revoke: {
    button: "Revoke…",
    title: (ref: string) => `Revoke ${ref}?`,
    text: "Its next request gets 401. This cannot be undone.",
    field: undefined,
    submit: "Revoke the key",
    style: "danger",
    isPossible: (key: ListedKey) => !isOver(key),
  },
} as const;

/** The dialog that is open: for an action on a key, or for a new key of this organization unless another one is chosen. */
const openedDialog = new Shared<
  | { readonly kind: "create"; readonly organization: string | undefined }
  | { readonly kind: keyof typeof keyActions; readonly ref: string }
  | undefined
>(undefined);

const closeDialog = () => {
  openedDialog.value = undefined;
};

/** Opens the dialog for a new key. */
export function createKeyIn(organization: string | undefined): void {
  openedDialog.value = { kind: "create", organization };
}

/** The buttons for what can be done with a key. */
export function KeyActions({ listed }: Readonly<{ listed: ListedKey }>) {
  const buttons = [];
  for (const [name, { button, style, isPossible }] of Object.entries(keyActions)) {
    if (!isPossible(listed)) continue;
    const kind = name as keyof typeof keyActions; // of the table
    const open = () => {
      openedDialog.value = { kind, ref: listed.ref };
    };
    buttons.push(
      <Button key={kind} class={`${style} small`} run={open}>
        {button}
      </Button>,
    );
  }
  return <>{buttons}</>;
}

/** The dialog of the view: a form, or the secret of the key that the form created. */
export function KeyDialog() {
  const opened = useShared(openedDialog);
  // Once the view is left, a secret is shown nowhere.
  useEffect(() => closeDialog, []);
  if (opened === undefined) return null;
  if (opened.kind === "create") return <CreateForm organization={opened.organization} />;

  const { kind, ref } = opened;
  const { title, text, field, submit, style } = keyActions[kind];
  // A field has the name of the body's member.
  const body = (entered: FormData) => {
    const names = [...entered.keys()];
    return Object.fromEntries(names.map((name) => [name, textIn(entered, name)]));
  };
  return (
    <KeyForm
      title={title(ref)}
      action={submit}
      style={style}
      path={`/keys/${encodeURIComponent(ref)}/${kind}`}
      body={body}
    >
      {text && <p>{text}</p>}
      {field}
    </KeyForm>
  );
}

/** A form; then, in its place, the secret of the key that it created. */
function KeyForm(props: {
  readonly title: string;
  /** The label of the button that sends the form. */
  readonly action: string;
  /** Default: the usual one. */
  readonly style?: "quiet" | "danger";
  /** Where it is sent. */
  readonly path: string;
  readonly body: (entered: FormData) => object;
  readonly children: ComponentChildren;
}) {
  const { title, action, style, path, body, children } = props;
  const [issued, setIssued] = useState<IssuedKey>();
  const send = async (entered: FormData) => {
    const response = await call<Partial<IssuedKey>>(path, { method: "POST", body: body(entered) });
    if (response.secret === undefined) closeDialog();
    else setIssued(response as IssuedKey);
  };
  if (issued !== undefined) {
    return (
      <Dialog title={`The secret of ${issued.key.ref}`} onClose={closeDialog}>
        <Secret issued={issued} />
        <footer>
          <Button worksOffline class="" run={closeDialog}>
            Done
          </Button>
        </footer>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} onClose={closeDialog}>
      <Form class="stack" send={send}>
        {children}
        <footer class="bar">
          <Submit class={style === "danger" ? "danger" : ""}>{action}</Submit>
          <Button worksOffline class="quiet cancel" run={closeDialog}>
            Cancel
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

/** A number; other text stays text, which the sandbox rejects. */
function numberIn(entered: FormData, name: string): number | string | undefined {
  const text = textIn(entered, name);
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

function CreateForm({ organization }: Readonly<{ organization: string | undefined }>) {
  const body = (entered: FormData) => ({
    name: textIn(entered, "name"),
    organization: textIn(entered, "organization") ?? organization,
    environment: textIn(entered, "environment"),
    scopes: entered.getAll("scopes"),
    limits: {
      per_minute: numberIn(entered, "limits.per_minute"),
      per_day: numberIn(entered, "limits.per_day"),
    },
    expires: textIn(entered, "expires"),
  });
  return (
    <KeyForm title="Create a key" action="Create the key" path="/keys" body={body}>
      <div class="form-fields">
        <Field name="name" label="Name" required placeholder="Core banking" />
        <OrganizationField chosen={organization} />
        <Field name="environment" label="Environment" options={["test", "live"]} />
        <Field name="expires" label="Ends" placeholder="never" hint={timeForms} />
        <Field name="limits.per_minute" label="Requests per minute" placeholder="60" />
        <Field name="limits.per_day" label="Requests per day" placeholder="1000" />
        <Scopes />
      </div>
    </KeyForm>
  );
}

/** A choice of the organizations by name; if the directory of their keys is too long, a field that suggests some. */
function OrganizationField({ chosen = "" }: { readonly chosen: string | undefined }) {
  const props = { name: "organization", label: "Organization" } as const;
  const { sections = [], left = 0 } = useData("/directory?limit=200").data ?? {};
  if (left > 0) return <RefField {...props} placeholder={chosen} />;

  const options = sections.map(({ organization: { ref, name } }) => [ref, `${name} (${ref})`] as const);
  // The first one is chosen.
  options.sort(([one], [other]) => Number(other === chosen) - Number(one === chosen));
  return <Field {...props} options={options} />;
}

/** A choice of the scopes of the API and of the scenario's endpoints. */
function Scopes() {
  const problem = useFieldProblem("scopes");
  const { scopes = [] } = useData("/assumptions").data ?? {};
  return (
    <fieldset class="field whole">
      <legend>Scopes</legend>
      <div class="bar">
        {scopes.map((scope, index) => (
          <label key={scope} class="choice">
            <input type="checkbox" name="scopes" value={scope} defaultChecked={index === 0} /> {scope}
          </label>
        ))}
      </div>
      {problem && (
        <p class="rejection small" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}
