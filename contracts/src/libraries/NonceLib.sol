// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title NonceLib
/// @notice Nonces of a user, 256 in a word: the nonce's low byte names its bit.
library NonceLib {
    function bit(uint256 nonce) internal pure returns (uint256) {
        return 1 << (nonce & 0xff);
    }

    function isUsed(uint256 word, uint256 nonce) internal pure returns (bool) {
        return word & bit(nonce) != 0;
    }

    function used(uint256 word, uint256 nonce) internal pure returns (uint256) {
        return word | bit(nonce);
    }
}
