import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import { SandboxError } from "../../domain/errors.js";
import { controlPath } from "../../node/addresses.js";
import { clientEnvironment } from "../../node/client-variables.js";
import { nodePlatform } from "../../node/platform.js";
import { bundledScenarios, isScenarioName } from "../../scenario/bundled.js";
import type { ControlSurroundings } from "../../server/http-server.js";
import type { Answer } from "../answers.js";
import { HttpRefusal, refusalOf } from "../refusals.js";
import { type Callers, createDailyCount } from "./callers.js";
import { creationPage, instancePage, type OfferedScenario, problemPage, sendPage } from "./pages.js";

/** Runs a call of the control plane for a page; returns its response. */
export type Perform = (
  call: `POST /${string}`,
  request: Request,
  response: Response,
  body: object,
) => Promise<Answer<"ClaimedInstance">>;

const readForm = express.urlencoded({ extended: false, limit: 1024 * 1024 });

/** Serves the pages for partners: the page of each one-time link, and with `--self-service` the page to create an instance. */
export function servePartnerPages(
  app: Express,
  server: ControlSurroundings,
  callers: Callers,
  perform: Perform,
  onDefect: (error: unknown) => void,
): void {
  const page =
    (run: (request: Request, response: Response) => Promise<string> | string): RequestHandler =>
    async (request, response) => {
      try {
        sendPage(response, 200, await run(request, response));
      } catch (error) {
        const { status, message } = refusalOf(error, onDefect);
        sendPage(response, status, problemPage(message));
      }
    };
  const opened = async (made: Answer<"ClaimedInstance">) => {
    const instance = await server.log.enter(made.id);
    if (instance === undefined || "ended" in instance)
      throw new SandboxError("not_found", "The sandbox was removed in between.");
    const addresses = { url: made.base_url, controlUrl: made.control_url };
    const variables = Object.entries(clientEnvironment(instance.runtime.world(), addresses));
    const { curlOptions } = server.log.runtime.counters;
    return instancePage({
      ...made,
      variables: Object.fromEntries(variables.slice(0, mostVariables)),
      curlOptions: curlOptions && `${curlOptions} `,
    });
  };

  // Calls with JSON go to the route instead.
  app.post(
    `${controlPath}/instances/:id/claim`,
    isForm,
    readForm,
    page(async (request, response) => {
      const code = String(request.query.code ?? "");
      return opened(await perform("POST /instances/{id}/claim", request, response, { code }));
    }),
  );

  const { selfService } = server;
  if (selfService === undefined) return;
  const { scenarios = [], daily = defaultDaily } = selfService;
  const count = createDailyCount(daily);
  const signedIn = (request: Request) => {
    const name = callers.nameOf(request);
    if (name !== undefined || !callers.needsName) return name;
    throw new HttpRefusal(
      "sign_in_required",
      "Sign in first: the server did not get your name from a trusted proxy.",
    );
  };
  app.get(
    "/",
    page((request) => creationPage(offered(scenarios, server), signedIn(request))),
  );
  app.post(
    "/",
    isForm,
    readForm,
    page(async (request, response) => {
      signedIn(request);
      const { scenario = "", label = "" } = request.body as Readonly<Record<string, string>>;
      const { name } = offered(scenarios, server).find((one) => one.name === scenario) ?? notOffered();
      const takeBack = count(callers.addressOf(request));
      // With the same seed, all partners would have the same keys.
      const seed = nodePlatform.random() * 2 ** 20 + (nodePlatform.random() >>> 12);
      const body = { seed, ...(name !== "" && { scenario: name }), ...(label !== "" && { label }) };
      const made = await perform("POST /instances", request, response, body).catch((error) => {
        takeBack();
        throw error;
      });
      return opened(made);
    }),
  );
}

/** The default number of instances that an address may create in a day. */
const defaultDaily = 5;
/** The maximum number of variables on the page; the dashboard lists all keys. */
const mostVariables = 50;

const isForm: RequestHandler = (request, _response, next) =>
  next(request.is("application/x-www-form-urlencoded") ? undefined : "route");

function offered(names: readonly string[], { log }: ControlSurroundings): OfferedScenario[] {
  if (names.length === 0) return [{ name: "", title: log.runtime.world().name }];
  return names.filter(isScenarioName).map((name) => ({ name, title: bundledScenarios[name].name ?? name }));
}

function notOffered(): never {
  throw new SandboxError("validation_failed", "This scenario is not offered here: choose one in the list.");
}
