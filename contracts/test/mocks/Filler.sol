// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {IFiller} from "../../src/interfaces/ICallbacks.sol";
import {IEscrow, MandateOutput, StandardOrder} from "../../src/interfaces/IEscrow.sol";

/// @notice Fills what settleThrough brings from tokens it holds, or cheats in the way `data` (abi.encode(Cheat)) says.
contract Filler is IFiller {
    enum Cheat {
        None,
        Nothing,
        SkipLast,
        OtherSolver,
        Underpay
    }

    IEscrow private immutable _escrow;

    constructor(IEscrow escrow) {
        _escrow = escrow;
    }

    function fillThrough(bytes32 orderId, bytes calldata encoded, uint256[] calldata, bytes calldata data) external {
        Cheat cheat = abi.decode(data, (Cheat));
        if (cheat == Cheat.Nothing) return;
        StandardOrder memory order = abi.decode(encoded, (StandardOrder));
        uint256 n = order.outputs.length - (cheat == Cheat.SkipLast ? 1 : 0);
        for (uint256 i; i < n; ++i) {
            MandateOutput memory output = order.outputs[i];
            if (cheat == Cheat.Underpay) --output.amount;
            address solver = cheat == Cheat.OtherSolver ? address(0xbad) : address(this);
            IERC20(address(uint160(uint256(output.token)))).approve(address(_escrow), output.amount);
            _escrow.fill(orderId, output, order.fillDeadline, abi.encode(solver));
        }
    }
}
