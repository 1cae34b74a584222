// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {OrderStatus} from "../interfaces/IEscrow.sol";

/// @title StatusLib
/// @notice An order's status, in the two low bits of a word. Above them, of an order that was opened, when.
library StatusLib {
    function status(uint256 word) internal pure returns (OrderStatus) {
        return OrderStatus(word % 4);
    }

    function openedAt(uint256 word) internal pure returns (uint256) {
        return word / 4;
    }

    /// @notice The word of an order that is opened now. A timestamp is below 2^64.
    function opened(uint256 timestamp) internal pure returns (uint256) {
        unchecked {
            return timestamp * 4 + uint256(OrderStatus.Deposited);
        }
    }

    /// @notice What is added to a word whose status is `from`. Reverts unless `to` is at least that.
    function step(OrderStatus from, OrderStatus to) internal pure returns (uint256) {
        return uint256(to) - uint256(from);
    }
}
