import { useResource } from "../../control/resource.js";
import type { Shown } from "../../control/responses.js";
import { Target } from "../../elements/traffic/advice.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { linkTo } from "../../route.js";
import { causeText, FixAndSend } from "../requests/fix.js";

const maxRead = 50;
const maxShown = 3;

/** The last rejections of clients, newest first, each cause once. */
export function useRejections(): readonly Shown<"Request">[] {
  const path = `/requests?source=client&limit=${maxRead}`;
  const read = useResource<readonly Shown<"Request">[]>(path).data.value ?? [];
  const rejected = read.toReversed().filter(({ path_id: id }) => /^(?:401|403|429)\./.test(id));
  const isFirst = ({ path_id, key }: Shown<"Request">, index: number) =>
    rejected.findIndex((other) => other.path_id === path_id && other.key === key) === index;
  return rejected.filter(isFirst).slice(0, maxShown);
}

/** Why clients were rejected, with the buttons that fix it. */
export function Rejections({ of }: { readonly of: readonly Shown<"Request">[] }) {
  return (
    <ul class="list rejections" aria-label="Last rejections">
      {of.map(({ id }, index) => (
        <Rejection key={id} id={id} isFirst={index === 0} />
      ))}
    </ul>
  );
}

function Rejection({ id, isFirst }: { readonly id: string; readonly isFirst: boolean }) {
  const request = useResource<Shown<"RequestDetails">>(`/requests/${encodeURIComponent(id)}`).data.value;
  if (request === undefined) return null;
  const { key, path_id: pathId, why } = request;
  return (
    <li class="stack">
      <p>
        <PathBadge pathId={pathId} />{" "}
        <a href={linkTo("requests", [id])}>
          <Target request={request} />
        </a>{" "}
        with {key === null ? "no known key" : <bdi>{key}</bdi>}: {why ?? causeText(request)}.
      </p>
      <FixAndSend
        request={request}
        onSent={(sent) => {
          location.hash = linkTo("requests", [sent]);
        }}
        isQuiet={!isFirst}
      />
    </li>
  );
}
