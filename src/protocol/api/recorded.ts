/** Recorded by `npm run docs`; do not edit. */

import type { Recording } from './recording.ts';

export const RECORDED: Recording = {
 "http": {
  "POST /api/v1/rfq/quotes": {
   "request": {
    "path": "/api/v1/rfq/quotes",
    "body": {
     "taker": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
     "input": {
      "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
      "amount": "2500000000"
     },
     "output": {
      "asset": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
     }
    }
   },
   "answers": {
    "200": {
     "body": {
      "requestId": "95bb31c5f56479a950bed839523b62d3",
      "createdAt": "2026-11-21T21:09:16.859Z",
      "quotes": [
       {
        "eta": 2,
        "executionMode": "apiSubmit",
        "gas": {
         "native": "0",
         "usd": 0
        },
        "lpSpreadBps": 8,
        "order": {
         "payload": {
          "domain": {
           "chainId": 31401,
           "name": "EscrowV0",
           "verifyingContract": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "version": "1"
          },
          "message": {
           "expires": 1795295506,
           "fillDeadline": 1795295446,
           "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "inputs": [
            [
             "544736938678254300359118634283998226765381104394",
             "2500000000"
            ]
           ],
           "nonce": "74944804115901553535315463494787280100130390610159498107526221636663102017634",
           "originChainId": "31401",
           "outputs": [
            {
             "amount": "1000000000000000000",
             "callbackData": "0x",
             "chainId": "31401",
             "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d727100002000000000000000000000000000abe6f",
             "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
             "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
             "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
             "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
            }
           ],
           "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534"
          },
          "primaryType": "StandardOrder",
          "types": {
           "EIP712Domain": [
            {
             "name": "name",
             "type": "string"
            },
            {
             "name": "version",
             "type": "string"
            },
            {
             "name": "chainId",
             "type": "uint256"
            },
            {
             "name": "verifyingContract",
             "type": "address"
            }
           ],
           "MandateOutput": [
            {
             "name": "oracle",
             "type": "bytes32"
            },
            {
             "name": "settler",
             "type": "bytes32"
            },
            {
             "name": "chainId",
             "type": "uint256"
            },
            {
             "name": "token",
             "type": "bytes32"
            },
            {
             "name": "amount",
             "type": "uint256"
            },
            {
             "name": "recipient",
             "type": "bytes32"
            },
            {
             "name": "callbackData",
             "type": "bytes"
            },
            {
             "name": "context",
             "type": "bytes"
            }
           ],
           "StandardOrder": [
            {
             "name": "user",
             "type": "address"
            },
            {
             "name": "nonce",
             "type": "uint256"
            },
            {
             "name": "originChainId",
             "type": "uint256"
            },
            {
             "name": "expires",
             "type": "uint32"
            },
            {
             "name": "fillDeadline",
             "type": "uint32"
            },
            {
             "name": "inputOracle",
             "type": "address"
            },
            {
             "name": "inputs",
             "type": "uint256[2][]"
            },
            {
             "name": "outputs",
             "type": "MandateOutput[]"
            }
           ]
          }
         },
         "type": "escrow-v0"
        },
        "platformFeeBps": 2,
        "preview": {
         "inputs": [
          {
           "amount": "2500000000",
           "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
           "decimals": 6,
           "priceUsd": 1,
           "symbol": "USDC"
          }
         ],
         "outputs": [
          {
           "amount": "1000000000000000000",
           "amountBeforeFees": "1000000000000000001",
           "asset": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
           "decimals": 18,
           "deltaFromMid": 0,
           "minimumAmount": "1000000000000000000",
           "priceUsd": 2500,
           "receiver": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
           "symbol": "WETH"
          }
         ]
        },
        "quoteId": "0x714444b0d514caed3497a182e3feb41c791fd5aba5ad4093436c887ddb70190e",
        "routingPath": "direct",
        "solverId": "lp-1",
        "splitFill": null,
        "validUntil": 1795295416,
        "validity": {
         "minValidUntil": null,
         "validUntil": 1795295416
        },
        "warnings": [],
        "integrityChecksum": "v1.k1.ce8e44ebed2690a526d29fa7564d8bc07ec2e7f6c4f7d00cbe93fff2c58b22ae.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawII1gAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEHJArIs2Vapw4jUX-azAdP44xlSXoGNlo0uSgCVgpMQO3vMgG324Wp3JA8HZD4yNrgY8XEqIXehryfbUh9G6ystGwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
       }
      ],
      "productUnavailable": null
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "413": {
     "body": {
      "error": {
       "code": "body_too_large",
       "message": "The body exceeds 256 KB."
      }
     }
    },
    "415": {
     "body": {
      "error": {
       "code": "unsupported_media_type",
       "message": "Send JSON with Content-Type: application/json."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "body",
         "taker"
        ],
        "msg": "Field required",
        "type": "missing"
       },
       {
        "loc": [
         "body",
         "input"
        ],
        "msg": "Field required",
        "type": "missing"
       },
       {
        "loc": [
         "body",
         "output"
        ],
        "msg": "Field required",
        "type": "missing"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "POST /api/v1/router/quotes": {
   "request": {
    "path": "/api/v1/router/quotes",
    "body": {
     "taker": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
     "input": {
      "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
      "amount": "2500000000"
     },
     "output": {
      "asset": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
     }
    }
   },
   "answers": {
    "200": {
     "body": {
      "requestId": "ffa1b42e9a8a68735707f984bec15d9e",
      "createdAt": "2026-11-21T21:09:17.017Z",
      "quotes": [
       {
        "composite": null,
        "eta": 2,
        "executionMode": "apiSubmit",
        "gas": {
         "native": "0",
         "usd": 0
        },
        "lpSpreadBps": 8,
        "order": {
         "payload": {
          "domain": {
           "chainId": 31401,
           "name": "EscrowV0",
           "verifyingContract": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "version": "1"
          },
          "message": {
           "expires": 1795295507,
           "fillDeadline": 1795295447,
           "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "inputs": [
            [
             "544736938678254300359118634283998226765381104394",
             "2500000000"
            ]
           ],
           "nonce": "45645907851720437235769329262604454462002082735825719914081736799740070011026",
           "originChainId": "31401",
           "outputs": [
            {
             "amount": "1000000000000000000",
             "callbackData": "0x",
             "chainId": "31401",
             "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d827100002000000000000000000000000000abe6f",
             "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
             "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
             "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
             "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
            }
           ],
           "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534"
          },
          "primaryType": "StandardOrder",
          "types": {
           "EIP712Domain": [
            {
             "name": "name",
             "type": "string"
            },
            {
             "name": "version",
             "type": "string"
            },
            {
             "name": "chainId",
             "type": "uint256"
            },
            {
             "name": "verifyingContract",
             "type": "address"
            }
           ],
           "MandateOutput": [
            {
             "name": "oracle",
             "type": "bytes32"
            },
            {
             "name": "settler",
             "type": "bytes32"
            },
            {
             "name": "chainId",
             "type": "uint256"
            },
            {
             "name": "token",
             "type": "bytes32"
            },
            {
             "name": "amount",
             "type": "uint256"
            },
            {
             "name": "recipient",
             "type": "bytes32"
            },
            {
             "name": "callbackData",
             "type": "bytes"
            },
            {
             "name": "context",
             "type": "bytes"
            }
           ],
           "StandardOrder": [
            {
             "name": "user",
             "type": "address"
            },
            {
             "name": "nonce",
             "type": "uint256"
            },
            {
             "name": "originChainId",
             "type": "uint256"
            },
            {
             "name": "expires",
             "type": "uint32"
            },
            {
             "name": "fillDeadline",
             "type": "uint32"
            },
            {
             "name": "inputOracle",
             "type": "address"
            },
            {
             "name": "inputs",
             "type": "uint256[2][]"
            },
            {
             "name": "outputs",
             "type": "MandateOutput[]"
            }
           ]
          }
         },
         "type": "escrow-v0"
        },
        "platformFeeBps": 2,
        "preview": {
         "inputs": [
          {
           "amount": "2500000000",
           "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
           "decimals": 6,
           "priceUsd": 1,
           "symbol": "USDC"
          }
         ],
         "outputs": [
          {
           "amount": "1000000000000000000",
           "asset": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
           "decimals": 18,
           "minimumAmount": "1000000000000000000",
           "priceUsd": 2500,
           "receiver": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
           "symbol": "WETH"
          }
         ]
        },
        "quoteId": "0x08e69a8b685f4c05832b2ae5db316b4221689e558a41b16c7b30911311394cb3",
        "routingPath": "direct",
        "solverId": "lp-1",
        "validUntil": 1795295417,
        "warnings": [],
        "integrityChecksum": "v1.k1.0d2609d420cde5d56840ca1a7efd22afca67ad1cb73756ba3221025b7ad2c802.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawII1wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEGtYBWPhwsPQ70ppX-xy0RCiBswtV8AqUGWxtihvGxN4iPnv6RKTijERrhT00M9iZuCpQxAUDLZbZp5nRsl3jESHAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
       }
      ],
      "productUnavailable": null
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "413": {
     "body": {
      "error": {
       "code": "body_too_large",
       "message": "The body exceeds 256 KB."
      }
     }
    },
    "415": {
     "body": {
      "error": {
       "code": "unsupported_media_type",
       "message": "Send JSON with Content-Type: application/json."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "body",
         "taker"
        ],
        "msg": "Field required",
        "type": "missing"
       },
       {
        "loc": [
         "body",
         "input"
        ],
        "msg": "Field required",
        "type": "missing"
       },
       {
        "loc": [
         "body",
         "output"
        ],
        "msg": "Field required",
        "type": "missing"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "POST /api/v1/rfq/orders": {
   "request": {
    "path": "/api/v1/rfq/orders",
    "body": {
     "quoteResponse": {
      "eta": 2,
      "executionMode": "apiSubmit",
      "gas": {
       "native": "0",
       "usd": 0
      },
      "lpSpreadBps": 8,
      "order": {
       "payload": {
        "domain": {
         "chainId": 31401,
         "name": "EscrowV0",
         "verifyingContract": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "version": "1"
        },
        "message": {
         "expires": 1795295507,
         "fillDeadline": 1795295447,
         "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "inputs": [
          [
           "544736938678254300359118634283998226765381104394",
           "2500000000"
          ]
         ],
         "nonce": "97567810379801962273265852225076229124109128524759718001836053167755088967835",
         "originChainId": "31401",
         "outputs": [
          {
           "amount": "1000000000000000000",
           "callbackData": "0x",
           "chainId": "31401",
           "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d827100002000000000000000000000000000abe6f",
           "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
           "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
          }
         ],
         "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534"
        },
        "primaryType": "StandardOrder",
        "types": {
         "EIP712Domain": [
          {
           "name": "name",
           "type": "string"
          },
          {
           "name": "version",
           "type": "string"
          },
          {
           "name": "chainId",
           "type": "uint256"
          },
          {
           "name": "verifyingContract",
           "type": "address"
          }
         ],
         "MandateOutput": [
          {
           "name": "oracle",
           "type": "bytes32"
          },
          {
           "name": "settler",
           "type": "bytes32"
          },
          {
           "name": "chainId",
           "type": "uint256"
          },
          {
           "name": "token",
           "type": "bytes32"
          },
          {
           "name": "amount",
           "type": "uint256"
          },
          {
           "name": "recipient",
           "type": "bytes32"
          },
          {
           "name": "callbackData",
           "type": "bytes"
          },
          {
           "name": "context",
           "type": "bytes"
          }
         ],
         "StandardOrder": [
          {
           "name": "user",
           "type": "address"
          },
          {
           "name": "nonce",
           "type": "uint256"
          },
          {
           "name": "originChainId",
           "type": "uint256"
          },
          {
           "name": "expires",
           "type": "uint32"
          },
          {
           "name": "fillDeadline",
           "type": "uint32"
          },
          {
           "name": "inputOracle",
           "type": "address"
          },
          {
           "name": "inputs",
           "type": "uint256[2][]"
          },
          {
           "name": "outputs",
           "type": "MandateOutput[]"
          }
         ]
        }
       },
       "type": "escrow-v0"
      },
      "platformFeeBps": 2,
      "preview": {
       "inputs": [
        {
         "amount": "2500000000",
         "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
         "decimals": 6,
         "priceUsd": 1,
         "symbol": "USDC"
        }
       ],
       "outputs": [
        {
         "amount": "1000000000000000000",
         "amountBeforeFees": "1000000000000000001",
         "asset": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
         "decimals": 18,
         "deltaFromMid": 0,
         "minimumAmount": "1000000000000000000",
         "priceUsd": 2500,
         "receiver": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
         "symbol": "WETH"
        }
       ]
      },
      "quoteId": "0x6467f847ddd4a26cac7e915b44c185da5332dc68cdaff319ec508eef2816818a",
      "routingPath": "direct",
      "solverId": "lp-1",
      "splitFill": null,
      "validUntil": 1795295417,
      "validity": {
       "minValidUntil": null,
       "validUntil": 1795295417
      },
      "warnings": [],
      "integrityChecksum": "v1.k1.0cfe3bee87676a72b2731c41d1e041ae818b41d9cb21b9d20c5f512cd45bb344.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawII1wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEEJZb3yfYeCFyrQl14zSX62INpg5t4Km_qbaAUYtRNNN3v2iOumjGuZbHt_7w-ltlwkugAOuFL2-AaOdnE3smbaHAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
     },
     "eip3009Authorization": {
      "signature": "0xe4af565865d0f6266c201e8935b0cca76b21828a4817eccd92188fb6013639f27bfc78e0ebc9b619744148efaa44cd5e7ee4b8b37efaa28288b2ea67428523b11c",
      "validAfter": 0,
      "validBefore": 1795295507,
      "nonce": "0x751322e60a58ba06a7c5bb07fe8c843d980e7cce007a5fe50f8b56947ac6465e"
     },
     "signature": "0x0eac7992174df1cadddec2f0b50b6cb6292c961fe0fc3feddee9d297b66627c1671ecdd39fe4f1111bd2c80ea46cd49e1bfbc29863a2f93a21ec2693e9a280771c"
    }
   },
   "answers": {
    "200": {
     "body": {
      "id": "0x2511bff5f9953e26a30971fba42afca9a37ae980f9f16a76c09bf8c94da41e08",
      "status": "pending",
      "quoteId": "0x6467f847ddd4a26cac7e915b44c185da5332dc68cdaff319ec508eef2816818a",
      "createdAt": "2026-11-21T21:09:17.196Z"
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "409": {
     "body": {
      "error": {
       "code": "idempotency_in_progress",
       "message": "A submission with this Idempotency-Key is still at work. Ask again in a moment for its result."
      }
     }
    },
    "413": {
     "body": {
      "error": {
       "code": "body_too_large",
       "message": "The body exceeds 256 KB."
      }
     }
    },
    "415": {
     "body": {
      "error": {
       "code": "unsupported_media_type",
       "message": "Send JSON with Content-Type: application/json."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "body",
         "quoteResponse"
        ],
        "msg": "Field required",
        "type": "missing"
       },
       {
        "loc": [
         "body",
         "signature"
        ],
        "msg": "Field required",
        "type": "missing"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "POST /api/v1/router/orders": {
   "request": {
    "path": "/api/v1/router/orders",
    "body": {
     "quoteResponse": {
      "composite": null,
      "eta": 2,
      "executionMode": "apiSubmit",
      "gas": {
       "native": "0",
       "usd": 0
      },
      "lpSpreadBps": 8,
      "order": {
       "payload": {
        "domain": {
         "chainId": 31401,
         "name": "EscrowV0",
         "verifyingContract": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "version": "1"
        },
        "message": {
         "expires": 1795295507,
         "fillDeadline": 1795295447,
         "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "inputs": [
          [
           "544736938678254300359118634283998226765381104394",
           "2500000000"
          ]
         ],
         "nonce": "30434892560545997074817607313274564529349498495209091532109268427475406467191",
         "originChainId": "31401",
         "outputs": [
          {
           "amount": "1000000000000000000",
           "callbackData": "0x",
           "chainId": "31401",
           "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d827100002000000000000000000000000000abe6f",
           "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
           "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
          }
         ],
         "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534"
        },
        "primaryType": "StandardOrder",
        "types": {
         "EIP712Domain": [
          {
           "name": "name",
           "type": "string"
          },
          {
           "name": "version",
           "type": "string"
          },
          {
           "name": "chainId",
           "type": "uint256"
          },
          {
           "name": "verifyingContract",
           "type": "address"
          }
         ],
         "MandateOutput": [
          {
           "name": "oracle",
           "type": "bytes32"
          },
          {
           "name": "settler",
           "type": "bytes32"
          },
          {
           "name": "chainId",
           "type": "uint256"
          },
          {
           "name": "token",
           "type": "bytes32"
          },
          {
           "name": "amount",
           "type": "uint256"
          },
          {
           "name": "recipient",
           "type": "bytes32"
          },
          {
           "name": "callbackData",
           "type": "bytes"
          },
          {
           "name": "context",
           "type": "bytes"
          }
         ],
         "StandardOrder": [
          {
           "name": "user",
           "type": "address"
          },
          {
           "name": "nonce",
           "type": "uint256"
          },
          {
           "name": "originChainId",
           "type": "uint256"
          },
          {
           "name": "expires",
           "type": "uint32"
          },
          {
           "name": "fillDeadline",
           "type": "uint32"
          },
          {
           "name": "inputOracle",
           "type": "address"
          },
          {
           "name": "inputs",
           "type": "uint256[2][]"
          },
          {
           "name": "outputs",
           "type": "MandateOutput[]"
          }
         ]
        }
       },
       "type": "escrow-v0"
      },
      "platformFeeBps": 2,
      "preview": {
       "inputs": [
        {
         "amount": "2500000000",
         "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
         "decimals": 6,
         "priceUsd": 1,
         "symbol": "USDC"
        }
       ],
       "outputs": [
        {
         "amount": "1000000000000000000",
         "asset": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
         "decimals": 18,
         "minimumAmount": "1000000000000000000",
         "priceUsd": 2500,
         "receiver": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
         "symbol": "WETH"
        }
       ]
      },
      "quoteId": "0xc8193163da978e8177f441ed8009eee43ebd2737e5e2894e9cfcb81e2348d7e5",
      "routingPath": "direct",
      "solverId": "lp-1",
      "validUntil": 1795295417,
      "warnings": [],
      "integrityChecksum": "v1.k1.9a129c0759912fb11a28c91001c466c730ae72ff4707b8a25dd4bf53126cfabf.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawII1wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEExLWDzDf7QBoZ1oMB2mCVJdMiXTemHCkGm91pFKJrCXWTfPVuV3wlVjYGG6fl3H8trBRI__rznRk2-6gizyu_vGwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
     },
     "eip3009Authorization": {
      "signature": "0x8bb6534d41ac7ad3a8252066fafc0c6fb054e2cbb9f1df31938cc65bd49d92cf0080994516ee6e7d317d3793b49b221cef5855f6aa21acb6d480b50c0c4008d51c",
      "validAfter": 0,
      "validBefore": 1795295507,
      "nonce": "0x24df44f96e92e8c16f777ee1813afd8312f8187200028e4e540103fb244abc19"
     },
     "signature": "0x72943ce2128bbca53f9886cb7358c3d58531e9df324b83f725ab0485a680d6ce7458d0ff00c99931b8c68c110a72803a51a74a3f0d72df364a006253265bce381b"
    }
   },
   "answers": {
    "200": {
     "body": {
      "id": "0x4454403a680a3fd7247c8cafab037d7a15fa83ec344d55725aa69e9441d6a44c",
      "status": "pending",
      "quoteId": "0xc8193163da978e8177f441ed8009eee43ebd2737e5e2894e9cfcb81e2348d7e5",
      "createdAt": "2026-11-21T21:09:17.998Z"
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "409": {
     "body": {
      "error": {
       "code": "idempotency_in_progress",
       "message": "A submission with this Idempotency-Key is still at work. Ask again in a moment for its result."
      }
     }
    },
    "413": {
     "body": {
      "error": {
       "code": "body_too_large",
       "message": "The body exceeds 256 KB."
      }
     }
    },
    "415": {
     "body": {
      "error": {
       "code": "unsupported_media_type",
       "message": "Send JSON with Content-Type: application/json."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "body",
         "quoteResponse"
        ],
        "msg": "Field required",
        "type": "missing"
       },
       {
        "loc": [
         "body",
         "signature"
        ],
        "msg": "Field required",
        "type": "missing"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "POST /api/v1/rfq/orders/preflight": {
   "request": {
    "path": "/api/v1/rfq/orders/preflight",
    "body": {
     "quoteResponse": {
      "eta": 2,
      "executionMode": "apiSubmit",
      "gas": {
       "native": "0",
       "usd": 0
      },
      "lpSpreadBps": 8,
      "order": {
       "payload": {
        "domain": {
         "chainId": 31401,
         "name": "EscrowV0",
         "verifyingContract": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "version": "1"
        },
        "message": {
         "expires": 1795295508,
         "fillDeadline": 1795295448,
         "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "inputs": [
          [
           "544736938678254300359118634283998226765381104394",
           "2500000000"
          ]
         ],
         "nonce": "52764208100225707085491400957688944713945200364369823704982259789741946219692",
         "originChainId": "31401",
         "outputs": [
          {
           "amount": "1000000000000000000",
           "callbackData": "0x",
           "chainId": "31401",
           "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d927100002000000000000000000000000000abe6f",
           "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
           "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
          }
         ],
         "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534"
        },
        "primaryType": "StandardOrder",
        "types": {
         "EIP712Domain": [
          {
           "name": "name",
           "type": "string"
          },
          {
           "name": "version",
           "type": "string"
          },
          {
           "name": "chainId",
           "type": "uint256"
          },
          {
           "name": "verifyingContract",
           "type": "address"
          }
         ],
         "MandateOutput": [
          {
           "name": "oracle",
           "type": "bytes32"
          },
          {
           "name": "settler",
           "type": "bytes32"
          },
          {
           "name": "chainId",
           "type": "uint256"
          },
          {
           "name": "token",
           "type": "bytes32"
          },
          {
           "name": "amount",
           "type": "uint256"
          },
          {
           "name": "recipient",
           "type": "bytes32"
          },
          {
           "name": "callbackData",
           "type": "bytes"
          },
          {
           "name": "context",
           "type": "bytes"
          }
         ],
         "StandardOrder": [
          {
           "name": "user",
           "type": "address"
          },
          {
           "name": "nonce",
           "type": "uint256"
          },
          {
           "name": "originChainId",
           "type": "uint256"
          },
          {
           "name": "expires",
           "type": "uint32"
          },
          {
           "name": "fillDeadline",
           "type": "uint32"
          },
          {
           "name": "inputOracle",
           "type": "address"
          },
          {
           "name": "inputs",
           "type": "uint256[2][]"
          },
          {
           "name": "outputs",
           "type": "MandateOutput[]"
          }
         ]
        }
       },
       "type": "escrow-v0"
      },
      "platformFeeBps": 2,
      "preview": {
       "inputs": [
        {
         "amount": "2500000000",
         "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
         "decimals": 6,
         "priceUsd": 1,
         "symbol": "USDC"
        }
       ],
       "outputs": [
        {
         "amount": "1000000000000000000",
         "amountBeforeFees": "1000000000000000001",
         "asset": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
         "decimals": 18,
         "deltaFromMid": 0,
         "minimumAmount": "1000000000000000000",
         "priceUsd": 2500,
         "receiver": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
         "symbol": "WETH"
        }
       ]
      },
      "quoteId": "0x411bc3a8c9e8cfeea2ab3f0e651db2a8dc4afc275ae27f966af64bf0b5b0342a",
      "routingPath": "direct",
      "solverId": "lp-1",
      "splitFill": null,
      "validUntil": 1795295418,
      "validity": {
       "minValidUntil": null,
       "validUntil": 1795295418
      },
      "warnings": [],
      "integrityChecksum": "v1.k1.386233d4d34c932f0776610c5dc5b5d9b028417883e378ae6205167e7eca0c07.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawII2AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEEWMgaF17XBViYqEtKrOmIJTUI3W4LuEBXVAuQTrX89dHTp8f4cihm0LoKaoF_Ksrlo-7AgfcHnW--kYU4zjCo6GwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
     }
    }
   },
   "answers": {
    "200": {
     "body": {
      "quoteId": "0x411bc3a8c9e8cfeea2ab3f0e651db2a8dc4afc275ae27f966af64bf0b5b0342a",
      "ready": true,
      "nextActions": [
       {
        "type": "signature",
        "purpose": "eip3009Authorization",
        "actor": "userWallet",
        "frequency": "perTrade",
        "chainId": 31401,
        "typedData": {
         "type": "eip712",
         "payload": {
          "domain": {
           "name": "USD Coin",
           "version": "2",
           "chainId": 31401,
           "verifyingContract": "0x5f6ad96140545757e40baf5f89ebe1583d9ff30a"
          },
          "types": {
           "EIP712Domain": [
            {
             "name": "name",
             "type": "string"
            },
            {
             "name": "version",
             "type": "string"
            },
            {
             "name": "chainId",
             "type": "uint256"
            },
            {
             "name": "verifyingContract",
             "type": "address"
            }
           ],
           "ReceiveWithAuthorization": [
            {
             "name": "from",
             "type": "address"
            },
            {
             "name": "to",
             "type": "address"
            },
            {
             "name": "value",
             "type": "uint256"
            },
            {
             "name": "validAfter",
             "type": "uint256"
            },
            {
             "name": "validBefore",
             "type": "uint256"
            },
            {
             "name": "nonce",
             "type": "bytes32"
            }
           ]
          },
          "primaryType": "ReceiveWithAuthorization",
          "message": {
           "from": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
           "to": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "value": "2500000000",
           "validAfter": "0",
           "validBefore": "1795295508",
           "nonce": "0x4117b8b3bac2002ce3ec2d4cb7a3dee4cee8193e10650ccb446b295f32810cf9"
          }
         }
        },
        "submitTo": "/api/v1/rfq/orders",
        "after": [],
        "details": {
         "resultIn": "eip3009Authorization",
         "validAfter": 0,
         "validBefore": 1795295508,
         "nonce": "0x4117b8b3bac2002ce3ec2d4cb7a3dee4cee8193e10650ccb446b295f32810cf9"
        }
       },
       {
        "type": "signature",
        "purpose": "orderSignature",
        "actor": "userWallet",
        "frequency": "perTrade",
        "chainId": 31401,
        "typedData": {
         "payload": {
          "domain": {
           "chainId": 31401,
           "name": "EscrowV0",
           "verifyingContract": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "version": "1"
          },
          "message": {
           "expires": 1795295508,
           "fillDeadline": 1795295448,
           "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "inputs": [
            [
             "544736938678254300359118634283998226765381104394",
             "2500000000"
            ]
           ],
           "nonce": "52764208100225707085491400957688944713945200364369823704982259789741946219692",
           "originChainId": "31401",
           "outputs": [
            {
             "amount": "1000000000000000000",
             "callbackData": "0x",
             "chainId": "31401",
             "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d927100002000000000000000000000000000abe6f",
             "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
             "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
             "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
             "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
            }
           ],
           "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534"
          },
          "primaryType": "StandardOrder",
          "types": {
           "EIP712Domain": [
            {
             "name": "name",
             "type": "string"
            },
            {
             "name": "version",
             "type": "string"
            },
            {
             "name": "chainId",
             "type": "uint256"
            },
            {
             "name": "verifyingContract",
             "type": "address"
            }
           ],
           "MandateOutput": [
            {
             "name": "oracle",
             "type": "bytes32"
            },
            {
             "name": "settler",
             "type": "bytes32"
            },
            {
             "name": "chainId",
             "type": "uint256"
            },
            {
             "name": "token",
             "type": "bytes32"
            },
            {
             "name": "amount",
             "type": "uint256"
            },
            {
             "name": "recipient",
             "type": "bytes32"
            },
            {
             "name": "callbackData",
             "type": "bytes"
            },
            {
             "name": "context",
             "type": "bytes"
            }
           ],
           "StandardOrder": [
            {
             "name": "user",
             "type": "address"
            },
            {
             "name": "nonce",
             "type": "uint256"
            },
            {
             "name": "originChainId",
             "type": "uint256"
            },
            {
             "name": "expires",
             "type": "uint32"
            },
            {
             "name": "fillDeadline",
             "type": "uint32"
            },
            {
             "name": "inputOracle",
             "type": "address"
            },
            {
             "name": "inputs",
             "type": "uint256[2][]"
            },
            {
             "name": "outputs",
             "type": "MandateOutput[]"
            }
           ]
          }
         },
         "type": "escrow-v0"
        },
        "submitTo": "/api/v1/rfq/orders",
        "after": []
       }
      ],
      "fundingLock": "EIP-3009",
      "lockDetails": {
       "signature": null,
       "validAfter": 0,
       "validBefore": 1795295508,
       "nonce": "0x4117b8b3bac2002ce3ec2d4cb7a3dee4cee8193e10650ccb446b295f32810cf9"
      }
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "413": {
     "body": {
      "error": {
       "code": "body_too_large",
       "message": "The body exceeds 256 KB."
      }
     }
    },
    "415": {
     "body": {
      "error": {
       "code": "unsupported_media_type",
       "message": "Send JSON with Content-Type: application/json."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "body",
         "quoteResponse"
        ],
        "msg": "Field required",
        "type": "missing"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "POST /api/v1/router/orders/preflight": {
   "request": {
    "path": "/api/v1/router/orders/preflight",
    "body": {
     "quoteResponse": {
      "composite": null,
      "eta": 2,
      "executionMode": "apiSubmit",
      "gas": {
       "native": "0",
       "usd": 0
      },
      "lpSpreadBps": 8,
      "order": {
       "payload": {
        "domain": {
         "chainId": 31401,
         "name": "EscrowV0",
         "verifyingContract": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "version": "1"
        },
        "message": {
         "expires": 1795295508,
         "fillDeadline": 1795295448,
         "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "inputs": [
          [
           "544736938678254300359118634283998226765381104394",
           "2500000000"
          ]
         ],
         "nonce": "89882109179318372667398178162786445163033549791376325049101209239172739846646",
         "originChainId": "31401",
         "outputs": [
          {
           "amount": "1000000000000000000",
           "callbackData": "0x",
           "chainId": "31401",
           "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d927100002000000000000000000000000000abe6f",
           "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
           "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
          }
         ],
         "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534"
        },
        "primaryType": "StandardOrder",
        "types": {
         "EIP712Domain": [
          {
           "name": "name",
           "type": "string"
          },
          {
           "name": "version",
           "type": "string"
          },
          {
           "name": "chainId",
           "type": "uint256"
          },
          {
           "name": "verifyingContract",
           "type": "address"
          }
         ],
         "MandateOutput": [
          {
           "name": "oracle",
           "type": "bytes32"
          },
          {
           "name": "settler",
           "type": "bytes32"
          },
          {
           "name": "chainId",
           "type": "uint256"
          },
          {
           "name": "token",
           "type": "bytes32"
          },
          {
           "name": "amount",
           "type": "uint256"
          },
          {
           "name": "recipient",
           "type": "bytes32"
          },
          {
           "name": "callbackData",
           "type": "bytes"
          },
          {
           "name": "context",
           "type": "bytes"
          }
         ],
         "StandardOrder": [
          {
           "name": "user",
           "type": "address"
          },
          {
           "name": "nonce",
           "type": "uint256"
          },
          {
           "name": "originChainId",
           "type": "uint256"
          },
          {
           "name": "expires",
           "type": "uint32"
          },
          {
           "name": "fillDeadline",
           "type": "uint32"
          },
          {
           "name": "inputOracle",
           "type": "address"
          },
          {
           "name": "inputs",
           "type": "uint256[2][]"
          },
          {
           "name": "outputs",
           "type": "MandateOutput[]"
          }
         ]
        }
       },
       "type": "escrow-v0"
      },
      "platformFeeBps": 2,
      "preview": {
       "inputs": [
        {
         "amount": "2500000000",
         "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
         "decimals": 6,
         "priceUsd": 1,
         "symbol": "USDC"
        }
       ],
       "outputs": [
        {
         "amount": "1000000000000000000",
         "asset": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
         "decimals": 18,
         "minimumAmount": "1000000000000000000",
         "priceUsd": 2500,
         "receiver": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
         "symbol": "WETH"
        }
       ]
      },
      "quoteId": "0x5495f032d56c726aa1e13b89efc55dbd64ca2ae2eb50768b3caca757b1efeb5c",
      "routingPath": "direct",
      "solverId": "lp-1",
      "validUntil": 1795295418,
      "warnings": [],
      "integrityChecksum": "v1.k1.9ce22827cc6f2ce850232e38bf9d6d9fbeb5b82988ad7b20736a0fde6d13ed94.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawII2AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEEDX87GAdJzcKjp1Dlns4Qe-rLbT8kM6UKdoRihGLaIBgeMsvUEGmkguY7hQ6S7slmYeayWo9IfmNZPckLJO7iwGwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
     }
    }
   },
   "answers": {
    "200": {
     "body": {
      "quoteId": "0x5495f032d56c726aa1e13b89efc55dbd64ca2ae2eb50768b3caca757b1efeb5c",
      "ready": true,
      "nextActions": [
       {
        "type": "signature",
        "purpose": "eip3009Authorization",
        "actor": "userWallet",
        "frequency": "perTrade",
        "chainId": 31401,
        "typedData": {
         "type": "eip712",
         "payload": {
          "domain": {
           "name": "USD Coin",
           "version": "2",
           "chainId": 31401,
           "verifyingContract": "0x5f6ad96140545757e40baf5f89ebe1583d9ff30a"
          },
          "types": {
           "EIP712Domain": [
            {
             "name": "name",
             "type": "string"
            },
            {
             "name": "version",
             "type": "string"
            },
            {
             "name": "chainId",
             "type": "uint256"
            },
            {
             "name": "verifyingContract",
             "type": "address"
            }
           ],
           "ReceiveWithAuthorization": [
            {
             "name": "from",
             "type": "address"
            },
            {
             "name": "to",
             "type": "address"
            },
            {
             "name": "value",
             "type": "uint256"
            },
            {
             "name": "validAfter",
             "type": "uint256"
            },
            {
             "name": "validBefore",
             "type": "uint256"
            },
            {
             "name": "nonce",
             "type": "bytes32"
            }
           ]
          },
          "primaryType": "ReceiveWithAuthorization",
          "message": {
           "from": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
           "to": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "value": "2500000000",
           "validAfter": "0",
           "validBefore": "1795295508",
           "nonce": "0x01946379c04049733dac248be0f08e760ba1ea9be814b0effb49fa10b188d061"
          }
         }
        },
        "submitTo": "/api/v1/router/orders",
        "after": [],
        "details": {
         "resultIn": "eip3009Authorization",
         "validAfter": 0,
         "validBefore": 1795295508,
         "nonce": "0x01946379c04049733dac248be0f08e760ba1ea9be814b0effb49fa10b188d061"
        }
       },
       {
        "type": "signature",
        "purpose": "orderSignature",
        "actor": "userWallet",
        "frequency": "perTrade",
        "chainId": 31401,
        "typedData": {
         "payload": {
          "domain": {
           "chainId": 31401,
           "name": "EscrowV0",
           "verifyingContract": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "version": "1"
          },
          "message": {
           "expires": 1795295508,
           "fillDeadline": 1795295448,
           "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "inputs": [
            [
             "544736938678254300359118634283998226765381104394",
             "2500000000"
            ]
           ],
           "nonce": "89882109179318372667398178162786445163033549791376325049101209239172739846646",
           "originChainId": "31401",
           "outputs": [
            {
             "amount": "1000000000000000000",
             "callbackData": "0x",
             "chainId": "31401",
             "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d927100002000000000000000000000000000abe6f",
             "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
             "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
             "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
             "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
            }
           ],
           "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534"
          },
          "primaryType": "StandardOrder",
          "types": {
           "EIP712Domain": [
            {
             "name": "name",
             "type": "string"
            },
            {
             "name": "version",
             "type": "string"
            },
            {
             "name": "chainId",
             "type": "uint256"
            },
            {
             "name": "verifyingContract",
             "type": "address"
            }
           ],
           "MandateOutput": [
            {
             "name": "oracle",
             "type": "bytes32"
            },
            {
             "name": "settler",
             "type": "bytes32"
            },
            {
             "name": "chainId",
             "type": "uint256"
            },
            {
             "name": "token",
             "type": "bytes32"
            },
            {
             "name": "amount",
             "type": "uint256"
            },
            {
             "name": "recipient",
             "type": "bytes32"
            },
            {
             "name": "callbackData",
             "type": "bytes"
            },
            {
             "name": "context",
             "type": "bytes"
            }
           ],
           "StandardOrder": [
            {
             "name": "user",
             "type": "address"
            },
            {
             "name": "nonce",
             "type": "uint256"
            },
            {
             "name": "originChainId",
             "type": "uint256"
            },
            {
             "name": "expires",
             "type": "uint32"
            },
            {
             "name": "fillDeadline",
             "type": "uint32"
            },
            {
             "name": "inputOracle",
             "type": "address"
            },
            {
             "name": "inputs",
             "type": "uint256[2][]"
            },
            {
             "name": "outputs",
             "type": "MandateOutput[]"
            }
           ]
          }
         },
         "type": "escrow-v0"
        },
        "submitTo": "/api/v1/router/orders",
        "after": []
       }
      ],
      "fundingLock": "EIP-3009",
      "lockDetails": {
       "signature": null,
       "validAfter": 0,
       "validBefore": 1795295508,
       "nonce": "0x01946379c04049733dac248be0f08e760ba1ea9be814b0effb49fa10b188d061"
      }
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "413": {
     "body": {
      "error": {
       "code": "body_too_large",
       "message": "The body exceeds 256 KB."
      }
     }
    },
    "415": {
     "body": {
      "error": {
       "code": "unsupported_media_type",
       "message": "Send JSON with Content-Type: application/json."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "body",
         "quoteResponse"
        ],
        "msg": "Field required",
        "type": "missing"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "GET /api/v1/rfq/orders/{id}": {
   "request": {
    "path": "/api/v1/rfq/orders/0xc692d26aa7f7c68df55ef0b45e9c3139c116079d63b5bd906ea57e92b762f509"
   },
   "answers": {
    "200": {
     "body": {
      "id": "0xc692d26aa7f7c68df55ef0b45e9c3139c116079d63b5bd906ea57e92b762f509",
      "status": "pending",
      "quoteId": "0xe0d12c0807869f671543599fd1eab6a2350aca0db908f9895fe9ed8b5d533afe",
      "createdAt": "2026-11-21T21:09:19.099Z",
      "updatedAt": "2026-11-21T21:09:19.099Z",
      "stage": "awaiting_escrow"
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "404": {
     "body": {
      "error": {
       "code": "not_found",
       "message": "No such order."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "query",
         "colour"
        ],
        "msg": "Extra inputs are not permitted",
        "type": "extra_forbidden"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "GET /api/v1/rfq/pairs": {
   "request": {
    "path": "/api/v1/rfq/pairs"
   },
   "answers": {
    "200": {
     "body": {
      "chain1": 31401,
      "tron-shasta": 2494104990
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "query",
         "colour"
        ],
        "msg": "Extra inputs are not permitted",
        "type": "extra_forbidden"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "GET /api/v1/router/orders/{id}": {
   "request": {
    "path": "/api/v1/router/orders/0xdf2b5ca6077c4f46effe3a331e2f008865d9c29225adeac0acd4af85202dfd03"
   },
   "answers": {
    "200": {
     "body": {
      "id": "0xdf2b5ca6077c4f46effe3a331e2f008865d9c29225adeac0acd4af85202dfd03",
      "status": "pending",
      "quoteId": "0x2abbd107ecb262b5de4316e2f05f0bc88c79622a22b4d3f1a5db9772e9ad67ab",
      "createdAt": "2026-11-21T21:09:19.418Z",
      "updatedAt": "2026-11-21T21:09:19.418Z",
      "stage": "awaiting_escrow"
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "404": {
     "body": {
      "error": {
       "code": "not_found",
       "message": "No such order."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "query",
         "colour"
        ],
        "msg": "Extra inputs are not permitted",
        "type": "extra_forbidden"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "GET /api/v1/router/pairs": {
   "request": {
    "path": "/api/v1/router/pairs"
   },
   "answers": {
    "200": {
     "body": {
      "chain1": 31401,
      "tron-shasta": 2494104990
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "query",
         "colour"
        ],
        "msg": "Extra inputs are not permitted",
        "type": "extra_forbidden"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "GET /api/v1/rfq/solvers": {
   "request": {
    "path": "/api/v1/rfq/solvers?status=active&corridor=chain1-chain1"
   },
   "answers": {
    "200": {
     "body": {
      "solvers": [
       {
        "id": "lp-1",
        "status": "active",
        "kind": "lp",
        "corridors": [
         "chain1-chain1"
        ],
        "firstSeenAt": "2026-11-21T21:09:14.985Z",
        "lastQuoteAt": "2026-11-21T21:09:19.278Z",
        "eligibilityNote": null
       }
      ]
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "query",
         "colour"
        ],
        "msg": "Extra inputs are not permitted",
        "type": "extra_forbidden"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "GET /api/v1/router/solvers": {
   "request": {
    "path": "/api/v1/router/solvers?status=active&corridor=chain1-chain1"
   },
   "answers": {
    "200": {
     "body": {
      "solvers": [
       {
        "id": "lp-1",
        "status": "active",
        "kind": "lp",
        "corridors": [
         "chain1-chain1"
        ],
        "firstSeenAt": "2026-11-21T21:09:14.985Z",
        "lastQuoteAt": "2026-11-21T21:09:19.278Z",
        "eligibilityNote": null
       }
      ]
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "query",
         "colour"
        ],
        "msg": "Extra inputs are not permitted",
        "type": "extra_forbidden"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "GET /api/v1/solvers": {
   "request": {
    "path": "/api/v1/solvers?status=active&corridor=chain1-chain1"
   },
   "answers": {
    "200": {
     "body": {
      "solvers": [
       {
        "id": "lp-1",
        "status": "active",
        "kind": "lp",
        "corridors": [
         "chain1-chain1"
        ],
        "firstSeenAt": "2026-11-21T21:09:14.985Z",
        "lastQuoteAt": "2026-11-21T21:09:19.278Z",
        "eligibilityNote": null
       }
      ]
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a service key; the one sent is a workspace key."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "query",
         "colour"
        ],
        "msg": "Extra inputs are not permitted",
        "type": "extra_forbidden"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "GET /api/v1/workspaces/{id}/trades": {
   "request": {
    "path": "/api/v1/workspaces/w1/trades?status=all&limit=2&sort=created_at&direction=desc"
   },
   "answers": {
    "200": {
     "body": {
      "items": [
       {
        "orderId": "0xdf2b5ca6077c4f46effe3a331e2f008865d9c29225adeac0acd4af85202dfd03",
        "createdAt": "2026-11-21T21:09:19.418Z",
        "sourceChain": "chain1",
        "destChain": "chain1",
        "route": {
         "input": {
          "asset": {
           "assetId": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
           "symbol": "USDC",
           "resolutionStatus": "resolved",
           "name": "USD Coin",
           "decimals": 6,
           "chainId": 31401,
           "chainRef": "eip155:31401",
           "address": "0x5f6ad96140545757e40baf5f89ebe1583d9ff30a"
          },
          "rawAmount": "2500000000",
          "decimalAmount": "2500"
         },
         "output": {
          "asset": {
           "assetId": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
           "symbol": "WETH",
           "resolutionStatus": "resolved",
           "name": "Wrapped Ether",
           "decimals": 18,
           "chainId": 31401,
           "chainRef": "eip155:31401",
           "address": "0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
          },
          "rawAmount": "1000000000000000000",
          "decimalAmount": "1"
         }
        },
        "amountUsd": 2500,
        "lpName": "lp-1",
        "lpSource": "roster",
        "routingPathLabel": "Direct",
        "status": "pending",
        "settlementStatus": "awaiting_escrow",
        "lifecycleStatus": {
         "flowKind": "same_chain",
         "primary": {
          "key": "awaiting_escrow",
          "label": "Awaiting escrow",
          "tone": "neutral"
         },
         "execution": {
          "key": "quoted",
          "label": "Quoted",
          "tone": "neutral"
         },
         "settlement": {
          "key": "none",
          "label": "Not opened",
          "tone": "neutral"
         },
         "withdrawal": {
          "key": "none",
          "label": "None",
          "tone": "neutral"
         },
         "isTerminal": false,
         "rank": 0,
         "rawStatus": "awaiting_escrow",
         "rawDeferredStatus": null
        },
        "executionPrice": {
         "source": "stored_quote_price",
         "value": "0.0004",
         "baseSymbol": "USDC",
         "quoteSymbol": "WETH"
        },
        "member": null,
        "routingPath": {
         "type": "direct",
         "brokerWorkspaceId": null,
         "brokerName": null
        },
        "orderKind": "rfq_direct",
        "deferredSettlement": null,
        "settlementSpeedMs": null,
        "slippageBps": null
       },
       {
        "orderId": "0xc692d26aa7f7c68df55ef0b45e9c3139c116079d63b5bd906ea57e92b762f509",
        "createdAt": "2026-11-21T21:09:19.099Z",
        "sourceChain": "chain1",
        "destChain": "chain1",
        "route": {
         "input": {
          "asset": {
           "assetId": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
           "symbol": "USDC",
           "resolutionStatus": "resolved",
           "name": "USD Coin",
           "decimals": 6,
           "chainId": 31401,
           "chainRef": "eip155:31401",
           "address": "0x5f6ad96140545757e40baf5f89ebe1583d9ff30a"
          },
          "rawAmount": "2500000000",
          "decimalAmount": "2500"
         },
         "output": {
          "asset": {
           "assetId": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
           "symbol": "WETH",
           "resolutionStatus": "resolved",
           "name": "Wrapped Ether",
           "decimals": 18,
           "chainId": 31401,
           "chainRef": "eip155:31401",
           "address": "0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
          },
          "rawAmount": "1000000000000000000",
          "decimalAmount": "1"
         }
        },
        "amountUsd": 2500,
        "lpName": "lp-1",
        "lpSource": "roster",
        "routingPathLabel": "Direct",
        "status": "pending",
        "settlementStatus": "awaiting_escrow",
        "lifecycleStatus": {
         "flowKind": "same_chain",
         "primary": {
          "key": "awaiting_escrow",
          "label": "Awaiting escrow",
          "tone": "neutral"
         },
         "execution": {
          "key": "quoted",
          "label": "Quoted",
          "tone": "neutral"
         },
         "settlement": {
          "key": "none",
          "label": "Not opened",
          "tone": "neutral"
         },
         "withdrawal": {
          "key": "none",
          "label": "None",
          "tone": "neutral"
         },
         "isTerminal": false,
         "rank": 0,
         "rawStatus": "awaiting_escrow",
         "rawDeferredStatus": null
        },
        "executionPrice": {
         "source": "stored_quote_price",
         "value": "0.0004",
         "baseSymbol": "USDC",
         "quoteSymbol": "WETH"
        },
        "member": null,
        "routingPath": {
         "type": "direct",
         "brokerWorkspaceId": null,
         "brokerName": null
        },
        "orderKind": "rfq_direct",
        "deferredSettlement": null,
        "settlementSpeedMs": null,
        "slippageBps": null
       }
      ],
      "total": 7,
      "offset": 0,
      "limit": 2
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a workspace key; the one sent is a service key."
      }
     }
    },
    "404": {
     "body": {
      "error": {
       "code": "not_found",
       "message": "No such workspace or trade."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "query",
         "colour"
        ],
        "msg": "Extra inputs are not permitted",
        "type": "extra_forbidden"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "GET /api/v1/workspaces/{id}/trades/export": {
   "request": {
    "path": "/api/v1/workspaces/w1/trades/export?status=all"
   },
   "answers": {
    "200": {
     "body": "orderId,createdAt,sourceChain,destChain,inputSymbol,inputAmount,inputAsset,outputSymbol,outputAmount,outputAsset,amountUsd,lpName,lpSource,routingPath,orderKind,status,settlementStatus,executionPrice,slippageBps,settlementSpeedMs,platformFeeBps,lpSpreadBps,submitTxHash,fillTxHash,finaliseTxHash,refundTxHash,memberName,memberEmail\r\n0xdf2b5ca6077c4f46effe3a331e2f008865d9c29225adeac0acd4af85202dfd03,2026-11-21T21:09:19.418Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0xc692d26aa7f7c68df55ef0b45e9c3139c116079d63b5bd906ea57e92b762f509,2026-11-21T21:09:19.099Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0xfcff533a5aa04a0cdb95e1e8c95658b541ab26bf78aa926ca5934a38e1210447,2026-11-21T21:09:18.448Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0x4454403a680a3fd7247c8cafab037d7a15fa83ec344d55725aa69e9441d6a44c,2026-11-21T21:09:17.998Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0xa2dd2b995ba0b63eefe458539113553405eef7609445238dfc8ed6d314490071,2026-11-21T21:09:17.460Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0x2511bff5f9953e26a30971fba42afca9a37ae980f9f16a76c09bf8c94da41e08,2026-11-21T21:09:17.196Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0xe61cdbd1c11ad2f06d172f36ef316a984fee1301b85508b4e28a4a0530535466,2026-11-21T21:09:16.304Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,failed,failed,0.0004,,,2,8,,,,,,\r\n"
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a workspace key; the one sent is a service key."
      }
     }
    },
    "404": {
     "body": {
      "error": {
       "code": "not_found",
       "message": "No such workspace or trade."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "query",
         "colour"
        ],
        "msg": "Extra inputs are not permitted",
        "type": "extra_forbidden"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  },
  "GET /api/v1/workspaces/{id}/trades/{orderId}": {
   "request": {
    "path": "/api/v1/workspaces/w1/trades/0x417b8cf094f9431205d397dcc9b4653924b0502e94f9ea14403d217016e00ff8"
   },
   "answers": {
    "200": {
     "body": {
      "trade": {
       "orderId": "0x417b8cf094f9431205d397dcc9b4653924b0502e94f9ea14403d217016e00ff8",
       "createdAt": "2026-11-21T21:09:20.192Z",
       "sourceChain": "chain1",
       "destChain": "chain1",
       "route": {
        "input": {
         "asset": {
          "assetId": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
          "symbol": "USDC",
          "resolutionStatus": "resolved",
          "name": "USD Coin",
          "decimals": 6,
          "chainId": 31401,
          "chainRef": "eip155:31401",
          "address": "0x5f6ad96140545757e40baf5f89ebe1583d9ff30a"
         },
         "rawAmount": "2500000000",
         "decimalAmount": "2500"
        },
        "output": {
         "asset": {
          "assetId": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
          "symbol": "WETH",
          "resolutionStatus": "resolved",
          "name": "Wrapped Ether",
          "decimals": 18,
          "chainId": 31401,
          "chainRef": "eip155:31401",
          "address": "0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48"
         },
         "rawAmount": "1000000000000000000",
         "decimalAmount": "1"
        }
       },
       "amountUsd": 2500,
       "lpName": "lp-1",
       "lpSource": "roster",
       "routingPathLabel": "Direct",
       "status": "pending",
       "settlementStatus": "awaiting_escrow",
       "lifecycleStatus": {
        "flowKind": "same_chain",
        "primary": {
         "key": "awaiting_escrow",
         "label": "Awaiting escrow",
         "tone": "neutral"
        },
        "execution": {
         "key": "quoted",
         "label": "Quoted",
         "tone": "neutral"
        },
        "settlement": {
         "key": "none",
         "label": "Not opened",
         "tone": "neutral"
        },
        "withdrawal": {
         "key": "none",
         "label": "None",
         "tone": "neutral"
        },
        "isTerminal": false,
        "rank": 0,
        "rawStatus": "awaiting_escrow",
        "rawDeferredStatus": null
       },
       "executionPrice": {
        "source": "stored_quote_price",
        "value": "0.0004",
        "baseSymbol": "USDC",
        "quoteSymbol": "WETH"
       },
       "routingPath": {
        "type": "direct",
        "brokerWorkspaceId": null,
        "brokerName": null
       },
       "orderKind": "rfq_direct",
       "deferredSettlement": null,
       "settlementSpeedMs": null,
       "slippageBps": null,
       "member": null,
       "filledAt": null,
       "slippageToleranceBps": 0
      },
      "settlement": {
       "stages": {
        "submit": null,
        "fill": null,
        "proof": null,
        "finalise": null
       },
       "transactions": []
      },
      "lp": {
       "id": "lp-1",
       "name": "lp-1",
       "kind": "lp",
       "spreadBps": 8,
       "slices": [
        {
         "solverId": "lp-1",
         "name": "lp-1",
         "account": "0xac008293ecb0b31315760fd80cc159d55cb40284",
         "portionBps": 10000,
         "outputAmount": "1000000000000000000",
         "deliveredAmount": null
        }
       ]
      },
      "substatus": "awaiting_submission",
      "substatusMessage": "The venue is about to put the trade on chain. If that cannot be done by 2026-11-21T21:10:50.000Z, it fails and nothing is taken.",
      "member": null,
      "compliance": {
       "decision": "not_screened",
       "taker": {
        "address": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
        "decision": "not_screened",
        "checks": []
       },
       "receiver": {
        "address": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
        "decision": "not_screened",
        "checks": []
       }
      },
      "snapshotCompliance": {
       "decision": "not_screened",
       "taker": {
        "address": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
        "decision": "not_screened",
        "checks": []
       },
       "receiver": {
        "address": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
        "decision": "not_screened",
        "checks": []
       }
      },
      "travelRuleTransmission": null,
      "complianceProofs": {
       "takerSignature": {
        "proves": "The taker agreed to exactly these inputs, outputs, recipients and times, on this escrow and no other.",
        "scheme": "EIP712",
        "signer": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
        "digest": "0x1fab81af6eb3aa0151ccf8536cf32e3cb2a1e368df925c71649f37a1dc90c927",
        "signature": "0x52f1b9f8ec1d79dd56dbf225a72cbf85903e65f61c0707e0c32ef105960e412f582315aee295ffb331acdcd54078d43d14507f31954481c42ae5af24ce7078001c"
       },
       "commitments": [
        {
         "proves": "The LP promised to pay output 0 of exactly this order until the deadline, from its balance in the escrow.",
         "outputIndex": 0,
         "lp": "0xac008293ecb0b31315760fd80cc159d55cb40284",
         "quoteId": "0x3fdef07fce54aa949e7ed1a8d4e7c7363b00401ff21a256b98c9dce9c657c708",
         "deadline": 1795295450,
         "digest": "0xd5f4fbc5f5ed238bcbecc918d014c2b2bcc2c742afe98f3c8a3b9243c68bd8dd",
         "signature": "0x2334e1ec24c7ad6ed6c1b59e1bc7253f040ac9649f0d17366ee30b5da11add78373e960d163db1652337c6200759f2c29b2223a117f23edea091cdf6ec9522151b"
        }
       ],
       "checksum": {
        "proves": "The venue showed the taker the terms that were submitted; the LP commitments travel inside it. Only the venue can recompute its MAC.",
        "value": "v1.k1.e428b2c262bb61ffa0fce4ba01751af0b7cd711702ddb322d51b20b4719a1bdf.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawII2gAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEEjNOHsJMetbtbBtZ4bxyU_BArJZJ8NFzZu4wtdoRrdeDc-lg0WPbFlIzfGIAdZ8sKbIiOhF_I-3qCRzfbslSIVGwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
       },
       "receipts": [],
       "attestations": []
      },
      "intent": {
       "standard": "ERC-7683",
       "orderId": "0x417b8cf094f9431205d397dcc9b4653924b0502e94f9ea14403d217016e00ff8",
       "quoteId": "0x3fdef07fce54aa949e7ed1a8d4e7c7363b00401ff21a256b98c9dce9c657c708",
       "originSettler": "0x9a143349beab222794b47f0bafb62ba0618d9836",
       "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
       "nonce": "86094876690894385462348060491322121000107872835277110512699871329413634880427",
       "originChainId": 31401,
       "openDeadline": 1795295450,
       "fillDeadline": 1795295450,
       "orderDataType": "0xa74d5f5c9a472669efb0d9b2432d99583be36c46d0352c45a4898b466ab9b4ab",
       "orderData": "0x00000000000000000000000000000000000000000000000000000000000000200000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534be57f92da5394da95c79c5d0487b32f2652a9a225997b39f88af6a947a1a73ab0000000000000000000000000000000000000000000000000000000000007aa9000000000000000000000000000000000000000000000000000000006b020916000000000000000000000000000000000000000000000000000000006b0208da0000000000000000000000009a143349beab222794b47f0bafb62ba0618d98360000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000016000000000000000000000000000000000000000000000000000000000000000010000000000000000000000005f6ad96140545757e40baf5f89ebe1583d9ff30a000000000000000000000000000000000000000000000000000000009502f900000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000200000000000000000000000009a143349beab222794b47f0bafb62ba0618d98360000000000000000000000009a143349beab222794b47f0bafb62ba0618d98360000000000000000000000000000000000000000000000000000000000007aa90000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf480000000000000000000000000000000000000000000000000de0b6b3a76400000000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c695340000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000012000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000039e2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208db27100002000000000000000000000000000abe6f00000000000000",
       "expires": 1795295510,
       "resolved": {
        "maxSpent": [
         {
          "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
          "amount": "1000000000000000000",
          "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
          "chainId": 31401
         }
        ],
        "minReceived": [
         {
          "token": "0x0000000000000000000000005f6ad96140545757e40baf5f89ebe1583d9ff30a",
          "amount": "2500000000",
          "recipient": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
          "chainId": 31401
         }
        ],
        "fillInstructions": [
         {
          "destinationChainId": 31401,
          "destinationSettler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
          "originData": "0x00000000000000000000000000000000000000000000000000000000000000200000000000000000000000009a143349beab222794b47f0bafb62ba0618d98360000000000000000000000009a143349beab222794b47f0bafb62ba0618d98360000000000000000000000000000000000000000000000000000000000007aa90000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf480000000000000000000000000000000000000000000000000de0b6b3a76400000000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c695340000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000012000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000039e2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208db27100002000000000000000000000000000abe6f00000000000000"
         }
        ]
       },
       "typedData": {
        "domain": {
         "name": "EscrowV0",
         "version": "1",
         "chainId": 31401,
         "verifyingContract": "0x9a143349beab222794b47f0bafb62ba0618d9836"
        },
        "types": {
         "EIP712Domain": [
          {
           "name": "name",
           "type": "string"
          },
          {
           "name": "version",
           "type": "string"
          },
          {
           "name": "chainId",
           "type": "uint256"
          },
          {
           "name": "verifyingContract",
           "type": "address"
          }
         ],
         "StandardOrder": [
          {
           "name": "user",
           "type": "address"
          },
          {
           "name": "nonce",
           "type": "uint256"
          },
          {
           "name": "originChainId",
           "type": "uint256"
          },
          {
           "name": "expires",
           "type": "uint32"
          },
          {
           "name": "fillDeadline",
           "type": "uint32"
          },
          {
           "name": "inputOracle",
           "type": "address"
          },
          {
           "name": "inputs",
           "type": "uint256[2][]"
          },
          {
           "name": "outputs",
           "type": "MandateOutput[]"
          }
         ],
         "MandateOutput": [
          {
           "name": "oracle",
           "type": "bytes32"
          },
          {
           "name": "settler",
           "type": "bytes32"
          },
          {
           "name": "chainId",
           "type": "uint256"
          },
          {
           "name": "token",
           "type": "bytes32"
          },
          {
           "name": "amount",
           "type": "uint256"
          },
          {
           "name": "recipient",
           "type": "bytes32"
          },
          {
           "name": "callbackData",
           "type": "bytes"
          },
          {
           "name": "context",
           "type": "bytes"
          }
         ]
        },
        "primaryType": "StandardOrder",
        "message": {
         "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
         "nonce": "86094876690894385462348060491322121000107872835277110512699871329413634880427",
         "originChainId": "31401",
         "expires": 1795295510,
         "fillDeadline": 1795295450,
         "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "inputs": [
          [
           "544736938678254300359118634283998226765381104394",
           "2500000000"
          ]
         ],
         "outputs": [
          {
           "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
           "amount": "1000000000000000000",
           "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "chainId": "31401",
           "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208db27100002000000000000000000000000000abe6f",
           "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
           "callbackData": "0x"
          }
         ]
        }
       },
       "funding": {
        "mode": "eip3009",
        "data": "0x1200000000000000000000000000000000000000000000000000000000000000a00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000006b0209167736fe9a10d392069feb058dde806173ad0e95d6351c1573a0d593fcbcc60c9a0000000000000000000000000000000000000000000000000000000000000120000000000000000000000000000000000000000000000000000000000000004152f1b9f8ec1d79dd56dbf225a72cbf85903e65f61c0707e0c32ef105960e412f582315aee295ffb331acdcd54078d43d14507f31954481c42ae5af24ce7078001c00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004178d7466f546f70b3d8d0960c42feaf9caddf4469f09bbc8d471535a9b67917174c0232b530e39f52967f722d03051c9bf6cba742964a2cc8362c99809c37dbe61c00000000000000000000000000000000000000000000000000000000000000"
       },
       "signatures": {
        "taker": {
         "scheme": "EIP712",
         "signature": "0x52f1b9f8ec1d79dd56dbf225a72cbf85903e65f61c0707e0c32ef105960e412f582315aee295ffb331acdcd54078d43d14507f31954481c42ae5af24ce7078001c"
        },
        "commitments": [
         {
          "lp": "0xac008293ecb0b31315760fd80cc159d55cb40284",
          "deadline": 1795295450,
          "signature": "0x2334e1ec24c7ad6ed6c1b59e1bc7253f040ac9649f0d17366ee30b5da11add78373e960d163db1652337c6200759f2c29b2223a117f23edea091cdf6ec9522151b"
         }
        ]
       }
      },
      "fees": {
       "gas": {
        "amount": "0",
        "asset": "eip155:31401/slip44:60",
        "usd": null
       },
       "protocolFee": {
        "amount": "500000",
        "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
        "usd": 0.5
       },
       "solverFee": {
        "amount": "800640512409927",
        "asset": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
        "usd": 2.00160128
       },
       "relayerTip": {
        "amount": "704111",
        "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
        "usd": 0.704111
       }
      }
     }
    },
    "401": {
     "body": {
      "error": {
       "code": "unauthorized",
       "message": "This needs a valid API key in the X-API-Key header."
      }
     }
    },
    "403": {
     "body": {
      "error": {
       "code": "wrong_key_kind",
       "message": "This needs a workspace key; the one sent is a service key."
      }
     }
    },
    "404": {
     "body": {
      "error": {
       "code": "not_found",
       "message": "No such workspace or trade."
      }
     }
    },
    "422": {
     "body": {
      "detail": [
       {
        "loc": [
         "query",
         "colour"
        ],
        "msg": "Extra inputs are not permitted",
        "type": "extra_forbidden"
       }
      ]
     }
    },
    "429": {
     "body": {
      "error": {
       "code": "rate_limited",
       "message": "More than 0.001 requests a second. Slow down; Retry-After says for how long."
      }
     }
    },
    "503": {
     "body": {
      "error": {
       "code": "unavailable",
       "message": "A part of the venue does not answer at the moment, so nothing was done. Try again in a second."
      }
     }
    }
   }
  }
 },
 "events": {
  "subscribe": [
   {
    "op": "subscribe",
    "topics": [
     "orders:0x1212121212121212121212121212121212121212121212121212121212121212"
    ],
    "id": "b"
   },
   {
    "op": "unsubscribe",
    "topics": [
     "solvers"
    ],
    "id": 2
   }
  ],
  "subscribed": [
   {
    "op": "subscribed",
    "topics": [
     "orders",
     "solvers",
     "prices:chain1-chain1:USDC-WETH"
    ],
    "cursor": "0",
    "id": 1
   }
  ],
  "priceEvent": [
   {
    "topic": "prices:chain1-chain1:USDC-WETH",
    "type": "prices.indicative",
    "occurredAt": "2026-11-21T21:09:15.971Z",
    "data": {
     "firm": false,
     "input": {
      "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
      "symbol": "USDC",
      "decimals": 6
     },
     "output": {
      "asset": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
      "symbol": "WETH",
      "decimals": 18
     },
     "bids": [
      {
       "give": "2500000000",
       "get": "1000000000000000000",
       "price": "0.0004"
      },
      {
       "give": "10000000000",
       "get": "3990000000000000000",
       "price": "0.000399"
      }
     ],
     "asks": [],
     "solvers": 1,
     "asOf": "2026-11-21T21:09:15.819Z",
     "ageMs": 152
    }
   }
  ],
  "solverEvent": [
   {
    "topic": "solvers",
    "type": "solver.changed",
    "occurredAt": "2026-11-21T21:09:15.693Z",
    "data": {
     "id": "lp-4",
     "status": "active",
     "kind": "lp",
     "corridors": [
      "chain1-chain1"
     ],
     "firstSeenAt": "2026-11-21T21:09:15.684Z",
     "eligibilityNote": null
    }
   }
  ],
  "orderEvent": [
   {
    "topic": "orders",
    "cursor": "1",
    "type": "order.created",
    "seq": 1,
    "orderId": "0xe61cdbd1c11ad2f06d172f36ef316a984fee1301b85508b4e28a4a0530535466",
    "occurredAt": "2026-11-21T21:09:16.304Z",
    "data": {
     "id": "0xe61cdbd1c11ad2f06d172f36ef316a984fee1301b85508b4e28a4a0530535466",
     "status": "pending",
     "quoteId": "0xcc9c1a5761ea47487d78077e997327dbc4f1b89ad046b212e5a9fa6540757243",
     "createdAt": "2026-11-21T21:09:16.304Z",
     "updatedAt": "2026-11-21T21:09:16.304Z",
     "stage": "awaiting_escrow"
    }
   },
   {
    "topic": "orders",
    "cursor": "2",
    "type": "order.failed",
    "seq": 2,
    "orderId": "0xe61cdbd1c11ad2f06d172f36ef316a984fee1301b85508b4e28a4a0530535466",
    "occurredAt": "2026-11-21T21:09:16.405Z",
    "data": {
     "id": "0xe61cdbd1c11ad2f06d172f36ef316a984fee1301b85508b4e28a4a0530535466",
     "status": "failed",
     "quoteId": "0xcc9c1a5761ea47487d78077e997327dbc4f1b89ad046b212e5a9fa6540757243",
     "createdAt": "2026-11-21T21:09:16.304Z",
     "updatedAt": "2026-11-21T21:09:16.405Z",
     "stage": "failed",
     "failure": {
      "code": "not_opened",
      "message": "The order never reached the chain, so nothing was moved.",
      "refundTxHash": null,
      "refundableFrom": null
     }
    }
   }
  ],
  "error": [
   {
    "op": "error",
    "error": {
     "code": "not_found",
     "message": "No such order."
    },
    "id": "b"
   }
  ],
  "unsubscribed": [
   {
    "op": "unsubscribed",
    "topics": [
     "solvers"
    ],
    "id": 2
   }
  ]
 },
 "link": {
  "venue_refused": [
   {
    "type": "refused",
    "code": "hello_first",
    "message": "Say hello first, once."
   }
  ],
  "venue_released": [
   {
    "type": "released",
    "quoteIds": [
     "0x1212121212121212121212121212121212121212121212121212121212121212"
    ],
    "proof": "nonce_used"
   }
  ],
  "venue_ping": [
   {
    "type": "ping"
   }
  ],
  "solver_pong": [
   {
    "type": "pong"
   }
  ],
  "venue_challenge": [
   {
    "type": "challenge",
    "nonce": "0x4e5cbf57d469aae87ce92e9f080eae32a03ae256255087596f1aa9255e495ed8",
    "venueId": "test",
    "protocolVersion": 1,
    "chains": [
     {
      "chainId": 31401,
      "slug": "chain1",
      "escrow": "0x9a143349beab222794b47f0bafb62ba0618d9836",
      "oracle": "0x7dd55fad6c980dcef714bbcbf10884d28ed03268"
     }
    ]
   }
  ],
  "venue_welcome": [
   {
    "type": "welcome",
    "sessionId": "9179833bf3780ac5e4f1bc6162ee4c21",
    "heartbeatSeconds": 5
   }
  ],
  "venue_rfq": [
   {
    "type": "rfq",
    "rfqId": "a82192b9e63cb2a627a1524443522d50",
    "deadlineMs": 300,
    "input": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
    "output": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
    "side": "exactInput",
    "amount": "2500000000",
    "taker": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
    "receiver": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
    "minValidUntil": null,
    "platformFeeBps": 2,
    "relayFee": "708411",
    "executionMode": "apiSubmit",
    "maxSplitParts": 4,
    "skeleton": {
     "nonce": "63448027897454063160668159105163640496011205505578231743916640407361022176981",
     "originChainId": 31401,
     "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
     "outputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
     "settler": "0x9a143349beab222794b47f0bafb62ba0618d9836",
     "landingMarginSeconds": 30,
     "proofWindowSeconds": 60
    }
   }
  ],
  "venue_award": [
   {
    "type": "award",
    "orderId": "0xe61cdbd1c11ad2f06d172f36ef316a984fee1301b85508b4e28a4a0530535466",
    "quoteId": "0xcc9c1a5761ea47487d78077e997327dbc4f1b89ad046b212e5a9fa6540757243",
    "order": {
     "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
     "nonce": "63448027897454063160668159105163640496011205505578231743916640407361022176981",
     "originChainId": "31401",
     "expires": 1795295505,
     "fillDeadline": 1795295445,
     "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
     "inputs": [
      [
       "544736938678254300359118634283998226765381104394",
       "2500000000"
      ]
     ],
     "outputs": [
      {
       "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
       "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
       "chainId": "31401",
       "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
       "amount": "1000000000000000000",
       "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
       "callbackData": "0x",
       "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d627100002000000000000000000000000000acf3b"
      }
     ]
    },
    "signature": "0x6860ec6f56d90562665a721fc402205bd089a2a2a7694b5096a8cb6dfc07a651160f113aa9e0edadcf53f1f2796ca74648aa0caa6242174ff8e574ebaec819531b",
    "funding": "0x1200000000000000000000000000000000000000000000000000000000000000a00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000006b0209116168ced2f8818fc1a6ae54208472c17266f11efeab568ba4699423a1c8cc93e7000000000000000000000000000000000000000000000000000000000000012000000000000000000000000000000000000000000000000000000000000000416860ec6f56d90562665a721fc402205bd089a2a2a7694b5096a8cb6dfc07a651160f113aa9e0edadcf53f1f2796ca74648aa0caa6242174ff8e574ebaec819531b00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004182f3bb05cf1699da739f5d4c693333fee6e2dc6cd1304460b7bf2643b0bddc6e3bc1b5c4eb1c390e9c60590e94bb3dc205f68cec60cea979a1b063cd0029a37b1b00000000000000000000000000000000000000000000000000000000000000",
    "commitment": {
     "lp": "0xac008293ecb0b31315760fd80cc159d55cb40284",
     "deadline": 1795295445,
     "signature": "0xc3da6fa08eaddc9b3b9870f7d656d374ee6aab3755ea64f48d73abf716e301111e16b0f527ad2231c1294bda3f34d2a8ac0b15e27e2a5190f4458feadefad9a31b"
    },
    "status": "pending",
    "stage": "awaiting_escrow"
   }
  ],
  "venue_resync": [
   {
    "type": "resync",
    "awards": [
     {
      "orderId": "0xe61cdbd1c11ad2f06d172f36ef316a984fee1301b85508b4e28a4a0530535466",
      "quoteId": "0xcc9c1a5761ea47487d78077e997327dbc4f1b89ad046b212e5a9fa6540757243",
      "order": {
       "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
       "nonce": "63448027897454063160668159105163640496011205505578231743916640407361022176981",
       "originChainId": "31401",
       "expires": 1795295505,
       "fillDeadline": 1795295445,
       "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
       "inputs": [
        [
         "544736938678254300359118634283998226765381104394",
         "2500000000"
        ]
       ],
       "outputs": [
        {
         "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
         "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
         "chainId": "31401",
         "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
         "amount": "1000000000000000000",
         "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
         "callbackData": "0x",
         "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d627100002000000000000000000000000000acf3b"
        }
       ]
      },
      "signature": "0x6860ec6f56d90562665a721fc402205bd089a2a2a7694b5096a8cb6dfc07a651160f113aa9e0edadcf53f1f2796ca74648aa0caa6242174ff8e574ebaec819531b",
      "funding": "0x1200000000000000000000000000000000000000000000000000000000000000a00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000006b0209116168ced2f8818fc1a6ae54208472c17266f11efeab568ba4699423a1c8cc93e7000000000000000000000000000000000000000000000000000000000000012000000000000000000000000000000000000000000000000000000000000000416860ec6f56d90562665a721fc402205bd089a2a2a7694b5096a8cb6dfc07a651160f113aa9e0edadcf53f1f2796ca74648aa0caa6242174ff8e574ebaec819531b00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004182f3bb05cf1699da739f5d4c693333fee6e2dc6cd1304460b7bf2643b0bddc6e3bc1b5c4eb1c390e9c60590e94bb3dc205f68cec60cea979a1b063cd0029a37b1b00000000000000000000000000000000000000000000000000000000000000",
      "commitment": {
       "lp": "0xac008293ecb0b31315760fd80cc159d55cb40284",
       "deadline": 1795295445,
       "signature": "0xc3da6fa08eaddc9b3b9870f7d656d374ee6aab3755ea64f48d73abf716e301111e16b0f527ad2231c1294bda3f34d2a8ac0b15e27e2a5190f4458feadefad9a31b"
      },
      "status": "pending",
      "stage": "awaiting_escrow"
     }
    ]
   }
  ],
  "venue_order": [
   {
    "type": "order",
    "orderId": "0xe61cdbd1c11ad2f06d172f36ef316a984fee1301b85508b4e28a4a0530535466",
    "stage": "failed",
    "evidence": null
   }
  ],
  "solver_hello": [
   {
    "type": "hello",
    "solverId": "lp-1",
    "kind": "lp",
    "name": "lp-1",
    "accounts": [
     {
      "chainId": 31401,
      "account": "0xac008293ecb0b31315760fd80cc159d55cb40284",
      "operator": "0x84d451fa8434849eaa26f80d0c8a4abab9f7f5ba",
      "signature": "0x4c0955b2cdbaef8830d0c5f22578d1614fcee8c0d05efd1ced2b67656c6d6cc14785cd81d838d51120480c7da9d28054ec0bd491f9010b49dbd22a0f585f0a3f1b"
     }
    ],
    "corridors": [
     "chain1-chain1"
    ],
    "maxInFlight": 1000,
    "protocolVersion": 1
   }
  ],
  "solver_status": [
   {
    "type": "status",
    "status": "active",
    "note": null
   }
  ],
  "solver_quote": [
   {
    "type": "quote",
    "rfqId": "a82192b9e63cb2a627a1524443522d50",
    "quoteId": "0xcc9c1a5761ea47487d78077e997327dbc4f1b89ad046b212e5a9fa6540757243",
    "order": {
     "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
     "nonce": "63448027897454063160668159105163640496011205505578231743916640407361022176981",
     "originChainId": "31401",
     "expires": 1795295505,
     "fillDeadline": 1795295445,
     "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
     "inputs": [
      [
       "544736938678254300359118634283998226765381104394",
       "2500000000"
      ]
     ],
     "outputs": [
      {
       "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
       "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
       "chainId": "31401",
       "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
       "amount": "1000000000000000000",
       "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
       "callbackData": "0x",
       "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b0208d627100002000000000000000000000000000acf3b"
      }
     ]
    },
    "validUntil": 1795295415,
    "eta": 2,
    "lpSpreadBps": 8,
    "amountBeforeFees": "1000000000000000001",
    "commitment": {
     "lp": "0xac008293ecb0b31315760fd80cc159d55cb40284",
     "deadline": 1795295445,
     "signature": "0xc3da6fa08eaddc9b3b9870f7d656d374ee6aab3755ea64f48d73abf716e301111e16b0f527ad2231c1294bda3f34d2a8ac0b15e27e2a5190f4458feadefad9a31b"
    }
   }
  ],
  "solver_resync": [
   {
    "type": "resync"
   }
  ],
  "solver_fill": [
   {
    "type": "fill",
    "orderId": "0xe61cdbd1c11ad2f06d172f36ef316a984fee1301b85508b4e28a4a0530535466",
    "stage": "filled",
    "txHash": null
   }
  ],
  "venue_slice": [
   {
    "type": "slice",
    "rfqId": "7378e20513de98f7891a58b235e82385",
    "quoteId": "0x66dbecff5d67f954f1b517c19b0260efa0da3fabc7cd6307270ef3f842b1e7d4",
    "order": {
     "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
     "nonce": "246529585861973872781743777155625179299230250505929233694885716329344981005",
     "originChainId": "31401",
     "expires": 1795295505,
     "fillDeadline": 1795295445,
     "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
     "inputs": [
      [
       "544736938678254300359118634283998226765381104394",
       "100000000000"
      ]
     ],
     "outputs": [
      {
       "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
       "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
       "chainId": "31401",
       "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
       "amount": "23076923076923076923",
       "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
       "callbackData": "0x",
       "context": "0xe2000000000000000000000000d1ef7e812a0a049a270095aa38decae261125f216b0208d61770000200000000000000000000000000082d79"
      },
      {
       "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
       "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
       "chainId": "31401",
       "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
       "amount": "15384615384615384615",
       "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
       "callbackData": "0x",
       "context": "0xe2000000000000000000000000a5869306a8b1a675a14ca9cd3a9304cfac36159e6b0208d60fa00002000000000000000000000000000573a5"
      }
     ]
    },
    "outputIndex": 0,
    "validUntil": 1795295415,
    "deadlineMs": 200
   }
  ],
  "solver_partial": [
   {
    "type": "partial",
    "rfqId": "7378e20513de98f7891a58b235e82385",
    "ladder": [
     [
      "60000000000",
      "23076923076923076923"
     ]
    ],
    "validUntil": 1795295415
   }
  ],
  "solver_commit": [
   {
    "type": "commit",
    "rfqId": "7378e20513de98f7891a58b235e82385",
    "quoteId": "0x66dbecff5d67f954f1b517c19b0260efa0da3fabc7cd6307270ef3f842b1e7d4",
    "commitment": {
     "lp": "0xd1ef7e812a0a049a270095aa38decae261125f21",
     "deadline": 1795295445,
     "signature": "0xec760d8475729bce1cce983dbe03e70600a5f169a851ea88488807a9719b98e10d149203057603c253ad6cedffd8d7ca561463491048f4788cdb7cf3d0db536a1b"
    },
    "lpSpreadBps": 9
   }
  ],
  "solver_decline": [
   {
    "type": "decline",
    "rfqId": "a82192b9e63cb2a627a1524443522d50",
    "reason": "size_below_min",
    "maxAmount": null
   }
  ],
  "venue_pong": [
   {
    "type": "pong"
   }
  ],
  "solver_levels": [
   {
    "type": "levels",
    "input": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
    "output": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
    "levels": [
     [
      "2500000000",
      "1000000000000000000"
     ],
     [
      "10000000000",
      "3990000000000000000"
     ]
    ],
    "atMs": 1795295355819
   }
  ],
  "solver_ping": [
   {
    "type": "ping"
   }
  ]
 }
};
