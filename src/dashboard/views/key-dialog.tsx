import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { IssuedKey, KeyAction } from "../control/responses.js";
import { Shared, useShared } from "../control/shared.js";
import { Button, QuestionDialog } from "../elements/action.js";
import { Dialog } from "../elements/dialog.js";
import { Field, Form, RefField, Submit, textIn, timeForms, useFieldProblem } from "../elements/form.js";
import { Secret } from "./secret.js";

/** What a dialog is for. */
type DialogPurpose =
  /** The new key is of this organization unless another one is chosen. */
  | { readonly kind: "create"; readonly organization: string | undefined }
  | { readonly kind: KeyAction; readonly ref: string };

const openedDialog = new Shared<DialogPurpose | undefined>(undefined);

export const openDialog = (purpose: DialogPurpose) => {
  openedDialog.value = purpose;
};

const closeDialog = () => {
  openedDialog.value = undefined;
};

/** The dialog of the view: a question, a form, or the secret of the key that the form created. */
export function KeyDialog() {
  const purpose = useShared(openedDialog);
  // Once the view is left, a secret is shown nowhere.
  useEffect(() => closeDialog, []);
  if (purpose === undefined) return null;
  if (purpose.kind === "create") return <CreateForm organization={purpose.organization} />;

  const { kind, ref } = purpose;
  const path = `/keys/${encodeURIComponent(ref)}/${kind}`;
  if (kind === "rotate") {
    return (
      <KeyForm
        title={`Rotate ${ref}`}
        action="Rotate the key"
        path={path}
        body={(entered) => ({ overlap: textIn(entered, "overlap") })}
      >
        <p>The new key has its scopes and limits. The old one works until the overlap ends.</p>
        <Field name="overlap" label="Overlap" placeholder="60m" hint="From 0s to 7d" />
      </KeyForm>
    );
  }
  if (kind === "expire") {
    return (
      <KeyForm
        title={`When ${ref} ends`}
        action="Set the end"
        path={path}
        body={(entered) => ({ expires: textIn(entered, "expires") })}
      >
        <Field name="expires" label="Ends" required hint={timeForms} />
      </KeyForm>
    );
  }
  if (kind === "revoke") {
    return (
      <QuestionDialog
        title={`Revoke ${ref}?`}
        text={`Its next request gets 401. This cannot be undone.`}
        action="Revoke the key"
        run={() => call(path, { method: "POST" })}
        onClose={closeDialog}
      />
    );
  }
  return kind satisfies never;
}

/** A form; then, in its place, the secret of the key that it created. */
function KeyForm(props: {
  readonly title: string;
  /** The label of the button that sends the form. */
  readonly action: string;
  /** Where it is sent. */
  readonly path: string;
  readonly body: (entered: FormData) => object;
  readonly children: ComponentChildren;
}) {
  const { title, action, path, body, children } = props;
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
          <Submit>{action}</Submit>
          <Button worksOffline run={closeDialog}>
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

/** A choice of the organizations by name; if they are too many for a list, a field that suggests some. */
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
