// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {FeeLib} from "../src/libraries/FeeLib.sol";

/// @notice The slices of an input sum to it, and no fees exceed their slice.
contract FeeProof {
    /// @dev The step for any number of slices: once portions that sum to `before` are given, what is left is at least the
    /// share of the other portions. So nothing underflows, and the last slice, which is what is left, makes the sum.
    function noSliceTakesMoreThanIsLeft(uint128 amount, uint128 left, uint256 before, uint256 portion) external pure {
        require(before + portion <= FeeLib.BPS && before < FeeLib.BPS && portion < FeeLib.BPS);
        require(left * FeeLib.BPS >= amount * (FeeLib.BPS - before));
        uint256 slice = FeeLib.sliceDown(amount, portion, left, false);
        assert(left * FeeLib.BPS >= slice * FeeLib.BPS + amount * (FeeLib.BPS - before - portion));
        assert(slice <= left);
    }

    function twoSlicesSumToTheAmount(uint128 amount, uint256 portion) external pure {
        require(portion < FeeLib.BPS);
        uint256 one = FeeLib.sliceDown(amount, portion, amount, false);
        assert(one <= amount);
        uint256 two = FeeLib.sliceDown(amount, FeeLib.BPS - portion, amount - one, true);
        assert(one + two == amount);
    }

    function noFeesExceedTheirSlice(uint128 slice, uint256 feeBps, bool first, uint128 relayFee) external pure {
        assert(FeeLib.feesDown(slice, feeBps, first, relayFee) <= slice);
    }
}
