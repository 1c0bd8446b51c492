// Made by `npm run generate` from scenarios/*.yaml. Do not edit.
import type { Scenario } from "./scenario.generated.js";

/** The refs of the keys of each bundled scenario. */
export interface BundledKeyRefs {
  "active": "active" | "live" | "in-use";
  "announced-endpoints": "lending" | "lending-live" | "statistics" | "underwriting" | `organization-${number}-key-${number}`;
  "bad-day": "flaky" | "untouched" | "delayed" | "unavailable" | "bad-gateway" | "connection-reset" | "cut-short" | "broken-json" | "slow" | "hanging";
  "expired": "expired" | "expiring" | "lasting";
  "key-states": "active" | "live" | "legacy" | "legacy-live" | "revoked" | "expired" | "rotated" | "retiring" | "replacement" | "wrong-scope" | "rate-limited" | "rate-limited-minute" | "live-not-approved" | "live-suspended" | "organization-inactive";
  "legacy-keys": "legacy" | "legacy-live" | "legacy-retiring" | "current" | "legacy-rotated" | "current-live";
  "live-not-approved": "live-not-approved" | "test" | "live-approved";
  "live-suspended": "live-suspended" | "second-live" | "test";
  "onboarding": never;
  "organization-inactive": "organization-inactive" | "inactive-live" | "inactive-revoked" | "other-organization";
  "population": "core-banking" | "core-banking-live" | "nightly-batch" | "lost-laptop" | `organization-${number}-key-${number}`;
  "rate-limited": "rate-limited" | "rate-limited-minute" | "three-a-minute" | "untouched";
  "revoked": "revoked" | "fresh" | "other-system";
  "rotation": "rotated" | "retiring" | "replacement";
  "wrong-scope": "wrong-scope" | "right-scope" | "both-scopes";
}

/** The refs of the organizations of each bundled scenario. */
export interface BundledOrganizationRefs {
  "active": "harvest-bank";
  "announced-endpoints": "harvest-bank" | "field-insurance" | `organization-${number}`;
  "bad-day": "windmere-bank" | "hailstone-mutual";
  "expired": "amberfield-mutual";
  "key-states": "harvest-bank" | "amberfield-mutual" | "longfurrow-bank" | "rainshadow-crop" | "stonebarrow-bank" | "quillmeadow-insurance";
  "legacy-keys": "stonebarrow-bank";
  "live-not-approved": "rainshadow-crop" | "harvest-bank";
  "live-suspended": "stonebarrow-bank";
  "onboarding": "foxglove-bank";
  "organization-inactive": "quillmeadow-insurance" | "harvest-bank";
  "population": "rivermeadow-bank" | `organization-${number}`;
  "rate-limited": "longfurrow-bank";
  "revoked": "harvest-bank";
  "rotation": "amberfield-mutual";
  "wrong-scope": "amberfield-mutual";
}

/** The name of a bundled scenario. */
export type ScenarioName = "active" | "announced-endpoints" | "bad-day" | "expired" | "key-states" | "legacy-keys" | "live-not-approved" | "live-suspended" | "onboarding" | "organization-inactive" | "population" | "rate-limited" | "revoked" | "rotation" | "wrong-scope";

