// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title LedgerLib
/// @notice An entry of the escrow's ledger, in one word: the account's balance in the lower 128 bits, and above it the fees
/// on its inputs that nobody has collected yet. The two are written together, so a trade need not touch the balance of the
/// fee recipient.
/// @dev Of every token less than 2^128 base units are assumed to exist, so a balance never reaches the fees.
library LedgerLib {
    uint256 private constant FEES = 2 ** 128;

    function balance(uint256 entry) internal pure returns (uint256) {
        return uint128(entry);
    }

    function fees(uint256 entry) internal pure returns (uint256) {
        return entry / FEES;
    }

    /// @notice The entry of a balance and fees below 2^128.
    function pack(uint256 balance_, uint256 fees_) internal pure returns (uint256) {
        unchecked {
            return balance_ + fees_ * FEES;
        }
    }

    /// @notice Takes an amount that is not above the balance.
    function minus(uint256 entry, uint256 amount) internal pure returns (uint256) {
        unchecked {
            return entry - amount;
        }
    }
}
