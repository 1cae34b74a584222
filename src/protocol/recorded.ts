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
      "requestId": "0cd3892036920307ee71ca494ccc7d4e",
      "createdAt": "2026-11-21T20:48:58.362Z",
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
           "expires": 1795294288,
           "fillDeadline": 1795294228,
           "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "inputs": [
            [
             "544736938678254300359118634283998226765381104394",
             "2500000000"
            ]
           ],
           "nonce": "61678082973435260758133278311867118525570101293548981564142193227195132742251",
           "originChainId": "31401",
           "outputs": [
            {
             "amount": "1000000000000000000",
             "callbackData": "0x",
             "chainId": "31401",
             "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041527100002000000000000000000000000000ab1aa",
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
        "quoteId": "0x61e71b9a23604e130d3eccb43a534d03bccb2a274b49a1bddde98de03609cb48",
        "routingPath": "direct",
        "solverId": "lp-1",
        "splitFill": null,
        "validUntil": 1795294198,
        "validity": {
         "minValidUntil": null,
         "validUntil": 1795294198
        },
        "warnings": [],
        "integrityChecksum": "v1.k1.17df58a1514a62e67d9895dc90a18f1e32706f2196db56ba82c7ba3f4e86b4dd.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawIEFAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEFyf5bkQidT1wmNvBGrW87VligEHx0VA65FLJYrLo3Z4jpvlLQajkfunmr4LnSqXpp7BfiUkHC1JpX1aeVlm9sUGwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
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
      "requestId": "0eae709369f3ca9b01b1161f83c37f33",
      "createdAt": "2026-11-21T20:48:58.537Z",
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
           "expires": 1795294288,
           "fillDeadline": 1795294228,
           "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "inputs": [
            [
             "544736938678254300359118634283998226765381104394",
             "2500000000"
            ]
           ],
           "nonce": "47121819678229324362213585921605075483911120391424645468693024103189637650497",
           "originChainId": "31401",
           "outputs": [
            {
             "amount": "1000000000000000000",
             "callbackData": "0x",
             "chainId": "31401",
             "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041527100002000000000000000000000000000ab1aa",
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
        "quoteId": "0x146c10d618e2de47dd31191aa4f3ac8876959131e0c05f197da18a6011f7bf76",
        "routingPath": "direct",
        "solverId": "lp-1",
        "validUntil": 1795294198,
        "warnings": [],
        "integrityChecksum": "v1.k1.7e5453d2b74903ec8155597086b19afa6d8cb6eefb38c48964c9080878ad49c8.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawIEFAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEHZye2yxv9IxabK68Ryy2Y1y-mSJkX4CzxD_hAj10Sd2GFbO70ilZCWECO5ZsjdsqKdblbfzYJO2KQX14JwEh0lGwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
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
         "expires": 1795294288,
         "fillDeadline": 1795294228,
         "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "inputs": [
          [
           "544736938678254300359118634283998226765381104394",
           "2500000000"
          ]
         ],
         "nonce": "21518121379680545849263461034703315742196319199174522134074747503697935571803",
         "originChainId": "31401",
         "outputs": [
          {
           "amount": "1000000000000000000",
           "callbackData": "0x",
           "chainId": "31401",
           "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041527100002000000000000000000000000000ab1aa",
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
      "quoteId": "0x3083366d15d93e603094d2fe8a062f7d9a16eaef74c566878f277b4af210dda0",
      "routingPath": "direct",
      "solverId": "lp-1",
      "splitFill": null,
      "validUntil": 1795294198,
      "validity": {
       "minValidUntil": null,
       "validUntil": 1795294198
      },
      "warnings": [],
      "integrityChecksum": "v1.k1.887f91db6b014174d39060ab3b4f7ce6919153dbe96c29b0a7cc805b2298d936.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawIEFAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEESsogFDWV2uxfGAS60eYsJtgSg2acUgpm1SqVQcMI9uXGLsPVzlknRpcbBgap98mlXva06eQWPTJTGh2BDrDHxHAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
     },
     "eip3009Authorization": {
      "signature": "0xa18005aef3655be6bb26141d9da1fee0057f6e5e10cd3dc7abc364d4a6dc8ca2492972fe599bece8ca724da84fe3177a755c6d649de7838340cfa2b04e7d262c1c",
      "validAfter": 0,
      "validBefore": 1795294288,
      "nonce": "0xbf53c9e6ec12865fda40d39a2ce8280e0c647b66c670d54bafdc25085efdd243"
     },
     "signature": "0x65a94e3d5780f061866099e85bf6826b4846ce31ae9bc322a33a5d540e6106394662d22b491bbd19d20df76d333350d0577dae866b85722b147fadfe73f280261b"
    }
   },
   "answers": {
    "200": {
     "body": {
      "id": "0x71802528a19e25d259432c08368720fa55b4fbf1570bc19843ac6a392c92a435",
      "status": "pending",
      "quoteId": "0x3083366d15d93e603094d2fe8a062f7d9a16eaef74c566878f277b4af210dda0",
      "createdAt": "2026-11-21T20:48:58.744Z"
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
         "expires": 1795294289,
         "fillDeadline": 1795294229,
         "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "inputs": [
          [
           "544736938678254300359118634283998226765381104394",
           "2500000000"
          ]
         ],
         "nonce": "114165069508388784729639077398980727019801378448906272337250449809379535388683",
         "originChainId": "31401",
         "outputs": [
          {
           "amount": "1000000000000000000",
           "callbackData": "0x",
           "chainId": "31401",
           "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041627100002000000000000000000000000000ab1aa",
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
      "quoteId": "0x69c45a070ec3b8705ca9c08bc593abf6d7d53e0fd9e1115d1c2d5934a1a89de6",
      "routingPath": "direct",
      "solverId": "lp-1",
      "validUntil": 1795294199,
      "warnings": [],
      "integrityChecksum": "v1.k1.a2af754f97c661dd08ca99195b0d8af7db9a1f5b98116a889005775490c202f9.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawIEFQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEEWfutBYB6cQoKAp1eWXVwkTqHihYPqyCtGZvDclFCHqWXw7S29HjazOXj3cV4wHyjY_XkrtJI-DDucmUaa9N8oHAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
     },
     "eip3009Authorization": {
      "signature": "0xada7863ade8887d71de2b5d0641348c53a3268ace7f2d24ba065e43fcaad7276497c8add123308648538b1a53c59ffb25f84546da54e4709b52b95c661997fce1c",
      "validAfter": 0,
      "validBefore": 1795294289,
      "nonce": "0x93c75dc8797c98e39436000cb0ea77fc98a5f8bd7ea92984da071063857d42b7"
     },
     "signature": "0x863f8c7961bf0c9d1a0f8104f9d98b89d25754e15cb2e993d0043738200cfbb86916a88a592dab41d3988da8358df6e7ac3c61370150146b3bb367b1b50897dc1c"
    }
   },
   "answers": {
    "200": {
     "body": {
      "id": "0xda73078dae8d3c796c09c31a2e4765be772736783f6bd1b86117be1f01ca432b",
      "status": "pending",
      "quoteId": "0x69c45a070ec3b8705ca9c08bc593abf6d7d53e0fd9e1115d1c2d5934a1a89de6",
      "createdAt": "2026-11-21T20:48:59.518Z"
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
         "expires": 1795294290,
         "fillDeadline": 1795294230,
         "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "inputs": [
          [
           "544736938678254300359118634283998226765381104394",
           "2500000000"
          ]
         ],
         "nonce": "16740954021454738220743840575615659472853071418872509711863239078680033808364",
         "originChainId": "31401",
         "outputs": [
          {
           "amount": "1000000000000000000",
           "callbackData": "0x",
           "chainId": "31401",
           "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041727100002000000000000000000000000000ab1aa",
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
      "quoteId": "0xf8ce6397d77f7fe08b13968114a7c8f09209e35000b0e0bfe9fa208e8dc2c484",
      "routingPath": "direct",
      "solverId": "lp-1",
      "splitFill": null,
      "validUntil": 1795294200,
      "validity": {
       "minValidUntil": null,
       "validUntil": 1795294200
      },
      "warnings": [],
      "integrityChecksum": "v1.k1.d5c629c816a6883a77df919a259214f23a742cdac8bc95bd02e4ff89794589bd.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawIEFgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEH_HP-7JnSBLMfo2p_NXMnGwReeJXBJt1iheXUW1Wo7EhVN1r_Y8IvgV9CdTI3WrOCoMkMMtKCCkmMshL5IrhphHAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
     }
    }
   },
   "answers": {
    "200": {
     "body": {
      "quoteId": "0xf8ce6397d77f7fe08b13968114a7c8f09209e35000b0e0bfe9fa208e8dc2c484",
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
           "validBefore": "1795294290",
           "nonce": "0x882ae7f21626ca5f3f14fb1cd7b3f2aad4989befa91bf8814def8817df30ecd3"
          }
         }
        },
        "submitTo": "/api/v1/rfq/orders",
        "after": [],
        "details": {
         "resultIn": "eip3009Authorization",
         "validAfter": 0,
         "validBefore": 1795294290,
         "nonce": "0x882ae7f21626ca5f3f14fb1cd7b3f2aad4989befa91bf8814def8817df30ecd3"
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
           "expires": 1795294290,
           "fillDeadline": 1795294230,
           "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "inputs": [
            [
             "544736938678254300359118634283998226765381104394",
             "2500000000"
            ]
           ],
           "nonce": "16740954021454738220743840575615659472853071418872509711863239078680033808364",
           "originChainId": "31401",
           "outputs": [
            {
             "amount": "1000000000000000000",
             "callbackData": "0x",
             "chainId": "31401",
             "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041727100002000000000000000000000000000ab1aa",
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
       "validBefore": 1795294290,
       "nonce": "0x882ae7f21626ca5f3f14fb1cd7b3f2aad4989befa91bf8814def8817df30ecd3"
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
         "expires": 1795294290,
         "fillDeadline": 1795294230,
         "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
         "inputs": [
          [
           "544736938678254300359118634283998226765381104394",
           "2500000000"
          ]
         ],
         "nonce": "79401972546508294961026380216191343890747473934861355793187566748122366173015",
         "originChainId": "31401",
         "outputs": [
          {
           "amount": "1000000000000000000",
           "callbackData": "0x",
           "chainId": "31401",
           "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041727100002000000000000000000000000000ab1aa",
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
      "quoteId": "0x2fc7896a5549184865b2181a955fc627a640b0676d04625efbda06ef811f8d9e",
      "routingPath": "direct",
      "solverId": "lp-1",
      "validUntil": 1795294200,
      "warnings": [],
      "integrityChecksum": "v1.k1.38026224fb384b7fd3c77c7a0ad6d4bff6389cf06f591441598a754ae14c8c45.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawIEFgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEG1WaYtcK7jHl6dgALwnGEBx-UQlm9Z0RZTkR0FugXnijaLPvHGaXv5PjT5mkoBFcRFP1mcbELzciHHZrQqZJOFHAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
     }
    }
   },
   "answers": {
    "200": {
     "body": {
      "quoteId": "0x2fc7896a5549184865b2181a955fc627a640b0676d04625efbda06ef811f8d9e",
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
           "validBefore": "1795294290",
           "nonce": "0x8133cb45b63da6d75d186bf90ba216003f04b9198990be5b774446e543187098"
          }
         }
        },
        "submitTo": "/api/v1/router/orders",
        "after": [],
        "details": {
         "resultIn": "eip3009Authorization",
         "validAfter": 0,
         "validBefore": 1795294290,
         "nonce": "0x8133cb45b63da6d75d186bf90ba216003f04b9198990be5b774446e543187098"
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
           "expires": 1795294290,
           "fillDeadline": 1795294230,
           "inputOracle": "0x9a143349beab222794b47f0bafb62ba0618d9836",
           "inputs": [
            [
             "544736938678254300359118634283998226765381104394",
             "2500000000"
            ]
           ],
           "nonce": "79401972546508294961026380216191343890747473934861355793187566748122366173015",
           "originChainId": "31401",
           "outputs": [
            {
             "amount": "1000000000000000000",
             "callbackData": "0x",
             "chainId": "31401",
             "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041727100002000000000000000000000000000ab1aa",
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
       "validBefore": 1795294290,
       "nonce": "0x8133cb45b63da6d75d186bf90ba216003f04b9198990be5b774446e543187098"
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
    "path": "/api/v1/rfq/orders/0x5b9f901fc5d266c70615173f5e63392950bf7dc7cc5ffca19ff800b9ad45c34b"
   },
   "answers": {
    "200": {
     "body": {
      "id": "0x5b9f901fc5d266c70615173f5e63392950bf7dc7cc5ffca19ff800b9ad45c34b",
      "status": "pending",
      "quoteId": "0x33468f241625d3841e9bfc8911ad94f335a737fc4d02cc522f2a38e58e208384",
      "createdAt": "2026-11-21T20:49:00.748Z",
      "updatedAt": "2026-11-21T20:49:00.748Z",
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
    "path": "/api/v1/router/orders/0x514a46e3b7da5371ef459b87d00c4d2b6419b540b279a0819a226ea13604e2cf"
   },
   "answers": {
    "200": {
     "body": {
      "id": "0x514a46e3b7da5371ef459b87d00c4d2b6419b540b279a0819a226ea13604e2cf",
      "status": "pending",
      "quoteId": "0x4f987d3e5ce819b63ecc71ea1ade954211578dbfd137826fe0e30f5093372728",
      "createdAt": "2026-11-21T20:49:01.218Z",
      "updatedAt": "2026-11-21T20:49:01.218Z",
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
        "firstSeenAt": "2026-11-21T20:48:54.860Z",
        "lastQuoteAt": "2026-11-21T20:49:01.119Z",
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
        "firstSeenAt": "2026-11-21T20:48:54.860Z",
        "lastQuoteAt": "2026-11-21T20:49:01.119Z",
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
        "firstSeenAt": "2026-11-21T20:48:54.860Z",
        "lastQuoteAt": "2026-11-21T20:49:01.119Z",
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
        "orderId": "0x514a46e3b7da5371ef459b87d00c4d2b6419b540b279a0819a226ea13604e2cf",
        "createdAt": "2026-11-21T20:49:01.218Z",
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
        "orderId": "0x5b9f901fc5d266c70615173f5e63392950bf7dc7cc5ffca19ff800b9ad45c34b",
        "createdAt": "2026-11-21T20:49:00.748Z",
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
     "body": "orderId,createdAt,sourceChain,destChain,inputSymbol,inputAmount,inputAsset,outputSymbol,outputAmount,outputAsset,amountUsd,lpName,lpSource,routingPath,orderKind,status,settlementStatus,executionPrice,slippageBps,settlementSpeedMs,platformFeeBps,lpSpreadBps,submitTxHash,fillTxHash,finaliseTxHash,refundTxHash,memberName,memberEmail\r\n0x514a46e3b7da5371ef459b87d00c4d2b6419b540b279a0819a226ea13604e2cf,2026-11-21T20:49:01.218Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0x5b9f901fc5d266c70615173f5e63392950bf7dc7cc5ffca19ff800b9ad45c34b,2026-11-21T20:49:00.748Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0x3638a465ef184062a89b7144ff89832665d3cdbc10a1143bc6fb13165ffaf21e,2026-11-21T20:48:59.976Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0xda73078dae8d3c796c09c31a2e4765be772736783f6bd1b86117be1f01ca432b,2026-11-21T20:48:59.518Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0x2398687b7744704050ecfce4a5f3296a1a47eef1b5c9727fccb6caf16902938d,2026-11-21T20:48:59.098Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0x71802528a19e25d259432c08368720fa55b4fbf1570bc19843ac6a392c92a435,2026-11-21T20:48:58.744Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,pending,awaiting_escrow,0.0004,,,2,8,,,,,,\r\n0x6fd938fe11f423c80677c5f5d0d7a6cdec0156edf5508e6d4b3d276c156f0071,2026-11-21T20:48:56.917Z,chain1,chain1,USDC,2500,eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a,WETH,1,eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48,2500,lp-1,roster,direct,rfq_direct,failed,failed,0.0004,,0,2,8,,,,,,\r\n"
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
    "path": "/api/v1/workspaces/w1/trades/0x7995b22da6dbcf2ae1316efe6c626f03e1d4f42a2fcd582f0b67b23017ef487c"
   },
   "answers": {
    "200": {
     "body": {
      "trade": {
       "orderId": "0x7995b22da6dbcf2ae1316efe6c626f03e1d4f42a2fcd582f0b67b23017ef487c",
       "createdAt": "2026-11-21T20:49:02.220Z",
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
      "substatusMessage": "The venue is about to put the trade on chain. If that cannot be done by 2026-11-21T20:50:32.000Z, it fails and nothing is taken.",
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
        "digest": "0x6de51deadd737d8a351abb90edcf2af77fd47343d138e498ad0662d75c0bcc26",
        "signature": "0x54db6637a9fa370eefdfc6aba10064f966f8ceca7b08857073b02c7b64d6a01015f394f43dc16d312a12777e8a65fd88b29adfdb3d33d505293d910de8104cc21c"
       },
       "commitments": [
        {
         "proves": "The LP promised to pay output 0 of exactly this order until the deadline, from its balance in the escrow.",
         "outputIndex": 0,
         "lp": "0xac008293ecb0b31315760fd80cc159d55cb40284",
         "quoteId": "0x1f647795e30fd8da758f1cdcb0ce31caf420eb640982becfd4feaa4267efe9d8",
         "deadline": 1795294232,
         "digest": "0x24ff179ade66b0ca28bc4f5a2a88a1f42e8d4c19aa8e9b99c5445056e306fe60",
         "signature": "0x68f85a66c2d2e0c77dd9a1d88c85293895c983be37f15cd41472736d4d746c921f661eb2b2cc652453d131fdd4494b26b55b72642044cf64bd5227168362bd471b"
        }
       ],
       "checksum": {
        "proves": "The venue showed the taker the terms that were submitted; the LP commitments travel inside it. Only the venue can recompute its MAC.",
        "value": "v1.k1.acc1fc0fffd97ed61729e5861f39e984660307bc8d609055eb5d0b53384bc2fb.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAArACCk-ywsxMVdg_YDMFZ1Vy0AoQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAawIEGAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEFo-FpmwtLgx33ZodiMhSk4lcmDvjfxXNQUcnNtTXRskh9mHrKyzGUkU9Ex_dRJSya1W3JkIETPZL1SJxaDYr1HGwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
       },
       "receipts": [],
       "attestations": []
      },
      "intent": {
       "standard": "ERC-7683",
       "orderId": "0x7995b22da6dbcf2ae1316efe6c626f03e1d4f42a2fcd582f0b67b23017ef487c",
       "quoteId": "0x1f647795e30fd8da758f1cdcb0ce31caf420eb640982becfd4feaa4267efe9d8",
       "originSettler": "0x9a143349beab222794b47f0bafb62ba0618d9836",
       "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
       "nonce": "16096127598549145113279989422479966353432655672172379124033515749686032003388",
       "originChainId": 31401,
       "openDeadline": 1795294232,
       "fillDeadline": 1795294232,
       "orderDataType": "0xa74d5f5c9a472669efb0d9b2432d99583be36c46d0352c45a4898b466ab9b4ab",
       "orderData": "0x00000000000000000000000000000000000000000000000000000000000000200000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534239615dae86ad9fcc54b1414e15efd71fb06267c8f6d19b8d03a74530158f13c0000000000000000000000000000000000000000000000000000000000007aa9000000000000000000000000000000000000000000000000000000006b020454000000000000000000000000000000000000000000000000000000006b0204180000000000000000000000009a143349beab222794b47f0bafb62ba0618d98360000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000016000000000000000000000000000000000000000000000000000000000000000010000000000000000000000005f6ad96140545757e40baf5f89ebe1583d9ff30a000000000000000000000000000000000000000000000000000000009502f900000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000200000000000000000000000009a143349beab222794b47f0bafb62ba0618d98360000000000000000000000009a143349beab222794b47f0bafb62ba0618d98360000000000000000000000000000000000000000000000000000000000007aa90000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf480000000000000000000000000000000000000000000000000de0b6b3a76400000000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c695340000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000012000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000039e2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041927100002000000000000000000000000000ab1aa00000000000000",
       "expires": 1795294292,
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
          "originData": "0x00000000000000000000000000000000000000000000000000000000000000200000000000000000000000009a143349beab222794b47f0bafb62ba0618d98360000000000000000000000009a143349beab222794b47f0bafb62ba0618d98360000000000000000000000000000000000000000000000000000000000007aa90000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf480000000000000000000000000000000000000000000000000de0b6b3a76400000000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c695340000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000012000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000039e2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041927100002000000000000000000000000000ab1aa00000000000000"
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
         "nonce": "16096127598549145113279989422479966353432655672172379124033515749686032003388",
         "originChainId": "31401",
         "expires": 1795294292,
         "fillDeadline": 1795294232,
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
           "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041927100002000000000000000000000000000ab1aa",
           "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
           "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
           "callbackData": "0x"
          }
         ]
        }
       },
       "funding": {
        "mode": "eip3009",
        "data": "0x1200000000000000000000000000000000000000000000000000000000000000a00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000006b0204547eb8e696e61f01325d18cd48da931b7a1387e495023626dc9277636bb44e8dc60000000000000000000000000000000000000000000000000000000000000120000000000000000000000000000000000000000000000000000000000000004154db6637a9fa370eefdfc6aba10064f966f8ceca7b08857073b02c7b64d6a01015f394f43dc16d312a12777e8a65fd88b29adfdb3d33d505293d910de8104cc21c000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000041d71c2ca655149af9444f1efbfce8eb22738a28a8a5040b5c29aaf4abc3d1343067aa36a544f71655582060ec817bbfda98799b5820f5a20f627ca4b019fd75fd1b00000000000000000000000000000000000000000000000000000000000000"
       },
       "signatures": {
        "taker": {
         "scheme": "EIP712",
         "signature": "0x54db6637a9fa370eefdfc6aba10064f966f8ceca7b08857073b02c7b64d6a01015f394f43dc16d312a12777e8a65fd88b29adfdb3d33d505293d910de8104cc21c"
        },
        "commitments": [
         {
          "lp": "0xac008293ecb0b31315760fd80cc159d55cb40284",
          "deadline": 1795294232,
          "signature": "0x68f85a66c2d2e0c77dd9a1d88c85293895c983be37f15cd41472736d4d746c921f661eb2b2cc652453d131fdd4494b26b55b72642044cf64bd5227168362bd471b"
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
        "amount": "700842",
        "asset": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
        "usd": 0.700842
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
    "occurredAt": "2026-11-21T20:48:56.309Z",
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
     "asOf": "2026-11-21T20:48:56.232Z",
     "ageMs": 77
    }
   }
  ],
  "solverEvent": [
   {
    "topic": "solvers",
    "type": "solver.changed",
    "occurredAt": "2026-11-21T20:48:56.023Z",
    "data": {
     "id": "lp-4",
     "status": "active",
     "kind": "lp",
     "corridors": [
      "chain1-chain1"
     ],
     "firstSeenAt": "2026-11-21T20:48:56.002Z",
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
    "orderId": "0x6fd938fe11f423c80677c5f5d0d7a6cdec0156edf5508e6d4b3d276c156f0071",
    "occurredAt": "2026-11-21T20:48:56.917Z",
    "data": {
     "id": "0x6fd938fe11f423c80677c5f5d0d7a6cdec0156edf5508e6d4b3d276c156f0071",
     "status": "pending",
     "quoteId": "0xd702ca52b2dad003f10d6b2ca4daf5d212c58421f5bea999734db053cbfb71d3",
     "createdAt": "2026-11-21T20:48:56.917Z",
     "updatedAt": "2026-11-21T20:48:56.917Z",
     "stage": "awaiting_escrow"
    }
   },
   {
    "topic": "orders",
    "cursor": "2",
    "type": "order.failed",
    "seq": 2,
    "orderId": "0x6fd938fe11f423c80677c5f5d0d7a6cdec0156edf5508e6d4b3d276c156f0071",
    "occurredAt": "2026-11-21T20:48:57.064Z",
    "data": {
     "id": "0x6fd938fe11f423c80677c5f5d0d7a6cdec0156edf5508e6d4b3d276c156f0071",
     "status": "failed",
     "quoteId": "0xd702ca52b2dad003f10d6b2ca4daf5d212c58421f5bea999734db053cbfb71d3",
     "createdAt": "2026-11-21T20:48:56.917Z",
     "updatedAt": "2026-11-21T20:48:57.064Z",
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
    "nonce": "0x44f664503028f355c02c55eb4d77be76eb3096bf56f68062eb00fe2644e68c58",
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
    "sessionId": "60f4a1cc8e7b16eddd55721700745b8c",
    "heartbeatSeconds": 5
   }
  ],
  "venue_rfq": [
   {
    "type": "rfq",
    "rfqId": "de3211bbcf62f6f4370dab58108c1d45",
    "deadlineMs": 300,
    "input": "eip155:31401/erc20:0x5f6ad96140545757e40baf5f89ebe1583d9ff30a",
    "output": "eip155:31401/erc20:0x4c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
    "side": "exactInput",
    "amount": "2500000000",
    "taker": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
    "receiver": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
    "minValidUntil": null,
    "platformFeeBps": 2,
    "relayFee": "700842",
    "executionMode": "apiSubmit",
    "maxSplitParts": 4,
    "skeleton": {
     "nonce": "25543279260561607095505520315722043760776223455324777040805488855344248133093",
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
    "orderId": "0x6fd938fe11f423c80677c5f5d0d7a6cdec0156edf5508e6d4b3d276c156f0071",
    "quoteId": "0xd702ca52b2dad003f10d6b2ca4daf5d212c58421f5bea999734db053cbfb71d3",
    "order": {
     "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
     "nonce": "25543279260561607095505520315722043760776223455324777040805488855344248133093",
     "originChainId": "31401",
     "expires": 1795294286,
     "fillDeadline": 1795294226,
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
       "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041327100002000000000000000000000000000ab1aa"
      }
     ]
    },
    "signature": "0x56da3dbff29f1a8282e2603b55181bc1ca5f2fffebcb3a2fbd8496a34eef77972698ffd0026fd15664988f37349b2ccf24ed0094559f3ff8caae79f7453e8e1e1c",
    "funding": "0x1200000000000000000000000000000000000000000000000000000000000000a00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000006b02044e35293492a97a4c0105593e3f0d06f234239a96a19afd2e7cf13bb2bb38ef4e6e0000000000000000000000000000000000000000000000000000000000000120000000000000000000000000000000000000000000000000000000000000004156da3dbff29f1a8282e2603b55181bc1ca5f2fffebcb3a2fbd8496a34eef77972698ffd0026fd15664988f37349b2ccf24ed0094559f3ff8caae79f7453e8e1e1c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000412ba55e21756e0dc8eb238568ef564559cbc61c1ce72fea51767f1625bd3ab09d16aac538561cce753f18e77621dc07c373e241c5f7fdc06a59e00fea505541b21c00000000000000000000000000000000000000000000000000000000000000",
    "commitment": {
     "lp": "0xac008293ecb0b31315760fd80cc159d55cb40284",
     "deadline": 1795294226,
     "signature": "0xc54ab964557375d89a3cfa89727633bd5e8f9ef4f2bd572ed75cb6d26484c0c2467611f09796e8f3cf853537936fa656490e7bb093a1cb3b28ebd85af7d2bd641c"
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
      "orderId": "0x6fd938fe11f423c80677c5f5d0d7a6cdec0156edf5508e6d4b3d276c156f0071",
      "quoteId": "0xd702ca52b2dad003f10d6b2ca4daf5d212c58421f5bea999734db053cbfb71d3",
      "order": {
       "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
       "nonce": "25543279260561607095505520315722043760776223455324777040805488855344248133093",
       "originChainId": "31401",
       "expires": 1795294286,
       "fillDeadline": 1795294226,
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
         "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041327100002000000000000000000000000000ab1aa"
        }
       ]
      },
      "signature": "0x56da3dbff29f1a8282e2603b55181bc1ca5f2fffebcb3a2fbd8496a34eef77972698ffd0026fd15664988f37349b2ccf24ed0094559f3ff8caae79f7453e8e1e1c",
      "funding": "0x1200000000000000000000000000000000000000000000000000000000000000a00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000006b02044e35293492a97a4c0105593e3f0d06f234239a96a19afd2e7cf13bb2bb38ef4e6e0000000000000000000000000000000000000000000000000000000000000120000000000000000000000000000000000000000000000000000000000000004156da3dbff29f1a8282e2603b55181bc1ca5f2fffebcb3a2fbd8496a34eef77972698ffd0026fd15664988f37349b2ccf24ed0094559f3ff8caae79f7453e8e1e1c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000412ba55e21756e0dc8eb238568ef564559cbc61c1ce72fea51767f1625bd3ab09d16aac538561cce753f18e77621dc07c373e241c5f7fdc06a59e00fea505541b21c00000000000000000000000000000000000000000000000000000000000000",
      "commitment": {
       "lp": "0xac008293ecb0b31315760fd80cc159d55cb40284",
       "deadline": 1795294226,
       "signature": "0xc54ab964557375d89a3cfa89727633bd5e8f9ef4f2bd572ed75cb6d26484c0c2467611f09796e8f3cf853537936fa656490e7bb093a1cb3b28ebd85af7d2bd641c"
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
    "orderId": "0x6fd938fe11f423c80677c5f5d0d7a6cdec0156edf5508e6d4b3d276c156f0071",
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
      "signature": "0xa990e2c75b21ebd29d91d82096defd1044d256da1ce6f740653f9c00040e6ed90e27e90ca7a16fb8de89790df7b003780b862c17d94ff72b5b45b1466513860e1b"
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
    "rfqId": "de3211bbcf62f6f4370dab58108c1d45",
    "quoteId": "0xd702ca52b2dad003f10d6b2ca4daf5d212c58421f5bea999734db053cbfb71d3",
    "order": {
     "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
     "nonce": "25543279260561607095505520315722043760776223455324777040805488855344248133093",
     "originChainId": "31401",
     "expires": 1795294286,
     "fillDeadline": 1795294226,
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
       "context": "0xe2000000000000000000000000ac008293ecb0b31315760fd80cc159d55cb402846b02041327100002000000000000000000000000000ab1aa"
      }
     ]
    },
    "validUntil": 1795294196,
    "eta": 2,
    "lpSpreadBps": 8,
    "amountBeforeFees": "1000000000000000001",
    "commitment": {
     "lp": "0xac008293ecb0b31315760fd80cc159d55cb40284",
     "deadline": 1795294226,
     "signature": "0xc54ab964557375d89a3cfa89727633bd5e8f9ef4f2bd572ed75cb6d26484c0c2467611f09796e8f3cf853537936fa656490e7bb093a1cb3b28ebd85af7d2bd641c"
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
    "orderId": "0x6fd938fe11f423c80677c5f5d0d7a6cdec0156edf5508e6d4b3d276c156f0071",
    "stage": "filled",
    "txHash": null
   }
  ],
  "venue_slice": [
   {
    "type": "slice",
    "rfqId": "959be6f7e869296f2a07b304b8a8179a",
    "quoteId": "0x1ca5b60ae7ade09ac03e1510213cf32f1e191668f5393168cd859a0271476771",
    "order": {
     "user": "0x8155d70262b891ba077d4e4b075f83b0d6c69534",
     "nonce": "29388976662659752523909362233839846784732858808978101945581602017260417590128",
     "originChainId": "31401",
     "expires": 1795294286,
     "fillDeadline": 1795294226,
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
       "context": "0xe2000000000000000000000000d1ef7e812a0a049a270095aa38decae261125f216b020413177000020000000000000000000000000008c565"
      },
      {
       "oracle": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
       "settler": "0x0000000000000000000000009a143349beab222794b47f0bafb62ba0618d9836",
       "chainId": "31401",
       "token": "0x0000000000000000000000004c6be9573a998f2e2bad223e59cfc5ecc7bcaf48",
       "amount": "15384615384615384615",
       "recipient": "0x0000000000000000000000008155d70262b891ba077d4e4b075f83b0d6c69534",
       "callbackData": "0x",
       "context": "0xe2000000000000000000000000a5869306a8b1a675a14ca9cd3a9304cfac36159e6b0204130fa000020000000000000000000000000005d8ee"
      }
     ]
    },
    "outputIndex": 0,
    "validUntil": 1795294196,
    "deadlineMs": 200
   }
  ],
  "solver_partial": [
   {
    "type": "partial",
    "rfqId": "959be6f7e869296f2a07b304b8a8179a",
    "ladder": [
     [
      "60000000000",
      "23076923076923076923"
     ]
    ],
    "validUntil": 1795294196
   }
  ],
  "solver_commit": [
   {
    "type": "commit",
    "rfqId": "959be6f7e869296f2a07b304b8a8179a",
    "quoteId": "0x1ca5b60ae7ade09ac03e1510213cf32f1e191668f5393168cd859a0271476771",
    "commitment": {
     "lp": "0xd1ef7e812a0a049a270095aa38decae261125f21",
     "deadline": 1795294226,
     "signature": "0xedb4e6f6742a8b3e165e0f39ecf07478c6d804c7456229424c3ea7cfdb67b87a5b41e54fcc60b4e9312533766138be8b51ec9036fc61a35980a96715a060b01c1c"
    },
    "lpSpreadBps": 9
   }
  ],
  "solver_decline": [
   {
    "type": "decline",
    "rfqId": "de3211bbcf62f6f4370dab58108c1d45",
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
    "atMs": 1795294136232
   }
  ],
  "solver_ping": [
   {
    "type": "ping"
   }
  ]
 }
};
