// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {NonceLib} from "../src/libraries/NonceLib.sol";

/// @notice Using a nonce sets its bit, and no other of its word. Words are those of `nonce >> 8`.
contract NonceProof {
    function aUsedNonceIsUsed(uint256 word, uint256 nonce) external pure {
        assert(NonceLib.isUsed(NonceLib.used(word, nonce), nonce));
    }

    function noOtherBitChanges(uint256 word, uint256 nonce, uint256 other) external pure {
        require(other & 0xff != nonce & 0xff);
        assert(NonceLib.isUsed(NonceLib.used(word, nonce), other) == NonceLib.isUsed(word, other));
    }
}
