// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {Commitment, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Base} from "../support/Base.sol";

/// @notice What tests of attacks share: calls that have to fail for one stated reason and change nothing.
abstract contract Attack is Base {
    /// @dev Tokens and ledger entries of everyone who could win or lose, in one hash.
    function holdings() internal view returns (bytes32 digest) {
        address[8] memory accounts =
            [taker, stranger, recipient, feeRecipient, lp(0), lp(1), lp(2), address(escrow)];
        for (uint256 i; i < accounts.length; ++i) {
            digest = keccak256(
                abi.encode(
                    digest,
                    usd.balanceOf(accounts[i]),
                    weth.balanceOf(accounts[i]),
                    escrow.balanceOf(accounts[i], address(usd)),
                    escrow.balanceOf(accounts[i], address(weth)),
                    remote.balanceOf(accounts[i], address(usd)),
                    remote.balanceOf(accounts[i], address(weth))
                )
            );
        }
    }

    /// @dev The call reverts with this error and nobody is richer or poorer.
    function refused(address from, address to, bytes memory data, bytes4 why, string memory what) internal {
        bytes32 before = holdings();
        vm.prank(from);
        (bool success, bytes memory answer) = to.call(data);
        ok(!success, what);
        eq(bytes32(bytes4(answer)), bytes32(why), what);
        eq(holdings(), before, what);
    }

    function refusedSettle(StandardOrder memory order, bytes memory funding, bytes4 why, string memory what) internal {
        refusedSettle(order, funding, commitments(order), why, what);
    }

    function refusedSettle(
        StandardOrder memory order,
        bytes memory funding,
        Commitment[] memory list,
        bytes4 why,
        string memory what
    ) internal {
        refused(stranger, address(escrow), abi.encodeCall(escrow.settle, (order, funding, list)), why, what);
    }

    function refusedOpen(StandardOrder memory order, address sponsor, bytes memory funding, bytes4 why, string memory what)
        internal
    {
        refused(stranger, address(escrow), abi.encodeCall(escrow.openFor, (order, sponsor, funding)), why, what);
    }

    function ledger(address account, address token) internal view returns (uint256) {
        return escrow.balanceOf(account, token);
    }

    /// @dev A taker's order across chains, opened here, filled there by its LP: what is left is the proof.
    function openedAndFilled() internal returns (StandardOrder memory order, bytes32 orderId, bytes32 payloadHash) {
        order = cross();
        orderId = openOrder(order);
        payloadHash = filledThere(order, orderId);
    }

    function filledThere(StandardOrder memory order, bytes32 orderId) internal returns (bytes32 payloadHash) {
        vm.chainId(THERE);
        vm.prank(lp(0));
        remote.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0)));
        vm.chainId(HERE);
        return hashes.payloadHash(word(lp(0)), orderId, uint32(block.timestamp), order.outputs[0]);
    }

    /// @dev A second key of the taker's kind, with money and the same approvals.
    function fundedUser(uint256 key) internal returns (address user) {
        user = vm.addr(key);
        usd.mint(user, 1_000_000e6);
        weth.mint(user, 1000e18);
        vm.startPrank(user);
        usd.approve(address(permit2), type(uint256).max);
        weth.approve(address(permit2), type(uint256).max);
        vm.stopPrank();
    }

    function secondInput(StandardOrder memory order, uint256 amount) internal view {
        uint256[2][] memory inputs = new uint256[2][](2);
        inputs[0] = order.inputs[0];
        inputs[1] = [uint256(uint160(address(weth))), amount];
        order.inputs = inputs;
    }

    /// @dev The order's outputs in another token.
    function deliver(StandardOrder memory order, address token) internal pure {
        for (uint256 i; i < order.outputs.length; ++i) {
            order.outputs[i].token = word(token);
        }
    }

    function approveAll(address from, address token) internal {
        vm.prank(from);
        DevToken(token).approve(address(escrow), type(uint256).max);
    }
}