export const bundledScenarios: Readonly<Record<ScenarioName, Scenario>> = {
  "active": {
    "version": 1,
    "name": "Active key",
    "description": "A bank's system shows its key and is let in. The answer says whose key it is, what it may do, how many requests it may make, and how many it has made today.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "active",
    "organizations": {
      "harvest-bank": {
        "name": "Harvest Cooperative Bank",
        "type": "bank",
        "live_access": "approved",
        "keys": {
          "active": {
            "environment": "test",
            "name": "Core banking"
          },
          "live": {
            "environment": "live",
            "name": "Loan origination"
          },
          "in-use": {
            "environment": "test",
            "name": "Portfolio review",
            "scopes": [
              "attestations:read",
              "consents:read"
            ],
            "limits": {
              "per_minute": 120,
              "per_day": 5000
            },
            "usage": {
              "today": 412
            }
          }
        }
      }
    },
    "story": [
      {
        "say": "A bank asks a service questions. To be let in, the bank's computer sends a key with each of them: a long text that is kept secret. The first question of all is whether the key works."
      },
      {
        "request": {
          "key": "active"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "headers": {
            "X-Request-Id": true
          },
          "body": {
            "data": {
              "organization": {
                "type": "bank"
              },
              "environment": "test",
              "limits": {
                "per_minute": 60,
                "per_day": 1000
              },
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "say": "The status 200 means: all is well. The answer says whose key this is, what it may be used for, and how many requests it may make in a minute and in a day. This was the first request of the day, and it counted itself."
      },
      {
        "request": {
          "key": "active"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "usage": {
                "today": 2
              }
            }
          }
        }
      },
      {
        "say": "Asked again, the count has gone up to two. The bank has another key, for the live service. That is where real farmers are; the key that we have used so far reaches invented farmers only."
      },
      {
        "request": {
          "key": "live"
        },
        "expect": {
          "status": 200,
          "path": "200.live",
          "body": {
            "data": {
              "environment": "live",
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "say": "Each key counts for itself. Here is a third one that was busy all morning, and that may do more."
      },
      {
        "request": {
          "key": "in-use"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "limits": {
                "per_minute": 120,
                "per_day": 5000
              },
              "usage": {
                "today": 413
              }
            }
          }
        }
      },
      {
        "say": "At some time of the day the counts start again from zero. When that is has not been published. This sandbox assumes midnight, by universal time. So we let fifteen hours pass."
      },
      {
        "advance": "15h"
      },
      {
        "request": {
          "key": "active"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "say": "A new day, and the first request of it. That is all there is to a key that works."
      }
    ]
  },
  "announced-endpoints": {
    "version": 1,
    "name": "Announced endpoints",
    "description": "A bank asks farmers whether it may see something of theirs. One agrees, one refuses, one never answers, one agrees and takes it back later. These endpoints are announced and not released; what they look like here is a guess.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "lending",
    "organizations": {
      "harvest-bank": {
        "name": "Harvest Cooperative Bank",
        "type": "bank",
        "live_access": "approved",
        "keys": {
          "lending": {
            "environment": "test",
            "name": "Lending",
            "scopes": [
              "attestations:read",
              "consents:read",
              "consents:write"
            ],
            "limits": {
              "per_minute": 120,
              "per_day": 5000
            }
          },
          "lending-live": {
            "environment": "live",
            "name": "Lending, live",
            "scopes": [
              "attestations:read",
              "consents:read",
              "consents:write"
            ]
          },
          "statistics": {
            "environment": "test",
            "name": "Statistics",
            "scopes": [
              "attestations:read"
            ]
          }
        }
      },
      "field-insurance": {
        "name": "Field and Harvest Insurance",
        "type": "insurer",
        "keys": {
          "underwriting": {
            "environment": "test",
            "name": "Underwriting",
            "scopes": [
              "attestations:read",
              "consents:read",
              "consents:write"
            ]
          }
        }
      }
    },
    "population": {
      "farmers": 100
    },
    "preview": true,
    "consents": [
      {
        "organization": "harvest-bank",
        "farmer": 0,
        "purpose": {
          "code": "monitoring",
          "text": "To follow the season of a loan that was paid out."
        },
        "permissions": [
          "livestock"
        ],
        "created_at": "-1d",
        "idempotency": {
          "key": "season-2026"
        }
      },
      {
        "organization": "harvest-bank",
        "farmer": 1,
        "purpose": {
          "code": "credit_assessment",
          "text": "To assess an application for a seasonal loan."
        },
        "permissions": [
          "identity"
        ],
        "created_at": "-1d"
      }
    ],
    "story": [
      {
        "say": "Two parts of this service are announced and not there yet. In one of them a bank asks a farmer for permission. In the other it reads what the farmer has agreed to share. What they will look like, nobody outside knows. So what follows is a guess, and every answer says so. The farmers are invented, too. Our bank asks the first one."
      },
      {
        "request": {
          "method": "POST",
          "path": "/v1/relying-party/consent-requests",
          "headers": {
            "Idempotency-Key": "loan-4711"
          },
          "body": {
            "farmer_id": "{farmer.0}",
            "purpose": {
              "code": "credit_assessment",
              "text": "To assess your application for a seasonal loan."
            },
            "permissions": [
              "land"
            ]
          }
        },
        "expect": {
          "status": 201,
          "path": "200.test",
          "headers": {
            "X-Sandbox-Preview": "true"
          },
          "body": {
            "data": {
              "status": "pending"
            }
          }
        }
      },
      {
        "say": "The request is there, and it is pending: the farmer has to answer. Did our message get through, or not? When in doubt the bank sends it again, with the same mark, and no second request comes of it."
      },
      {
        "request": {
          "method": "POST",
          "path": "/v1/relying-party/consent-requests",
          "headers": {
            "Idempotency-Key": "loan-4711"
          },
          "body": {
            "farmer_id": "{farmer.0}",
            "purpose": {
              "code": "credit_assessment",
              "text": "To assess your application for a seasonal loan."
            },
            "permissions": [
              "land"
            ]
          }
        },
        "expect": {
          "status": 201,
          "path": "200.test",
          "headers": {
            "Idempotent-Replayed": "true"
          }
        }
      },
      {
        "say": "An hour later the farmer agrees. Now the document is made that says what the farm's land is. Such a document is called an attestation. At first it is in the making, and shows nothing."
      },
      {
        "advance": "1h"
      },
      {
        "consent": {
          "farmer": 0,
          "do": "grant",
          "organization": "harvest-bank"
        }
      },
      {
        "request": {
          "path": "/v1/relying-party/attestations/{attestation.2}"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "type": "land",
              "production": "processing",
              "validity": null,
              "subject": null
            }
          }
        }
      },
      {
        "say": "A minute later it is ready, and the request says that it was granted."
      },
      {
        "advance": "1m"
      },
      {
        "request": {
          "path": "/v1/relying-party/consent-requests/{consent.3}"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "status": "granted"
            }
          }
        }
      },
      {
        "request": {
          "path": "/v1/relying-party/attestations/{attestation.2}"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "production": "ready",
              "validity": "active",
              "synthetic": true,
              "subject": {
                "synthetic": true
              }
            }
          }
        }
      },
      {
        "say": "It shows the fields, and nothing that the farmer was not asked for: no name, no harvest, no debts. Who else can see it? An insurer with a key of its own cannot, and is told that there is nothing. Nor can the bank's live key."
      },
      {
        "request": {
          "key": "underwriting",
          "path": "/v1/relying-party/attestations/{attestation.2}"
        },
        "expect": {
          "status": 404,
          "code": "not_found",
          "path": "404.unknown_record"
        }
      },
      {
        "request": {
          "key": "lending-live",
          "path": "/v1/relying-party/attestations"
        },
        "expect": {
          "status": 200,
          "path": "200.live",
          "body": {
            "data": [],
            "page": {
              "total": 0
            }
          }
        }
      },
      {
        "request": {
          "key": "statistics",
          "path": "/v1/relying-party/consent-requests/{consent.3}"
        },
        "expect": {
          "status": 403,
          "code": "insufficient_scope",
          "path": "403.insufficient_scope"
        }
      },
      {
        "say": "The last one of these keys belongs to the bank as well, but it was never meant to read requests. Now the bank asks three more farmers, one after the other."
      },
      {
        "request": {
          "method": "POST",
          "path": "/v1/relying-party/consent-requests",
          "body": {
            "farmer_id": "{farmer.1}",
            "purpose": {
              "code": "monitoring",
              "text": "To follow the season."
            },
            "permissions": [
              "production"
            ]
          }
        },
        "expect": {
          "status": 201,
          "path": "200.test",
          "body": {
            "data": {
              "status": "pending"
            }
          }
        }
      },
      {
        "request": {
          "method": "POST",
          "path": "/v1/relying-party/consent-requests",
          "body": {
            "farmer_id": "{farmer.2}",
            "purpose": {
              "code": "monitoring",
              "text": "To follow the season."
            },
            "permissions": [
              "production"
            ]
          }
        },
        "expect": {
          "status": 201,
          "path": "200.test",
          "body": {
            "data": {
              "status": "pending"
            }
          }
        }
      },
      {
        "request": {
          "method": "POST",
          "path": "/v1/relying-party/consent-requests",
          "body": {
            "farmer_id": "{farmer.3}",
            "purpose": {
              "code": "monitoring",
              "text": "To follow the season."
            },
            "permissions": [
              "production"
            ]
          }
        },
        "expect": {
          "status": 201,
          "path": "200.test",
          "body": {
            "data": {
              "status": "pending"
            }
          }
        }
      },
      {
        "say": "Again two hours pass. The first of the three says no. That is final, and the bank cannot take back what has ended."
      },
      {
        "advance": "2h"
      },
      {
        "request": {
          "path": "/v1/relying-party/consent-requests/{consent.4}"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "status": "rejected"
            }
          }
        }
      },
      {
        "request": {
          "method": "POST",
          "path": "/v1/relying-party/consent-requests/{consent.4}/cancel"
        },
        "expect": {
          "status": 409,
          "code": "conflict",
          "path": "409.conflict"
        }
      },
      {
        "say": "The second farmer says nothing at all. A week after it was made, a request without an answer expires."
      },
      {
        "request": {
          "path": "/v1/relying-party/consent-requests/{consent.5}"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "status": "pending"
            }
          }
        }
      },
      {
        "advance": "7d"
      },
      {
        "request": {
          "path": "/v1/relying-party/consent-requests/{consent.5}"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "status": "expired"
            }
          }
        }
      },
      {
        "say": "The third farmer agreed, and the bank has read about the harvest for a while. A month later this farmer thinks better of it. From that moment on the document shows nothing any more."
      },
      {
        "request": {
          "path": "/v1/relying-party/attestations/{attestation.3}"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "type": "production",
              "validity": "active"
            }
          }
        }
      },
      {
        "advance": "30d"
      },
      {
        "request": {
          "path": "/v1/relying-party/attestations/{attestation.3}"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "validity": "revoked",
              "subject": null
            }
          }
        }
      },
      {
        "say": "A presenter need not wait for anyone. The bank asks the silent farmer once more, and this time we let the farmer agree at once."
      },
      {
        "request": {
          "method": "POST",
          "path": "/v1/relying-party/consent-requests",
          "body": {
            "farmer_id": "{farmer.2}",
            "purpose": {
              "code": "monitoring",
              "text": "To follow the season."
            },
            "permissions": [
              "production"
            ]
          }
        },
        "expect": {
          "status": 201,
          "path": "200.test",
          "body": {
            "data": {
              "status": "pending"
            }
          }
        }
      },
      {
        "consent": {
          "farmer": 2,
          "do": "grant",
          "organization": "harvest-bank"
        }
      },
      {
        "request": {
          "path": "/v1/relying-party/consent-requests/{consent.7}"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "status": "granted"
            }
          }
        }
      },
      {
        "say": "A bank that needs the data no longer says so itself. Our bank takes back the very first request of this story, and what stood on it is over."
      },
      {
        "request": {
          "method": "POST",
          "path": "/v1/relying-party/consent-requests/{consent.3}/cancel"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "status": "cancelled"
            }
          }
        }
      },
      {
        "request": {
          "path": "/v1/relying-party/attestations/{attestation.2}"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "validity": "revoked",
              "subject": null
            }
          }
        }
      },
      {
        "say": "Agreed, refused, unanswered, taken back by one side or the other: software that knows all of these is ready, whatever the real service will look like."
      }
    ]
  },
  "bad-day": {
    "version": 1,
    "name": "Bad day",
    "description": "Every key here is valid, and for most of them something goes wrong on the way: the answer is late, or broken, or never comes. One key stands for each kind of trouble, one meets a bit of everything, and one works as always. A good client waits a sensible time, tries again after a while, and never takes half an answer for a whole one.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "flaky",
    "faults": [
      {
        "when": {
          "key": "delayed"
        },
        "then": {
          "latency": "2s"
        }
      },
      {
        "when": {
          "key": "unavailable"
        },
        "then": {
          "status": 503
        }
      },
      {
        "when": {
          "key": "bad-gateway"
        },
        "then": {
          "status": 502,
          "body": "html"
        }
      },
      {
        "when": {
          "key": "connection-reset"
        },
        "then": {
          "reset": true
        }
      },
      {
        "when": {
          "key": "cut-short"
        },
        "then": {
          "truncate": true
        }
      },
      {
        "when": {
          "key": "broken-json"
        },
        "then": {
          "malformed": true
        }
      },
      {
        "when": {
          "key": "slow"
        },
        "then": {
          "slow": 25
        }
      },
      {
        "when": {
          "key": "hanging"
        },
        "then": {
          "hang": true
        }
      },
      {
        "when": {
          "key": "flaky",
          "probability": 0.2
        },
        "then": {
          "status": 503
        }
      },
      {
        "when": {
          "key": "flaky",
          "probability": 0.15
        },
        "then": {
          "reset": true
        }
      },
      {
        "when": {
          "key": "flaky",
          "probability": 0.15
        },
        "then": {
          "latency": {
            "min": "200ms",
            "max": "2s"
          },
          "status": 504
        }
      },
      {
        "when": {
          "key": "flaky",
          "probability": 0.1
        },
        "then": {
          "truncate": true
        }
      },
      {
        "when": {
          "key": "flaky",
          "probability": 0.3
        },
        "then": {
          "latency": {
            "min": "100ms",
            "max": "1s"
          }
        }
      }
    ],
    "organizations": {
      "windmere-bank": {
        "name": "Windmere Rural Bank",
        "type": "bank",
        "keys": {
          "flaky": {
            "environment": "test",
            "name": "Mobile app"
          },
          "untouched": {
            "environment": "test",
            "name": "Core banking"
          },
          "delayed": {
            "environment": "test",
            "name": "Branch terminals"
          },
          "unavailable": {
            "environment": "test",
            "name": "Loan origination"
          },
          "bad-gateway": {
            "environment": "test",
            "name": "Partner portal"
          }
        }
      },
      "hailstone-mutual": {
        "name": "Hailstone Mutual Insurance",
        "type": "insurer",
        "keys": {
          "connection-reset": {
            "environment": "test",
            "name": "Policy administration"
          },
          "cut-short": {
            "environment": "test",
            "name": "Claims intake"
          },
          "broken-json": {
            "environment": "test",
            "name": "Underwriting"
          },
          "slow": {
            "environment": "test",
            "name": "Field agents"
          },
          "hanging": {
            "environment": "test",
            "name": "Nightly batch"
          }
        }
      }
    },
    "story": [
      {
        "say": "All keys of this story are good. What goes wrong, goes wrong on the way between a bank and the service. First an answer that takes two seconds."
      },
      {
        "request": {
          "key": "delayed"
        },
        "expect": {
          "status": 200,
          "path": "fault.latency"
        }
      },
      {
        "say": "It is late, but whole. A good program has some patience. Next, a service that says it cannot answer just now, and a machine on the way that answers with a web page of its own."
      },
      {
        "request": {
          "key": "unavailable"
        },
        "expect": {
          "status": 503,
          "path": "fault.status"
        }
      },
      {
        "request": {
          "key": "bad-gateway"
        },
        "expect": {
          "status": 502,
          "path": "fault.status"
        }
      },
      {
        "say": "A status from 500 on means: it is not your fault. A good program waits a while and asks again, waits longer each time, and gives up after a few times. Now two answers that look good: their status is 200, all is well."
      },
      {
        "request": {
          "key": "cut-short"
        },
        "expect": {
          "status": 200,
          "path": "fault.truncate"
        }
      },
      {
        "request": {
          "key": "broken-json"
        },
        "expect": {
          "status": 200,
          "path": "fault.malformed"
        }
      },
      {
        "say": "The first one stopped in the middle, and the second one is garbled. A good program takes neither for an answer. And sometimes there is none: the connection breaks, or nothing comes at all."
      },
      {
        "request": {
          "key": "connection-reset"
        },
        "expect": {
          "path": "fault.reset"
        }
      },
      {
        "request": {
          "key": "hanging"
        },
        "expect": {
          "path": "fault.hang"
        }
      },
      {
        "say": "A program without a time limit waits for ever. A good one sets a limit, and asks again: this question does no harm when it is asked twice. In the evening the trouble is over."
      },
      {
        "advance": "9h"
      },
      {
        "faults": []
      },
      {
        "request": {
          "key": "unavailable"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "say": "The same key, the same question, and now an answer. This sandbox did not count the attempt that failed; what the real service counts on such a day has not been published."
      }
    ]
  },
  "expired": {
    "version": 1,
    "name": "Expired key",
    "description": "An insurer's key ended yesterday, and another ends five minutes from now, so that you can watch a key expire. A third has no end date and goes on working.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "expired",
    "organizations": {
      "amberfield-mutual": {
        "name": "Amberfield Mutual Insurance",
        "type": "insurer",
        "keys": {
          "expired": {
            "environment": "test",
            "name": "Winter pilot",
            "expires": "-1d"
          },
          "expiring": {
            "environment": "test",
            "name": "Contractor access",
            "expires": "5m"
          },
          "lasting": {
            "environment": "test",
            "name": "Claims intake"
          }
        }
      }
    },
    "story": [
      {
        "say": "A key can have an end. This insurer had a key made for a trial. The trial ended yesterday, and the key with it. When and why keys expire at the real service is not published; here, the scenario says when."
      },
      {
        "request": {
          "key": "expired"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.expired"
        }
      },
      {
        "say": "The status 401 means: this key is not accepted. That it has expired is not said: every rejected key gets this same answer. Here is a second key, which ends five minutes from now."
      },
      {
        "request": {
          "key": "expiring"
        },
        "expect": {
          "status": 200,
          "path": "200.test"
        }
      },
      {
        "say": "It works, and nothing in the answer warns of the end. We let the five minutes pass."
      },
      {
        "advance": "5m"
      },
      {
        "request": {
          "key": "expiring"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.expired"
        }
      },
      {
        "say": "Now it is rejected as well. Can an administrator still replace it by a successor?"
      },
      {
        "rotate": {
          "key": "expiring"
        },
        "expect": {
          "error": "key_not_active"
        }
      },
      {
        "say": "No. Only a key that works can be replaced, so it pays to do that before the end. One way is left: a new key."
      },
      {
        "create_key": {
          "organization": "amberfield-mutual",
          "environment": "test",
          "name": "Contractor access, renewed",
          "ref": "renewed"
        }
      },
      {
        "request": {
          "key": "renewed"
        },
        "expect": {
          "status": 200,
          "path": "200.test"
        }
      },
      {
        "say": "The new key works. The insurer's third key has no end at all, and never stopped working."
      },
      {
        "request": {
          "key": "lasting"
        },
        "expect": {
          "status": 200,
          "path": "200.test"
        }
      }
    ]
  },
  "key-states": {
    "version": 1,
    "name": "Key states",
    "description": "Six banks and insurers and fifteen keys, one for every way the API can answer. Some keys work, some have ended, some belong to an organization that may not use them, and some have used up what they were allowed.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "active",
    "organizations": {
      "harvest-bank": {
        "name": "Harvest Cooperative Bank",
        "type": "bank",
        "live_access": "approved",
        "keys": {
          "active": {
            "environment": "test",
            "name": "Core banking"
          },
          "live": {
            "environment": "live",
            "name": "Loan origination"
          },
          "legacy": {
            "environment": "test",
            "name": "Branch terminals",
            "legacy": true
          },
          "legacy-live": {
            "environment": "live",
            "name": "Branch terminals",
            "legacy": true
          },
          "revoked": {
            "environment": "test",
            "name": "Retired web portal",
            "state": "revoked"
          },
          "expired": {
            "environment": "test",
            "name": "Winter pilot",
            "expires": "-1d"
          }
        }
      },
      "amberfield-mutual": {
        "name": "Amberfield Mutual Insurance",
        "type": "insurer",
        "keys": {
          "rotated": {
            "environment": "test",
            "name": "Claims intake",
            "limits": {
              "per_minute": 120,
              "per_day": 5000
            },
            "state": "rotated",
            "replaced_by": "retiring"
          },
          "retiring": {
            "environment": "test",
            "name": "Claims intake",
            "limits": {
              "per_minute": 120,
              "per_day": 5000
            },
            "state": "retiring",
            "replaced_by": "replacement",
            "overlap_ends": "30m"
          },
          "replacement": {
            "environment": "test",
            "name": "Claims intake",
            "limits": {
              "per_minute": 120,
              "per_day": 5000
            }
          },
          "wrong-scope": {
            "environment": "test",
            "name": "Consent register",
            "scopes": [
              "consents:read"
            ]
          }
        }
      },
      "longfurrow-bank": {
        "name": "Longfurrow Savings Bank",
        "type": "bank",
        "keys": {
          "rate-limited": {
            "environment": "test",
            "name": "Reporting",
            "limits": {
              "per_minute": 60,
              "per_day": 0
            }
          },
          "rate-limited-minute": {
            "environment": "test",
            "name": "Nightly batch",
            "limits": {
              "per_minute": 60,
              "per_day": 1000
            },
            "usage": {
              "this_minute": 60,
              "today": 400
            }
          }
        }
      },
      "rainshadow-crop": {
        "name": "Rainshadow Crop Insurance",
        "type": "insurer",
        "live_access": "not_approved",
        "keys": {
          "live-not-approved": {
            "environment": "live",
            "name": "Policy administration"
          }
        }
      },
      "stonebarrow-bank": {
        "name": "Stonebarrow Agricultural Bank",
        "type": "bank",
        "live_access": "suspended",
        "keys": {
          "live-suspended": {
            "environment": "live",
            "name": "Credit scoring"
          }
        }
      },
      "quillmeadow-insurance": {
        "name": "Quillmeadow Insurance",
        "type": "insurer",
        "status": "inactive",
        "keys": {
          "organization-inactive": {
            "environment": "test",
            "name": "Underwriting"
          }
        }
      }
    },
    "story": [
      {
        "say": "A bank or an insurer shows a key with every question that it asks this service. What happens then depends on the state of the key. Here are all of them, beginning with keys that work: one for testing, and one for the live side, where real farmers are."
      },
      {
        "request": {
          "key": "active"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "environment": "test",
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "request": {
          "key": "live"
        },
        "expect": {
          "status": 200,
          "path": "200.live",
          "body": {
            "data": {
              "environment": "live"
            }
          }
        }
      },
      {
        "say": "The status 200 means: all is well. Older keys begin with other letters than those made now. They are called legacy keys, and work until they are replaced."
      },
      {
        "request": {
          "key": "legacy"
        },
        "expect": {
          "status": 200,
          "path": "200.legacy",
          "body": {
            "data": {
              "environment": "test"
            }
          }
        }
      },
      {
        "request": {
          "key": "legacy-live"
        },
        "expect": {
          "status": 200,
          "path": "200.legacy",
          "body": {
            "data": {
              "environment": "live"
            }
          }
        }
      },
      {
        "say": "A key that is being replaced works for a while beside its successor, so that nothing has to stop."
      },
      {
        "request": {
          "key": "retiring"
        },
        "expect": {
          "status": 200,
          "path": "200.retiring"
        }
      },
      {
        "request": {
          "key": "replacement"
        },
        "expect": {
          "status": 200,
          "path": "200.replacement"
        }
      },
      {
        "say": "Now keys that have ended. One was revoked, which means switched off by an administrator. One has passed its date. One was replaced some time ago."
      },
      {
        "request": {
          "key": "revoked"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.revoked"
        }
      },
      {
        "request": {
          "key": "expired"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.expired"
        }
      },
      {
        "request": {
          "key": "rotated"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.rotated"
        }
      },
      {
        "say": "The status 401 means: this key is not accepted. Why, is never said. No key at all, something that is not a key, and a key that nobody holds get the same answer."
      },
      {
        "request": {
          "key": "none"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.missing"
        }
      },
      {
        "request": {
          "key": "malformed"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.malformed"
        }
      },
      {
        "request": {
          "key": "unknown"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.unknown"
        }
      },
      {
        "say": "Whoever holds such a key needs another one. Next, keys that are known and refused all the same. The first one lacks a permission, which is called a scope. The owner of the second one is not active."
      },
      {
        "request": {
          "key": "wrong-scope"
        },
        "expect": {
          "status": 403,
          "code": "insufficient_scope",
          "path": "403.insufficient_scope"
        }
      },
      {
        "request": {
          "key": "organization-inactive"
        },
        "expect": {
          "status": 403,
          "code": "access_denied",
          "path": "403.access_denied"
        }
      },
      {
        "say": "The status 403 means: I know this key, but it may not do this. The next two are live keys. One owner is not approved for the live service; the approval of the other one is suspended."
      },
      {
        "request": {
          "key": "live-not-approved"
        },
        "expect": {
          "status": 403,
          "code": "live_access_not_approved",
          "path": "403.live_not_approved"
        }
      },
      {
        "request": {
          "key": "live-suspended"
        },
        "expect": {
          "status": 403,
          "code": "live_access_not_approved",
          "path": "403.live_suspended"
        }
      },
      {
        "say": "Both get the same answer. At last, keys that have asked too much. One has made all its sixty requests of this minute and goes on trying. Another is allowed none on any day."
      },
      {
        "request": {
          "key": "rate-limited-minute",
          "repeat": 61
        },
        "expect": {
          "status": 429,
          "path": "429.per_minute"
        }
      },
      {
        "request": {
          "key": "rate-limited"
        },
        "expect": {
          "status": 429,
          "path": "429.per_day"
        }
      },
      {
        "say": "The status 429 means too many requests, and asks for patience. We let a minute pass."
      },
      {
        "advance": "60s"
      },
      {
        "request": {
          "key": "rate-limited-minute"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "limits": {
                "per_minute": 60
              }
            }
          }
        }
      },
      {
        "say": "And the key works again. Each of these states has a scenario of its own, which tells how one gets out of it."
      }
    ]
  },
  "legacy-keys": {
    "version": 1,
    "name": "Legacy keys",
    "description": "Older keys, which begin with another word than those made today, are as good as new until somebody rotates them. The replacement then begins with the word of today, and the old key soon stops working.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "legacy",
    "organizations": {
      "stonebarrow-bank": {
        "name": "Stonebarrow Agricultural Bank",
        "type": "bank",
        "live_access": "approved",
        "keys": {
          "legacy": {
            "environment": "test",
            "name": "Branch terminals",
            "legacy": true
          },
          "legacy-live": {
            "environment": "live",
            "name": "Branch terminals",
            "legacy": true
          },
          "legacy-retiring": {
            "environment": "test",
            "name": "Core banking",
            "state": "retiring",
            "legacy": true,
            "replaced_by": "current",
            "overlap_ends": "60m"
          },
          "current": {
            "environment": "test",
            "name": "Core banking"
          },
          "legacy-rotated": {
            "environment": "live",
            "name": "Loan origination",
            "state": "rotated",
            "legacy": true,
            "replaced_by": "current-live"
          },
          "current-live": {
            "environment": "live",
            "name": "Loan origination"
          }
        }
      }
    },
    "story": [
      {
        "say": "The first letters of a key say what it is for: testing, or the live service. Keys from earlier days begin with other letters than those made now. Such a key is called a legacy key. Here is one for testing."
      },
      {
        "request": {
          "key": "legacy"
        },
        "expect": {
          "status": 200,
          "path": "200.legacy",
          "body": {
            "data": {
              "environment": "test"
            }
          }
        }
      },
      {
        "say": "It works, and so does one for the live service."
      },
      {
        "request": {
          "key": "legacy-live"
        },
        "expect": {
          "status": 200,
          "path": "200.legacy",
          "body": {
            "data": {
              "environment": "live"
            }
          }
        }
      },
      {
        "say": "Old keys go on working until they are rotated, which means: replaced by a successor. So a program must not insist on the letters of today. Now an administrator rotates the first key."
      },
      {
        "rotate": {
          "key": "legacy",
          "as": "modern",
          "overlap": "60m"
        }
      },
      {
        "say": "The successor begins with the letters of today. It works at once, and for an hour more so does the old key."
      },
      {
        "request": {
          "key": "modern"
        },
        "expect": {
          "status": 200,
          "path": "200.replacement",
          "body": {
            "data": {
              "environment": "test"
            }
          }
        }
      },
      {
        "request": {
          "key": "legacy"
        },
        "expect": {
          "status": 200,
          "path": "200.retiring"
        }
      },
      {
        "say": "That hour is called the overlap. It is there to put the new key everywhere. We let it pass."
      },
      {
        "advance": "60m"
      },
      {
        "request": {
          "key": "legacy"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.rotated"
        }
      },
      {
        "say": "The old key has ended. The status 401 means: this key is not accepted; it never says why. Whoever has changed over in time does not notice."
      },
      {
        "request": {
          "key": "modern"
        },
        "expect": {
          "status": 200,
          "path": "200.replacement"
        }
      }
    ]
  },
  "live-not-approved": {
    "version": 1,
    "name": "Live access not approved",
    "description": "An insurer holds a key for the live service, where real farmers are, but its compliance application is not approved: the key is refused. Its test key, which only ever reaches invented farmers, works as before. The bank next door is approved, and its live key works.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "live-not-approved",
    "organizations": {
      "rainshadow-crop": {
        "name": "Rainshadow Crop Insurance",
        "type": "insurer",
        "live_access": "not_approved",
        "keys": {
          "live-not-approved": {
            "environment": "live",
            "name": "Policy administration"
          },
          "test": {
            "environment": "test",
            "name": "Policy administration, test"
          }
        }
      },
      "harvest-bank": {
        "name": "Harvest Cooperative Bank",
        "type": "bank",
        "live_access": "approved",
        "keys": {
          "live-approved": {
            "environment": "live",
            "name": "Loan origination"
          }
        }
      }
    },
    "story": [
      {
        "say": "The service has two sides. On the test side all farmers are invented. On the live side they are real, and an organization needs approval to go there: its compliance application has to be approved. That of this insurer is not. It has a live key all the same: in this sandbox an approval can be taken back, and the keys stay."
      },
      {
        "request": {
          "key": "live-not-approved"
        },
        "expect": {
          "status": 403,
          "code": "live_access_not_approved",
          "path": "403.live_not_approved"
        }
      },
      {
        "say": "The status 403 means: I know this key, but it may not do this. The key is in good order. Its owner may not go live. The insurer's test key is not affected."
      },
      {
        "request": {
          "key": "test"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "environment": "test"
            }
          }
        }
      },
      {
        "say": "So building and testing can go on. The bank next door is approved, and its live key works."
      },
      {
        "request": {
          "key": "live-approved"
        },
        "expect": {
          "status": 200,
          "path": "200.live",
          "body": {
            "data": {
              "environment": "live"
            }
          }
        }
      },
      {
        "say": "Would a new live key help the insurer? One of its administrators tries to create one."
      },
      {
        "create_key": {
          "organization": "rainshadow-crop",
          "environment": "live",
          "name": "Policy administration, new"
        },
        "expect": {
          "error": "live_access_not_approved"
        }
      },
      {
        "say": "That is refused, for the same reason. What helps is the approval. Some time later it comes."
      },
      {
        "organization": {
          "ref": "rainshadow-crop",
          "live_access": "approved"
        }
      },
      {
        "request": {
          "key": "live-not-approved"
        },
        "expect": {
          "status": 200,
          "path": "200.live",
          "body": {
            "data": {
              "environment": "live"
            }
          }
        }
      },
      {
        "say": "The key is the same as before, and now it works. So a program that meets this refusal keeps its key, stops asking, and tells a person."
      }
    ]
  },
  "live-suspended": {
    "version": 1,
    "name": "Live access suspended",
    "description": "A bank was approved for the live service, and its approval has been suspended. Every one of its live keys is refused until the suspension is lifted, a day after the start; a new live key would be refused as well. Its test key works.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "live-suspended",
    "organizations": {
      "stonebarrow-bank": {
        "name": "Stonebarrow Agricultural Bank",
        "type": "bank",
        "live_access": "suspended",
        "keys": {
          "live-suspended": {
            "environment": "live",
            "name": "Credit scoring"
          },
          "second-live": {
            "environment": "live",
            "name": "Loan origination"
          },
          "test": {
            "environment": "test",
            "name": "Credit scoring, test"
          }
        }
      }
    },
    "timeline": [
      {
        "at": "24h",
        "organization": {
          "ref": "stonebarrow-bank",
          "live_access": "approved"
        }
      }
    ],
    "story": [
      {
        "say": "This bank was approved for the live side of the service, where real farmers are. Now its live access is suspended: taken away, perhaps only for a time."
      },
      {
        "request": {
          "key": "live-suspended"
        },
        "expect": {
          "status": 403,
          "code": "live_access_not_approved",
          "path": "403.live_suspended"
        }
      },
      {
        "say": "The status 403 means: I know this key, but it may not do this. The reason that it gives is the one that is given to those who were never approved, too. A program cannot tell the two apart. And it is not this key alone."
      },
      {
        "request": {
          "key": "second-live"
        },
        "expect": {
          "status": 403,
          "code": "live_access_not_approved",
          "path": "403.live_suspended"
        }
      },
      {
        "say": "Every live key of the bank is refused. Its test key, which reaches invented farmers only, goes on working."
      },
      {
        "request": {
          "key": "test"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "environment": "test"
            }
          }
        }
      },
      {
        "say": "Does a new live key help? One of the bank's administrators tries to create one."
      },
      {
        "create_key": {
          "organization": "stonebarrow-bank",
          "environment": "live",
          "name": "Credit scoring, new"
        },
        "expect": {
          "error": "live_access_not_approved"
        }
      },
      {
        "say": "No. The bank has to settle the matter with the service, and to wait. A day goes by, and the suspension ends."
      },
      {
        "advance": "24h"
      },
      {
        "request": {
          "key": "live-suspended"
        },
        "expect": {
          "status": 200,
          "path": "200.live",
          "body": {
            "data": {
              "environment": "live"
            }
          }
        }
      },
      {
        "request": {
          "key": "second-live"
        },
        "expect": {
          "status": 200,
          "path": "200.live"
        }
      },
      {
        "say": "Both keys work again, and nobody had to touch them. So a refusal of this kind is no reason to throw keys away."
      }
    ]
  },
  "onboarding": {
    "version": 1,
    "name": "Onboarding",
    "description": "A bank that has just signed up comes to its first key, and then to a live one. At the start it has none, and may not even create one. First its sandbox access is turned on, for keys that reach invented farmers; then its compliance application is approved, for keys that reach real ones.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "organizations": {
      "foxglove-bank": {
        "name": "Foxglove Farmers Bank",
        "type": "bank",
        "sandbox_access": false,
        "live_access": "not_approved"
      }
    },
    "story": [
      {
        "say": "A bank is new to the service. It needs a key: a long text, kept secret, that its computer sends with every question. One of the bank's administrators tries to create one for testing."
      },
      {
        "create_key": {
          "organization": "foxglove-bank",
          "environment": "test",
          "name": "Core banking"
        },
        "expect": {
          "error": "sandbox_access_off"
        }
      },
      {
        "say": "That is refused. Keys for testing can be created once sandbox access has been turned on for the bank. This is done, and the administrator tries again."
      },
      {
        "organization": {
          "ref": "foxglove-bank",
          "sandbox_access": true
        }
      },
      {
        "create_key": {
          "organization": "foxglove-bank",
          "environment": "test",
          "name": "Core banking",
          "ref": "first-test-key"
        }
      },
      {
        "say": "The dashboard shows the whole key this once, and never again. The bank puts it into its system."
      },
      {
        "request": {
          "key": "first-test-key"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "organization": {
                "type": "bank"
              },
              "environment": "test",
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "say": "The first call, and it works. With this key the bank reaches invented farmers only. For real ones, it needs a live key."
      },
      {
        "create_key": {
          "organization": "foxglove-bank",
          "environment": "live",
          "name": "Core banking, live"
        },
        "expect": {
          "error": "live_access_not_approved"
        }
      },
      {
        "say": "That is refused as well. For the live side, the bank has to hand in a compliance application, and it has to be approved. The bank does that, and the approval comes."
      },
      {
        "organization": {
          "ref": "foxglove-bank",
          "live_access": "approved"
        }
      },
      {
        "create_key": {
          "organization": "foxglove-bank",
          "environment": "live",
          "name": "Core banking, live",
          "ref": "first-live-key"
        }
      },
      {
        "request": {
          "key": "first-live-key"
        },
        "expect": {
          "status": 200,
          "path": "200.live",
          "body": {
            "data": {
              "environment": "live",
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "say": "The bank is live. Three months pass, and then its live access is suspended, which means taken away for a time."
      },
      {
        "advance": "90d"
      },
      {
        "organization": {
          "ref": "foxglove-bank",
          "live_access": "suspended"
        }
      },
      {
        "say": "What do its two keys do now?"
      },
      {
        "request": {
          "key": "first-live-key"
        },
        "expect": {
          "status": 403,
          "code": "live_access_not_approved",
          "path": "403.live_suspended"
        }
      },
      {
        "request": {
          "key": "first-test-key"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "environment": "test"
            }
          }
        }
      },
      {
        "say": "The live key is refused; testing goes on. The matter is settled, and the suspension ends."
      },
      {
        "organization": {
          "ref": "foxglove-bank",
          "live_access": "approved"
        }
      },
      {
        "request": {
          "key": "first-live-key"
        },
        "expect": {
          "status": 200,
          "path": "200.live",
          "body": {
            "data": {
              "environment": "live"
            }
          }
        }
      },
      {
        "say": "The same key works again. Nobody had to create another one."
      }
    ]
  },
  "organization-inactive": {
    "version": 1,
    "name": "Organization not active",
    "description": "An insurer is not active: its contract has ended, say. Its keys are in good order, but none of them opens anything until the insurer is active again. No new key would help. Other organizations notice nothing.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "organization-inactive",
    "organizations": {
      "quillmeadow-insurance": {
        "name": "Quillmeadow Insurance",
        "type": "insurer",
        "status": "inactive",
        "live_access": "approved",
        "keys": {
          "organization-inactive": {
            "environment": "test",
            "name": "Underwriting"
          },
          "inactive-live": {
            "environment": "live",
            "name": "Policy administration"
          },
          "inactive-revoked": {
            "environment": "test",
            "name": "Retired web portal",
            "state": "revoked"
          }
        }
      },
      "harvest-bank": {
        "name": "Harvest Cooperative Bank",
        "type": "bank",
        "keys": {
          "other-organization": {
            "environment": "test",
            "name": "Core banking"
          }
        }
      }
    },
    "story": [
      {
        "say": "An organization can be switched off as a whole, because its contract has ended, say. That has happened to this insurer. Its key for testing is in good order. It asks the service, as on any other day."
      },
      {
        "request": {
          "key": "organization-inactive"
        },
        "expect": {
          "status": 403,
          "code": "access_denied",
          "path": "403.access_denied"
        }
      },
      {
        "say": "The status 403 means: I know this key, but it may not do this. Here it is the organization that is not active. Its key for the live service fares no better."
      },
      {
        "request": {
          "key": "inactive-live"
        },
        "expect": {
          "status": 403,
          "code": "access_denied",
          "path": "403.access_denied"
        }
      },
      {
        "say": "A key of the insurer that was revoked, switched off for good, is not even told that much. This sandbox looks at the key first, and at its owner after that. In which order the real service looks has not been published."
      },
      {
        "request": {
          "key": "inactive-revoked"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.revoked"
        }
      },
      {
        "say": "Does a new key help? This sandbox lets an administrator create one."
      },
      {
        "create_key": {
          "organization": "quillmeadow-insurance",
          "environment": "test",
          "name": "Underwriting, new",
          "ref": "no-help"
        }
      },
      {
        "request": {
          "key": "no-help"
        },
        "expect": {
          "status": 403,
          "code": "access_denied",
          "path": "403.access_denied"
        }
      },
      {
        "say": "It does not. Only this organization is affected; another one notices nothing."
      },
      {
        "request": {
          "key": "other-organization"
        },
        "expect": {
          "status": 200,
          "path": "200.test"
        }
      },
      {
        "say": "The way out is with people, not with programs. They come to terms, and the insurer is made active again."
      },
      {
        "organization": {
          "ref": "quillmeadow-insurance",
          "status": "active"
        }
      },
      {
        "request": {
          "key": "organization-inactive"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "organization": {
                "type": "insurer"
              }
            }
          }
        }
      },
      {
        "say": "The key that was refused is accepted, from the very next request on. Nothing else had to be changed."
      }
    ]
  },
  "population": {
    "version": 1,
    "name": "Population",
    "description": "Two hundred banks and insurers with three keys each, beside one bank that is described, and five thousand farmers. For load tests, for lists that run over many pages, and for whoever wants to see that one customer's trouble stays with it.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "core-banking",
    "organizations": {
      "rivermeadow-bank": {
        "name": "Rivermeadow Savings Bank",
        "type": "bank",
        "live_access": "approved",
        "keys": {
          "core-banking": {
            "environment": "test",
            "name": "Core banking"
          },
          "core-banking-live": {
            "environment": "live",
            "name": "Core banking, live"
          },
          "nightly-batch": {
            "environment": "test",
            "name": "Nightly batch",
            "limits": {
              "per_minute": 600,
              "per_day": 100000
            }
          },
          "lost-laptop": {
            "environment": "test",
            "name": "Field officer tools",
            "state": "revoked"
          }
        }
      }
    },
    "population": {
      "organizations": 200,
      "keys_per_organization": 3,
      "farmers": 5000,
      "locale": "en"
    },
    "story": [
      {
        "say": "A service has many customers: banks and insurers, each with its own keys. One bank is described in this scenario. It calls the service."
      },
      {
        "request": {
          "key": "core-banking"
        },
        "expect": {
          "status": 200,
          "path": "200.test"
        }
      },
      {
        "say": "Two hundred others are not described at all. The scenario says how many there are, and the rest is made up. The first of them calls too, once for testing and once for real."
      },
      {
        "request": {
          "key": "organization-1-key-1"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "organization": {
                "type": "bank"
              },
              "environment": "test"
            }
          }
        }
      },
      {
        "request": {
          "key": "organization-1-key-2"
        },
        "expect": {
          "status": 200,
          "path": "200.live",
          "body": {
            "data": {
              "organization": {
                "type": "bank"
              },
              "environment": "live"
            }
          }
        }
      },
      {
        "say": "Each of them counts for itself. An insurer calls three times, and the bank next to it once."
      },
      {
        "request": {
          "key": "organization-198-key-3",
          "repeat": 3
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "organization": {
                "type": "insurer"
              },
              "usage": {
                "today": 3
              }
            }
          }
        }
      },
      {
        "request": {
          "key": "organization-199-key-3"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "organization": {
                "type": "bank"
              },
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "say": "Trouble stays where it is, too. The live access of the insurer is suspended, which means taken away for a time."
      },
      {
        "organization": {
          "ref": "organization-198",
          "live_access": "suspended"
        }
      },
      {
        "request": {
          "key": "organization-198-key-2"
        },
        "expect": {
          "status": 403,
          "code": "live_access_not_approved",
          "path": "403.live_suspended"
        }
      },
      {
        "request": {
          "key": "organization-199-key-2"
        },
        "expect": {
          "status": 200,
          "path": "200.live"
        }
      },
      {
        "say": "The insurer is refused, and its neighbour notices nothing. Now one of the insurer's two test keys is revoked."
      },
      {
        "revoke": {
          "key": "organization-198-key-1"
        }
      },
      {
        "request": {
          "key": "organization-198-key-1"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.revoked"
        }
      },
      {
        "request": {
          "key": "organization-198-key-3"
        },
        "expect": {
          "status": 200,
          "path": "200.test"
        }
      },
      {
        "say": "The other test key still works. And among six hundred keys, one that nobody holds is found out at once."
      },
      {
        "request": {
          "key": "unknown"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.unknown"
        }
      },
      {
        "say": "Two hundred organizations, six hundred keys, five thousand farmers: all of them invented, and the same ones with every start. Nobody has to collect real ones to test with many."
      }
    ]
  },
  "rate-limited": {
    "version": 1,
    "name": "Rate-limited key",
    "description": "Keys that have made all their requests of this minute, or of today, have to wait. Every key may make so many a minute and so many a day: one of this bank's keys has made all of today's, another all of this minute's. A third is allowed only three a minute, so that you can reach its limit by hand. The last has made none, and what the others did does not hold it back.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "rate-limited",
    "organizations": {
      "longfurrow-bank": {
        "name": "Longfurrow Savings Bank",
        "type": "bank",
        "keys": {
          "rate-limited": {
            "environment": "test",
            "name": "Reporting",
            "limits": {
              "per_minute": 60,
              "per_day": 1000
            },
            "usage": {
              "today": 1000
            }
          },
          "rate-limited-minute": {
            "environment": "test",
            "name": "Nightly batch",
            "limits": {
              "per_minute": 60,
              "per_day": 1000
            },
            "usage": {
              "this_minute": 60,
              "today": 400
            }
          },
          "three-a-minute": {
            "environment": "test",
            "name": "Integration tests",
            "limits": {
              "per_minute": 3,
              "per_day": 1000
            }
          },
          "untouched": {
            "environment": "test",
            "name": "Core banking"
          }
        }
      }
    },
    "story": [
      {
        "say": "Every key may make so many requests in a minute, and so many in a day. This key of a bank may make three in a minute. Its program is in a hurry and sends four, one right after the other. Here is the answer to the last."
      },
      {
        "request": {
          "key": "three-a-minute",
          "repeat": 4
        },
        "expect": {
          "status": 429,
          "path": "429.per_minute"
        }
      },
      {
        "say": "The status 429 means: too many requests. Another key of the same bank is not held back: a limit belongs to one key."
      },
      {
        "request": {
          "key": "untouched"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "limits": {
                "per_minute": 60
              },
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "say": "And the program in a hurry, what should it do? Nothing, for a while. Whoever asks again at once gets the same answer. We let the minute pass."
      },
      {
        "advance": "60s"
      },
      {
        "request": {
          "key": "three-a-minute"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "limits": {
                "per_minute": 3
              },
              "usage": {
                "today": 4
              }
            }
          }
        }
      },
      {
        "say": "Waiting has helped. The refused request was not counted, by the way; that is an assumption of this sandbox, for it has not been published. Next, a key that has made all its thousand requests of today."
      },
      {
        "request": {
          "key": "rate-limited"
        },
        "expect": {
          "status": 429,
          "path": "429.per_day"
        }
      },
      {
        "say": "A minute of patience does not help here. This key has to wait for the next day."
      },
      {
        "advance": "15h"
      },
      {
        "request": {
          "key": "rate-limited"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "limits": {
                "per_day": 1000
              },
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "say": "It is past midnight, and the count has started again. That a day ends at midnight, by universal time, is another assumption of this sandbox. Better than waiting is to spread the requests over the day."
      }
    ]
  },
  "revoked": {
    "version": 1,
    "name": "Revoked key",
    "description": "A bank's key was seen where it should not be, so an administrator revoked it. From that moment on it opens nothing. A new key was created for the same system; the bank's other keys go on working.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "revoked",
    "organizations": {
      "harvest-bank": {
        "name": "Harvest Cooperative Bank",
        "type": "bank",
        "keys": {
          "revoked": {
            "environment": "test",
            "name": "Core banking",
            "state": "revoked"
          },
          "fresh": {
            "environment": "test",
            "name": "Core banking, new key"
          },
          "other-system": {
            "environment": "test",
            "name": "Loan origination"
          }
        }
      }
    },
    "story": [
      {
        "say": "A key of this bank was seen where it should not be. So an administrator of the bank has revoked it, which means: switched it off for good. The bank's computer has not been told, and sends the key as it always did."
      },
      {
        "request": {
          "key": "revoked"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.revoked"
        }
      },
      {
        "say": "The status 401 means: this key is not accepted. The answer does not say why, and that is on purpose. Compare it with the answer to a key that never existed."
      },
      {
        "request": {
          "key": "unknown"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.unknown"
        }
      },
      {
        "say": "It is the same answer. Whoever finds a key and tries it learns nothing. For the bank it means: do not send this key again, it will never work. An administrator has to create a new one."
      },
      {
        "create_key": {
          "organization": "harvest-bank",
          "environment": "test",
          "name": "Core banking, made today",
          "ref": "made-today"
        }
      },
      {
        "say": "The dashboard shows the whole key this once, and never again. It takes the place of the old one."
      },
      {
        "request": {
          "key": "made-today"
        },
        "expect": {
          "status": 200,
          "path": "200.test",
          "body": {
            "data": {
              "usage": {
                "today": 1
              }
            }
          }
        }
      },
      {
        "say": "The new key works. And the bank's other system? It has a key of its own, and has noticed nothing."
      },
      {
        "request": {
          "key": "other-system"
        },
        "expect": {
          "status": 200,
          "path": "200.test"
        }
      },
      {
        "say": "How fast is revoking? Here is one more key. It works, and now an administrator revokes it."
      },
      {
        "request": {
          "key": "fresh"
        },
        "expect": {
          "status": 200,
          "path": "200.test"
        }
      },
      {
        "revoke": {
          "key": "fresh"
        }
      },
      {
        "request": {
          "key": "fresh"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.revoked"
        }
      },
      {
        "say": "The very next request was refused. Revoking takes effect at once."
      }
    ]
  },
  "rotation": {
    "version": 1,
    "name": "Rotation",
    "description": "An insurer changes the key of a system that must not stop. The new key works at once, and for half an hour more so does the old one: time enough to hand the new key to every machine. The key before those two has ended.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "retiring",
    "organizations": {
      "amberfield-mutual": {
        "name": "Amberfield Mutual Insurance",
        "type": "insurer",
        "keys": {
          "rotated": {
            "environment": "test",
            "name": "Claims intake",
            "limits": {
              "per_minute": 120,
              "per_day": 5000
            },
            "state": "rotated",
            "replaced_by": "retiring"
          },
          "retiring": {
            "environment": "test",
            "name": "Claims intake",
            "limits": {
              "per_minute": 120,
              "per_day": 5000
            },
            "state": "retiring",
            "replaced_by": "replacement",
            "overlap_ends": "30m"
          },
          "replacement": {
            "environment": "test",
            "name": "Claims intake",
            "limits": {
              "per_minute": 120,
              "per_day": 5000
            }
          }
        }
      }
    },
    "story": [
      {
        "say": "To rotate a key is to replace it by a new one. This insurer does it with a system that must never stop, and we come in the middle. The new key is made, and for half an hour more the old one works as well. That time is called the overlap."
      },
      {
        "request": {
          "key": "retiring"
        },
        "expect": {
          "status": 200,
          "path": "200.retiring"
        }
      },
      {
        "request": {
          "key": "replacement"
        },
        "expect": {
          "status": 200,
          "path": "200.replacement",
          "body": {
            "data": {
              "limits": {
                "per_minute": 120,
                "per_day": 5000
              }
            }
          }
        }
      },
      {
        "say": "Both are let in, and the new key may do what the old one could. There is time to hand it to every machine, one after the other. Half an hour later all of them have it."
      },
      {
        "advance": "30m"
      },
      {
        "request": {
          "key": "retiring"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.rotated"
        }
      },
      {
        "request": {
          "key": "replacement"
        },
        "expect": {
          "status": 200,
          "path": "200.replacement"
        }
      },
      {
        "say": "The old key has ended, and no machine was using it any more. Not one request was lost. A month later it is time again. This time we see it from the start: the administrator makes the third key, with an overlap of an hour."
      },
      {
        "advance": "30d"
      },
      {
        "rotate": {
          "key": "replacement",
          "as": "third-key",
          "overlap": "60m"
        }
      },
      {
        "say": "Nothing changes for the machines. They send the second key, and the third one works already."
      },
      {
        "request": {
          "key": "replacement"
        },
        "expect": {
          "status": 200,
          "path": "200.retiring"
        }
      },
      {
        "request": {
          "key": "third-key"
        },
        "expect": {
          "status": 200,
          "path": "200.replacement"
        }
      },
      {
        "say": "An hour later every machine has the third key, and the second one ends."
      },
      {
        "advance": "60m"
      },
      {
        "request": {
          "key": "replacement"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.rotated"
        }
      },
      {
        "request": {
          "key": "third-key"
        },
        "expect": {
          "status": 200,
          "path": "200.replacement"
        }
      },
      {
        "say": "Again not one request was lost. Now the same once more, done wrong. The administrator sets the overlap to zero, before any machine has the new key."
      },
      {
        "rotate": {
          "key": "third-key",
          "as": "fourth-key",
          "overlap": "0s"
        }
      },
      {
        "request": {
          "key": "third-key"
        },
        "expect": {
          "status": 401,
          "code": "unauthorized",
          "path": "401.rotated"
        }
      },
      {
        "say": "The machines send the key they have, and are refused. The system stands still. Can the old key be rotated again, with more time?"
      },
      {
        "rotate": {
          "key": "third-key",
          "overlap": "60m"
        },
        "expect": {
          "error": "key_not_active"
        }
      },
      {
        "say": "No, it has ended. But its successor works already. Every machine has to get it, and now it is urgent."
      },
      {
        "request": {
          "key": "fourth-key"
        },
        "expect": {
          "status": 200,
          "path": "200.replacement"
        }
      },
      {
        "say": "The system runs again. An overlap of zero is for a key that has fallen into the wrong hands. On all other days, hand over the new key first and let the old one end later: an hour if nothing is chosen, seven days at most."
      }
    ]
  },
  "wrong-scope": {
    "version": 1,
    "name": "Wrong scope",
    "description": "An insurer's key may read consents, but it asks for something else and is turned away. Every key is given a list of what it may do, and the question that is asked here needs another entry of it. The key itself is in good order.",
    "clock": {
      "now": "2026-03-02T09:00:00Z"
    },
    "default_key": "wrong-scope",
    "organizations": {
      "amberfield-mutual": {
        "name": "Amberfield Mutual Insurance",
        "type": "insurer",
        "keys": {
          "wrong-scope": {
            "environment": "test",
            "name": "Consent register",
            "scopes": [
              "consents:read"
            ]
          },
          "right-scope": {
            "environment": "test",
            "name": "Claims intake",
            "scopes": [
              "attestations:read"
            ]
          },
          "both-scopes": {
            "environment": "test",
            "name": "Underwriting",
            "scopes": [
              "attestations:read",
              "consents:read"
            ]
          }
        }
      }
    },
    "story": [
      {
        "say": "Every key has a list of what it may be used for. An entry of that list is called a scope. This insurer's key has one scope: it may read consents. Now it is used to ask whose key it is, and that takes another scope."
      },
      {
        "request": {
          "key": "wrong-scope"
        },
        "expect": {
          "status": 403,
          "code": "insufficient_scope",
          "path": "403.insufficient_scope"
        }
      },
      {
        "say": "The status 403 means: I know this key, but it may not do this. Nothing is wrong with the key itself, and sending it again changes nothing. Which scope is needed has not been published. This sandbox assumes the one with the name attestations:read. Another key of the insurer has it."
      },
      {
        "request": {
          "key": "right-scope"
        },
        "expect": {
          "status": 200,
          "path": "200.test"
        }
      },
      {
        "say": "That key is let in. Would it help to replace the first key by a new one?"
      },
      {
        "rotate": {
          "key": "wrong-scope",
          "as": "replaced-in-vain"
        }
      },
      {
        "request": {
          "key": "replaced-in-vain"
        },
        "expect": {
          "status": 403,
          "code": "insufficient_scope",
          "path": "403.insufficient_scope"
        }
      },
      {
        "say": "No. A replacement may do what the old key could, and no more. An administrator has to create another key, and to choose its scopes."
      },
      {
        "create_key": {
          "organization": "amberfield-mutual",
          "environment": "test",
          "name": "Consent register, second key",
          "scopes": [
            "attestations:read",
            "consents:read"
          ],
          "ref": "well-chosen"
        }
      },
      {
        "request": {
          "key": "well-chosen"
        },
        "expect": {
          "status": 200,
          "path": "200.test"
        }
      },
      {
        "say": "Now it works. A good habit is to give each system a key of its own, with the scopes it needs and no others."
      }
    ]
  }
};
