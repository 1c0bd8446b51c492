import type { Shown } from "../../control/responses.js";
import { linkTo } from "../../route.js";
import { BodyText } from "./body-text.js";
import { OwnFault, PathBadge } from "./path-badge.js";

export function SentResponse({ sent: { request, response } }: { readonly sent: Shown<"Sent"> }) {
  return (
    <>
      <p>
        {response === null ? "No response" : `Response: ${response.status}`}
        {request.code === null ? null : (
          <>
            {" "}
            <code>{request.code}</code>
          </>
        )}
        , which is <PathBadge pathId={request.path_id} />
        <OwnFault fault={request.fault} />. <a href={linkTo("requests", [request.id])}>Open the request</a>
      </p>
      {response === null || response.body === "" ? null : <BodyText text={response.body} />}
    </>
  );
}
