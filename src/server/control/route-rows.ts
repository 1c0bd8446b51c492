import type { ControlBody, ControlBodyName } from "../../scenario/format/inputs.js";
import type { WrittenScenario } from "../../scenario/written-scenario.js";
import type { ValueOf } from "../../schema/shape.js";
import { membersToSnakeCase } from "../../schema/spelling.js";
import type { HttpCall, Method, QueryShape, Route, RouteContext } from "./route.js";
import type { RouteResult } from "./route-result.js";

// A route is written as a call, such as `PATCH /organizations/{ref}`, and a row with the shapes of its body and its query. The types
// of what its `run` gets follow from the two:
//
//     body: "key_creation"        body: the type of that shape
//     query: s.mapping({ … })     query: the type of that shape
//     /organizations/{ref}        params: { ref: string }
//
// `dataRoute` is for the usual response, which is `{ "data": … }`, and `controlRoute` for any other.

/** The named parts of a path, each a text: `{ ref: string }` for `/keys/{ref}`. */
type ParamsOf<Address extends string> = Address extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : unknown;

/** A route as it is written. `Result`: what its functions return. */
interface RouteRow<
  Result,
  BodyName extends ControlBodyName,
  Queried extends QueryShape,
  Address extends string,
> {
  readonly summary: string;
  readonly body?: BodyName;
  readonly query?: Queried;
  /** Default: a GET does not, any other does. */
  readonly changes?: false;
  readonly run: (
    context: RouteContext<ControlBody<BodyName>, ValueOf<Queried>, ParamsOf<Address>>,
    call: HttpCall,
  ) => Result;
  /** Runs the route with a YAML body; left out if it accepts only JSON. */
  readonly runYaml?: ((context: RouteContext<WrittenScenario>, call: HttpCall) => Result) | undefined;
}

/** Makes a route whose row returns its result. */
export function controlRoute<
  const Address extends `/${string}`,
  BodyName extends ControlBodyName = "nothing",
  Queried extends QueryShape = QueryShape,
>(
  call: `${Method} ${Address}`,
  row: RouteRow<RouteResult | Promise<RouteResult>, BodyName, Queried, Address>,
): Route {
  const [method, path] = call.split(" ") as [Method, Address]; // a call is written so
  const run = row.run as Route["run"]; // it gets only what was checked by the shapes of its row
  const changes = row.changes ?? method !== "GET";
  const { summary, body, query, runYaml } = row;
  return { method, path, summary, body, query, changes, run, runYaml };
}

/** Makes a route whose row returns the data of its response. `status`: that of a response with something new. */
export function dataRoute<
  const Address extends `/${string}`,
  BodyName extends ControlBodyName = "nothing",
  Queried extends QueryShape = QueryShape,
>(
  call: `${Method} ${Address}`,
  row: RouteRow<unknown, BodyName, Queried, Address> & { readonly status?: 201 },
): Route {
  const { status = 200, run, runYaml } = row;
  return controlRoute<Address, BodyName, Queried>(call, {
    ...row,
    run: (context, httpCall) => dataResult(run(context, httpCall), status),
    runYaml: runYaml && ((context, httpCall) => dataResult(runYaml(context, httpCall), status)),
  });
}

/** The response with data, whose members get their JSON names. */
function dataResult(data: unknown, status: 200 | 201): RouteResult {
  return { kind: "json", status, json: { data: membersToSnakeCase(data) } };
}
