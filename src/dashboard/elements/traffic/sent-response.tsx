import type { Sent } from "../../control/answers.js";
import { linkTo } from "../../route.js";
import { BodyText } from "./body-text.js";
import { OwnFault, PathBadge } from "./path-badge.js";

export function SentResponse({ sent: { request, answer } }: { readonly sent: Sent }) {
  return (
    <>
      <p>
        {answer === null ? "No response" : `Response: ${answer.status}`}
        {request.code === null ? null : (
          <>
            {" "}
            <code>{request.code}</code>
          </>
        )}
        , which is <PathBadge pathId={request.path_id} />
        <OwnFault fault={request.fault} />. <a href={linkTo("requests", [request.id])}>Open the request</a>
      </p>
      {answer === null || answer.body === "" ? null : <BodyText text={answer.body} />}
    </>
  );
}
