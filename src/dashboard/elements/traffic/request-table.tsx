import { report } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { linkTo, route } from "../../route.js";
import { instantParts } from "../instant.js";
import { Table } from "../table.js";
import { adviceTones, Target } from "./advice.js";
import { PathBadge, toneOf } from "./path-badge.js";

type Request = Shown<"Request">;

interface RequestTableProps {
  readonly label: string;
  /** Newest first. */
  readonly requests: readonly Request[];
  /** The id of the request that is shown beside the table. */
  readonly opened?: string | undefined;
}

const columns = ["Time", "Status", "Request", "Path", "Key and marks"];
const widths = ["11rem", "4rem", "auto", "11.75rem"];

/** Requests, each as one line that opens it. The query of the address stays. */
export function RequestTable({ label, requests, opened }: RequestTableProps) {
  return (
    <div class="request-table">
      <Table
        label={label}
        columns={columns}
        widths={[...widths, opened === undefined ? "18%" : "auto"]}
        minor={opened === undefined ? [] : ["Status", "Request"]}
        rows={requests.map((request, index) => ({
          key: request.id,
          cells: cellsOf(request, requests[index - 1], request.id === opened),
        }))}
      />
    </div>
  );
}

const dayOf = ({ at }: Request) => instantParts(at)[0];

function cellsOf(request: Request, above: Request | undefined, isOpen: boolean) {
  const { id, at, method, path, status, path_id: pathId, fault, advice } = request;
  const isNewDay = above === undefined || dayOf(above) !== dayOf(request);
  return [
    // It covers the row, so its title is that of the marks.
    <a
      key="time"
      href={linkTo("requests", [id], Object.fromEntries(route.value.query))}
      aria-current={isOpen ? "true" : undefined}
      title={[at, fault ?? [], advice].flat(2).join(", ")}
    >
      <time dateTime={at}>
        {isNewDay ? `${dayOf(request)}, ` : ""}
        {instantParts(at)[1]}
      </time>
      <span class="visually-hidden">
        {method} {path.slice(0, 100)}
      </span>
    </a>,
    <strong key="status" class={`toned tone-${toneOf(pathId)}`}>
      {status === 0 ? "–" : status}
    </strong>,
    <Target key="target" request={request} />,
    <PathBadge key="path" pathId={pathId} />,
    <KeyAndMarks key="key" request={request} />,
  ];
}

function KeyAndMarks({
  request: { key, fingerprint, source, fault, advice },
}: {
  readonly request: Request;
}) {
  return (
    <>
      <bdi>{key ?? fingerprint ?? "none"}</bdi>{" "}
      {source === "story" ? <span class="badge">story or page</span> : null}{" "}
      {fault === null ? null : (
        <span class="badge">
          fault<span class="visually-hidden"> set in this sandbox: {fault}</span>
        </span>
      )}{" "}
      {advice.length === 0 ? null : (
        <span class={`badge toned tone-${adviceTones[levelOf(advice)]}`}>
          {levelOf(advice)}
          <span class="visually-hidden">: {advice.join(", ")}</span>
        </span>
      )}
    </>
  );
}

/** The most severe level of advice. */
function levelOf(ids: Request["advice"]) {
  const found = (report.data.value?.advice ?? []).filter(({ id }) => ids.includes(id));
  const levels = Object.keys(adviceTones) as (keyof typeof adviceTones)[];
  return levels.find((level) => found.some((one) => one.level === level)) ?? "note";
}
