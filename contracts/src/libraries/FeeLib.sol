// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEscrow} from "../interfaces/IEscrow.sol";

/// @title FeeLib
/// @notice The arithmetic by which the escrow divides an input among LPs. Amounts are below 2^128 and parts at most BPS, so
/// no product overflows.
library FeeLib {
    uint256 internal constant BPS = 10_000;

    /// @notice An LP's slice, rounded down. The last one takes what is left, so that all slices sum to the amount.
    function sliceDown(uint256 amount, uint256 portionBps, uint256 left, bool last) internal pure returns (uint256) {
        unchecked {
            return last ? left : amount * portionBps / BPS;
        }
    }

    /// @notice The fees on a slice, rounded down. The relay fee is that of the first input alone. Reverts where
    /// they exceed the slice.
    function feesDown(uint256 slice, uint256 feeBps, bool first, uint256 relayFee)
        internal
        pure
        returns (uint256 fees)
    {
        unchecked {
            fees = slice * feeBps / BPS;
            if (first) fees += relayFee;
            require(fees <= slice, IEscrow.FeesExceedSlice(fees, slice));
        }
    }
}
