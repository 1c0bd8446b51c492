import { defaultFarmerPage } from "../../sandbox/preview/farmers.js";
import { inData } from "./answer-schemas.js";
import { type ControlCall, controlCall } from "./call.js";
import { pageQuery } from "./page-query.js";

const mostOnAPage = 1000;

/** The synthetic farmers of the world. */
export const farmerCalls: readonly ControlCall[] = [
  controlCall({
    method: "GET",
    path: "/farmers",
    summary: "The synthetic farmers, page by page; `total` is how many there are",
    query: {
      offset: "The index of the first one. Default: 0.",
      limit: `At most this many, up to ${mostOnAPage}. Default: ${defaultFarmerPage}.`,
    },
    status: 200,
    answer: inData.page("Farmer"),
    run({ runtime, query }) {
      const { farmers } = runtime.world();
      const page = pageQuery(query, { limit: defaultFarmerPage, mostOnAPage });
      return { data: farmers.list(page), total: farmers.count };
    },
  }),
  controlCall({
    method: "GET",
    path: "/farmers/{farmer_id}",
    summary: "One synthetic farmer",
    status: 200,
    answer: inData.one("Farmer"),
    run: ({ runtime, params }) => ({ data: runtime.world().farmers.get(params.farmer_id as string) }),
  }),
];
