// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title BondLib
/// @notice What a broken promise costs a bond, and who gets it.
library BondLib {
    uint256 internal constant BPS = 10_000;

    /// @notice Twice the share of what was promised, but at most the bond. Half of it is forfeited, rounded down; the taker is
    /// paid the rest.
    /// @param shareBps At most BPS.
    function cost(uint256 bond, uint256 promised, uint256 shareBps)
        internal
        pure
        returns (uint256 paid, uint256 forfeited)
    {
        uint256 total = bond;
        // A bond is less than 2^128, so a promise above that costs all of it. The product fits.
        if (promised < 2 ** 128) {
            uint256 full = 2 * (promised * shareBps / BPS);
            if (full < total) total = full;
        }
        forfeited = total / 2;
        paid = total - forfeited;
    }
}
