// Made by `npm run generate` from scenarios/*.yaml. Do not edit.
import type { Scenario } from "./scenario.generated.js";

/** The refs of the keys of each bundled scenario. */
export interface BundledKeyRefs {
  "active": "active" | "live" | "in-use";
  "bad-day": "flaky" | "untouched" | "delayed" | "unavailable" | "bad-gateway" | "connection-reset" | "cut-short" | "broken-json" | "slow" | "hanging";
  "expired": "expired" | "expiring" | "lasting";
  "key-states": "active" | "live" | "legacy" | "legacy-live" | "revoked" | "expired" | "rotated" | "retiring" | "replacement" | "wrong-scope" | "rate-limited" | "rate-limited-minute" | "live-not-approved" | "live-suspended" | "organization-inactive";
  "legacy-keys": "legacy" | "legacy-live" | "legacy-retiring" | "current" | "legacy-rotated" | "current-live";
  "live-not-approved": "live-not-approved" | "test" | "live-approved";
  "live-suspended": "live-suspended" | "second-live" | "test";
  "organization-inactive": "organization-inactive" | "inactive-live" | "inactive-revoked" | "other-organization";
  "rate-limited": "rate-limited" | "rate-limited-minute" | "three-a-minute" | "untouched";
  "revoked": "revoked" | "fresh" | "other-system";
  "rotation": "rotated" | "retiring" | "replacement";
  "wrong-scope": "wrong-scope" | "right-scope" | "both-scopes";
}

/** The refs of the organizations of each bundled scenario. */
export interface BundledOrganizationRefs {
  "active": "harvest-bank";
  "bad-day": "windmere-bank" | "hailstone-mutual";
  "expired": "amberfield-mutual";
  "key-states": "harvest-bank" | "amberfield-mutual" | "longfurrow-bank" | "rainshadow-crop" | "stonebarrow-bank" | "quillmeadow-insurance";
  "legacy-keys": "stonebarrow-bank";
  "live-not-approved": "rainshadow-crop" | "harvest-bank";
  "live-suspended": "stonebarrow-bank";
  "organization-inactive": "quillmeadow-insurance" | "harvest-bank";
  "rate-limited": "longfurrow-bank";
  "revoked": "harvest-bank";
  "rotation": "amberfield-mutual";
  "wrong-scope": "amberfield-mutual";
}

/** The name of a bundled scenario. */
export type ScenarioName = "active" | "bad-day" | "expired" | "key-states" | "legacy-keys" | "live-not-approved" | "live-suspended" | "organization-inactive" | "rate-limited" | "revoked" | "rotation" | "wrong-scope";

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
    }
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
    }
  },
  "expired": {
    "version": 1,
    "name": "Expired key",
    "description": "An insurer's key was made for a pilot and ended with it, yesterday. A second key ends five minutes from now, so that you can watch a key expire. A third has no end date and goes on working.",
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
    }
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
    }
  },
  "legacy-keys": {
    "version": 1,
    "name": "Legacy keys",
    "description": "Older keys begin with another word than those made today. They are as good as new until somebody rotates them: the replacement then begins with the word of today, and the old key soon stops working.",
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
    }
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
    }
  },
  "live-suspended": {
    "version": 1,
    "name": "Live access suspended",
    "description": "A bank was approved for the live service, and its approval has been suspended. Every one of its live keys is refused until the suspension is lifted; a new live key would be refused as well. Its test key works.",
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
    }
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
    }
  },
  "rate-limited": {
    "version": 1,
    "name": "Rate-limited key",
    "description": "Every key may make so many requests a minute and so many a day. One of this bank's keys has made all of today's, another all of this minute's, and both have to wait. A third is allowed only three a minute, so that you can reach its limit by hand. The last has made none, and what the others did does not hold it back.",
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
    }
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
    }
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
    }
  },
  "wrong-scope": {
    "version": 1,
    "name": "Wrong scope",
    "description": "Every key is given a list of what it may do. This insurer's key may read consents, but the question it asks needs another permission, so it is turned away at that door. The key itself is in good order.",
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
    }
  }
};
