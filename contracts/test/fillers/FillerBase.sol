// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {OneForOneFiller} from "../../src/fillers/OneForOneFiller.sol";
import {OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Base} from "../support/Base.sol";

/// @notice Orders that a filler converts: made, carried out by a stranger, refused.
abstract contract FillerBase is Base {
    /// @dev Tokens of which nothing may stay with a filler.
    address[] internal watched;

    function deployNpm(string memory path, bytes memory args) internal returns (address deployed) {
        string memory json = vm.readFile(string.concat("node_modules/", path));
        bytes memory creation = bytes.concat(vm.parseJsonBytes(json, ".bytecode"), args);
        assembly ("memory-safe") {
            deployed := create(0, add(creation, 0x20), mload(creation))
        }
        ok(deployed != address(0), path);
    }

    function give(address token, address to, uint256 amount) internal {
        DevToken(token).mint(to, amount);
    }

    /// @dev The taker's standing permission, for inputs without EIP-3009.
    function allow(address token) internal {
        vm.prank(taker);
        DevToken(token).approve(address(permit2), type(uint256).max);
        grant(token, type(uint160).max);
    }

    /// @dev To be filled by this filler only, without fees.
    function orderFor(OneForOneFiller filler, address tokenIn, uint256 amount, address tokenOut, uint256 floor)
        internal
        returns (StandardOrder memory order)
    {
        order = blank(amount, 1);
        order.inputs[0][0] = uint160(tokenIn);
        order.outputs[0] =
            output(escrow, HERE, floor, quoteContext(address(filler), order.fillDeadline, 10_000, 0, 0));
        order.outputs[0].token = word(tokenOut);
    }

    function fundingOf(StandardOrder memory order) internal view returns (bytes memory) {
        return order.inputs[0][0] == uint160(address(usd)) ? by3009(order) : byGrant(order);
    }

    function through(OneForOneFiller filler, StandardOrder memory order, bytes memory path) internal {
        bytes memory funding = fundingOf(order);
        vm.prank(stranger);
        escrow.settleThrough(order, funding, address(filler), path);
    }

    /// @dev The whole transaction reverts with `reason`, and the taker still has the input and the nonce.
    function refuse(OneForOneFiller filler, StandardOrder memory order, bytes memory path, bytes memory reason)
        internal
    {
        bytes memory funding = fundingOf(order);
        DevToken input = DevToken(address(uint160(order.inputs[0][0])));
        uint256 held = input.balanceOf(taker);
        vm.prank(stranger);
        vm.expectRevert(reason);
        escrow.settleThrough(order, funding, address(filler), path);
        eq(input.balanceOf(taker), held, "the taker keeps the input");
        ok(!escrow.isNonceUsed(order.user, order.nonce), "the order can be tried again");
        eq(status(idOf(order)), uint256(OrderStatus.None), "nothing happened to it");
    }

    function holdsNothing(OneForOneFiller filler) internal view {
        for (uint256 i; i < watched.length; ++i) {
            eq(DevToken(watched[i]).balanceOf(address(filler)), 0, "holds nothing");
            eq(DevToken(watched[i]).allowance(address(filler), address(escrow)), 0, "allows nothing");
        }
        eq(address(filler).balance, 0, "no native currency");
    }

    function belowFloor(address token, uint256 floor, uint256 received) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(OneForOneFiller.BelowFloor.selector, token, floor, received);
    }
}
