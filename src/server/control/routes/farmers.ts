import * as s from "../../../rules/schema/shape.js";
import { defaultFarmerPage } from "../../../sandbox/population/farmers.js";
import { controlRoute, pageFields, type Route } from "../route.js";

const farmerQuery = s.mapping(pageFields(defaultFarmerPage, s.count({ max: 1000 })));

export const farmerRoutes: readonly Route[] = [
  controlRoute("GET /farmers", {
    summary: "The synthetic farmers",
    query: farmerQuery,
    isBare: true,
    run: ({ sandbox: { farmers }, query: { offset = 0, limit = defaultFarmerPage } }) => ({
      data: farmers.list({ offset, limit }),
      total: farmers.count,
    }),
  }),
  controlRoute("GET /farmers/{farmer_id}", {
    summary: "One synthetic farmer",
    run: ({ sandbox, params }) => sandbox.farmers.get(params.farmer_id as string),
  }),
];
