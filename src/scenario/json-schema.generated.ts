// Made by `npm run generate` from src/scenario/schema.ts. Do not edit.

/** The scenario file as JSON Schema 2020-12, for editors, for other languages, and for our own messages. */
export const scenarioJsonSchema: Readonly<Record<string, unknown>> = {
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "version": {
      "type": "number",
      "const": 1,
      "description": "The version of the scenario format."
    },
    "name": {
      "type": "string",
      "minLength": 1,
      "maxLength": 200,
      "description": "What the scenario is called, for people."
    },
    "description": {
      "type": "string",
      "maxLength": 2000,
      "description": "What the scenario shows."
    },
    "extends": {
      "type": "string",
      "minLength": 1,
      "maxLength": 200,
      "description": "Start from another scenario: a bundled name, or a file (relative to this one)."
    },
    "seed": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991,
      "description": "Everything left out is derived from it. Default: 1."
    },
    "requests_answered": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991,
      "description": "Requests answered before the clock starts; request ids go on from there. Default: 0."
    },
    "clock": {
      "type": "object",
      "properties": {
        "now": {
          "type": "string",
          "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$",
          "description": "When the clock starts. Default: the real time. An ISO 8601 time with a zone."
        },
        "frozen": {
          "type": "boolean",
          "description": "Whether the clock stands still until it is moved. Default: false."
        }
      },
      "additionalProperties": false,
      "description": "The clock of the sandbox."
    },
    "default_key": {
      "type": "string",
      "maxLength": 64,
      "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
      "description": "The key that clients get when they ask for none. Default: the first key."
    },
    "assumptions": {
      "type": "object",
      "properties": {
        "profile": {
          "type": "string",
          "enum": [
            "minimal",
            "typical",
            "varied"
          ],
          "description": "The profile that sets all assumptions. Default: minimal."
        },
        "rate_limit_code": {
          "type": "string",
          "pattern": "^[A-Za-z][A-Za-z0-9_.-]*$",
          "description": "The error code of a 429. Default: \"rate_limited\"."
        },
        "request_id_on_errors": {
          "type": "boolean",
          "description": "Whether error responses carry X-Request-Id, too. Default: false."
        },
        "retry_after": {
          "type": "string",
          "enum": [
            "none",
            "seconds",
            "date"
          ],
          "description": "Whether a 429 says in Retry-After when to try again, and in which of its two forms. Default: \"none\"."
        },
        "rate_limit_headers": {
          "type": "string",
          "enum": [
            "none",
            "draft",
            "legacy"
          ],
          "description": "Which headers tell of limits on 200 and 429: RateLimit and RateLimit-Policy (draft), X-RateLimit-* (legacy), or none. Default: \"none\"."
        },
        "error_details": {
          "type": "boolean",
          "description": "Whether a 403 and a 429 say more in error.details. A 401 never does. Default: false."
        },
        "me_scope": {
          "anyOf": [
            {
              "type": "string",
              "pattern": "^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$",
              "description": "A scope name."
            },
            {
              "type": "null"
            }
          ],
          "description": "The scope that GET /v1/relying-party/me needs; null when it needs none. Default: \"attestations:read\"."
        },
        "scopes": {
          "minItems": 1,
          "maxItems": 100,
          "type": "array",
          "items": {
            "type": "string",
            "pattern": "^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$",
            "description": "A scope name."
          },
          "description": "All scope names that a key may be given. Default: [\"attestations:read\",\"attestations:write\",\"consents:read\",\"consents:write\"]."
        },
        "minute_window": {
          "type": "string",
          "enum": [
            "fixed",
            "sliding"
          ],
          "description": "How a minute is measured: fixed UTC minutes, or the 60 seconds before each request (sliding). Default: \"fixed\"."
        },
        "day_resets_at": {
          "type": "string",
          "pattern": "^(?:[01]\\d|2[0-3]):[0-5]\\d$",
          "description": "The time of day, in UTC, at which usage.today starts again from zero. Default: \"00:00\". HH:MM."
        },
        "count_refused": {
          "type": "boolean",
          "description": "Whether requests that are refused (401, 403, 429) count against the limits of the key they carried. Default: false."
        },
        "retiring_counts_as_active": {
          "type": "boolean",
          "description": "Whether a replaced key that is still in its overlap is one of the five active keys. Default: false."
        },
        "replacement_usage": {
          "type": "string",
          "enum": [
            "fresh",
            "inherited"
          ],
          "description": "Whether the replacement of a rotated key starts with no usage, or with the old key's. Default: \"fresh\"."
        },
        "www_authenticate": {
          "type": "boolean",
          "description": "Whether a 401 carries WWW-Authenticate, as HTTP asks of it (RFC 9110). Default: false."
        },
        "default_expiry": {
          "type": "string",
          "pattern": "^none$|^[+-]?\\d+(?:ms|s|m|h|d)$",
          "description": "How long after its creation a key expires that is created or rotated while the sandbox runs. Default: \"none\"."
        }
      },
      "additionalProperties": false,
      "description": "The choices made where the specification is silent."
    },
    "faults": {
      "maxItems": 100,
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "when": {
            "type": "object",
            "properties": {
              "key": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "Requests with this key."
              },
              "organization": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "Requests with a key of this organization."
              },
              "path_id": {
                "type": "string",
                "enum": [
                  "200.test",
                  "200.live",
                  "200.legacy",
                  "200.retiring",
                  "200.replacement",
                  "401.missing",
                  "401.malformed",
                  "401.unknown",
                  "401.revoked",
                  "401.expired",
                  "401.rotated",
                  "403.access_denied",
                  "403.live_not_approved",
                  "403.live_suspended",
                  "403.insufficient_scope",
                  "429.per_minute",
                  "429.per_day",
                  "404.unknown_path",
                  "405.method"
                ],
                "description": "Requests that would end on this path without the fault."
              },
              "after": {
                "type": "string",
                "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:ms|s|m|h|d)$",
                "description": "From then on, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
              },
              "until": {
                "type": "string",
                "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:ms|s|m|h|d)$",
                "description": "Before then, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
              },
              "every": {
                "type": "integer",
                "minimum": 1,
                "maximum": 9007199254740991,
                "description": "Every so manieth of the requests that match."
              },
              "requests": {
                "minItems": 1,
                "maxItems": 1000,
                "type": "array",
                "items": {
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 9007199254740991,
                  "description": "The number of a request."
                },
                "description": "Which of the requests that match, by their number: [3, 4]. The first is 1."
              },
              "probability": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "How likely it is, from 0 to 1; the seed and the number of the request decide."
              }
            },
            "additionalProperties": false,
            "description": "Which requests it hits: all that is given must hold. Default: every request."
          },
          "then": {
            "type": "object",
            "properties": {
              "latency": {
                "anyOf": [
                  {
                    "type": "string",
                    "pattern": "^\\d+(?:ms|s|m|h|d)$",
                    "description": "Always so long. A duration such as 250ms or 2s."
                  },
                  {
                    "type": "object",
                    "properties": {
                      "min": {
                        "type": "string",
                        "pattern": "^\\d+(?:ms|s|m|h|d)$",
                        "description": "At least so long. A duration such as 250ms or 2s."
                      },
                      "max": {
                        "type": "string",
                        "pattern": "^\\d+(?:ms|s|m|h|d)$",
                        "description": "At most so long. A duration such as 250ms or 2s."
                      }
                    },
                    "required": [
                      "min",
                      "max"
                    ],
                    "additionalProperties": false
                  }
                ],
                "description": "How long the answer waits, in real time: a duration such as 250ms, or a range { min: 100ms, max: 2s }."
              },
              "status": {
                "type": "number",
                "enum": [
                  500,
                  501,
                  502,
                  503,
                  504
                ],
                "description": "Answers with this status and the API's error body."
              },
              "body": {
                "type": "string",
                "enum": [
                  "json",
                  "html"
                ],
                "description": "With status: the API's error body, or a gateway's page. Default: json."
              },
              "reset": {
                "type": "boolean",
                "description": "Resets the connection."
              },
              "hang": {
                "type": "boolean",
                "description": "Leaves the request without an answer."
              },
              "truncate": {
                "type": "boolean",
                "description": "Cuts the body short and closes the connection."
              },
              "malformed": {
                "type": "boolean",
                "description": "Answers 200 with broken JSON."
              },
              "slow": {
                "type": "integer",
                "minimum": 1,
                "maximum": 9007199254740991,
                "description": "Sends the body at so many bytes per second."
              }
            },
            "additionalProperties": false,
            "description": "What happens then: one thing or more."
          },
          "requests_matched": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9007199254740991,
            "description": "Requests that matched before the clock starts, for every and requests; snapshots write it. Default: 0."
          }
        },
        "required": [
          "then"
        ],
        "additionalProperties": false,
        "description": "A fault: which requests it hits, and what happens then."
      },
      "description": "What goes wrong between the client and the API. Of several faults the first one that hits counts."
    },
    "organizations": {
      "type": "object",
      "propertyNames": {
        "type": "string",
        "maxLength": 64,
        "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
        "description": "The organization's ref."
      },
      "additionalProperties": {
        "type": "object",
        "properties": {
          "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "The name of the organization. Left out: invented from the seed and the ref."
          },
          "id": {
            "type": "string",
            "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
            "description": "A UUID in lower case. Left out: derived from the seed and the ref."
          },
          "type": {
            "type": "string",
            "enum": [
              "bank",
              "insurer"
            ],
            "description": "The kind of relying party."
          },
          "status": {
            "type": "string",
            "enum": [
              "active",
              "inactive"
            ],
            "description": "Whether the organization may use the API. Default: active."
          },
          "sandbox_access": {
            "type": "boolean",
            "description": "Whether test keys can be created for it. Default: true."
          },
          "live_access": {
            "type": "string",
            "enum": [
              "not_approved",
              "approved",
              "suspended"
            ],
            "description": "Where it stands with live access. Default: not_approved."
          },
          "keys": {
            "type": "object",
            "propertyNames": {
              "type": "string",
              "maxLength": 64,
              "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
              "description": "The key's ref, unique in the whole scenario."
            },
            "additionalProperties": {
              "type": "object",
              "properties": {
                "environment": {
                  "type": "string",
                  "enum": [
                    "test",
                    "live"
                  ],
                  "description": "The environment that the key belongs to; its prefix says the same."
                },
                "name": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 200,
                  "description": "The name of the key. Left out: invented from the seed and the ref."
                },
                "scopes": {
                  "minItems": 1,
                  "maxItems": 100,
                  "type": "array",
                  "items": {
                    "type": "string",
                    "pattern": "^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$",
                    "description": "A scope name."
                  },
                  "description": "The scopes granted to the key. Default: [attestations:read]."
                },
                "limits": {
                  "type": "object",
                  "properties": {
                    "per_minute": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Requests allowed per minute; 0 answers 429 always. Default: 60."
                    },
                    "per_day": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Requests allowed per day; 0 answers 429 always. Default: 1000."
                    }
                  },
                  "additionalProperties": false,
                  "description": "The limits of the key."
                },
                "usage": {
                  "type": "object",
                  "properties": {
                    "this_minute": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Requests already counted in the minute in which the clock starts. Default: 0."
                    },
                    "today": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Requests already counted today. Default: the value of this_minute."
                    },
                    "counted_at": {
                      "type": "array",
                      "items": {
                        "type": "string",
                        "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$",
                        "description": "When a request was counted. An ISO 8601 time with a zone."
                      },
                      "description": "For minute_window: sliding, when the requests of this_minute were counted, oldest first; snapshots write it. Default: all when the clock starts."
                    }
                  },
                  "additionalProperties": false,
                  "description": "What the key has already used when the clock starts."
                },
                "state": {
                  "type": "string",
                  "enum": [
                    "active",
                    "revoked",
                    "expired",
                    "retiring",
                    "rotated"
                  ],
                  "description": "The state in which the key starts. Default: active."
                },
                "expires": {
                  "type": "string",
                  "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:ms|s|m|h|d)$",
                  "description": "When the key expires. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
                },
                "legacy": {
                  "type": "boolean",
                  "description": "Whether the key has a legacy prefix. Default: false."
                },
                "replaced_by": {
                  "type": "string",
                  "maxLength": 64,
                  "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                  "description": "The key that replaced this one."
                },
                "overlap_ends": {
                  "type": "string",
                  "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:ms|s|m|h|d)$",
                  "description": "When a retiring key ends. Default: 60m. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
                },
                "secret": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 200,
                  "description": "The full key. Left out: derived from the seed and the ref."
                },
                "sha256": {
                  "type": "string",
                  "pattern": "^[0-9a-f]{64}$",
                  "description": "The SHA-256 of the full key, in place of the key itself; snapshots write it for keys made at run time."
                }
              },
              "additionalProperties": false,
              "description": "An API key."
            },
            "description": "Its API keys, by ref."
          }
        },
        "additionalProperties": false,
        "description": "A relying party: a bank or an insurer."
      },
      "description": "The relying parties of this world, by ref."
    }
  },
  "required": [
    "version"
  ],
  "additionalProperties": false,
  "description": "A scenario of svc-sandbox: one world.",
  "if": {
    "required": [
      "extends"
    ]
  },
  "else": {
    "properties": {
      "organizations": {
        "additionalProperties": {
          "required": [
            "type"
          ],
          "properties": {
            "keys": {
              "additionalProperties": {
                "required": [
                  "environment"
                ]
              }
            }
          }
        }
      }
    }
  }
};
