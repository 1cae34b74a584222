// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {OrderStatus} from "../src/interfaces/IEscrow.sol";
import {StatusLib} from "../src/libraries/StatusLib.sol";

/// @notice An order's status only goes forward, and when it was opened stays.
contract StatusProof {
    function aStepNeverGoesBack(uint256 word, OrderStatus from, OrderStatus to) external pure {
        require(StatusLib.status(word) == from);
        uint256 next = word + StatusLib.step(from, to);
        assert(StatusLib.status(next) == to);
        assert(StatusLib.status(next) >= StatusLib.status(word));
        assert(StatusLib.openedAt(next) == StatusLib.openedAt(word));
    }

    function anOpenedOrderKeepsItsTime(uint64 timestamp) external pure {
        assert(StatusLib.status(StatusLib.opened(timestamp)) == OrderStatus.Deposited);
        assert(StatusLib.openedAt(StatusLib.opened(timestamp)) == timestamp);
    }
}
