// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Base} from "../support/Base.sol";

/// @notice refund and release.
contract RefundTest is Base {
    function refuse(StandardOrder memory order, bytes memory reason) internal {
        vm.prank(stranger);
        vm.expectRevert(reason);
        escrow.refund(order);
    }

    function test_fuzz_refund(uint256 amount, uint256 late, address caller) public {
        StandardOrder memory order = plain();
        order.inputs[0][1] = bound(amount, 1, 1_000_000e6);
        bytes32 orderId = openOrder(order);
        vm.warp(uint256(order.expires) + 1 + bound(late, 0, 3650 days));
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Refunded(orderId);
        vm.prank(caller);
        escrow.refund(order);
        eq(status(orderId), uint256(OrderStatus.Refunded), "refunded");
        eq(usd.balanceOf(taker), 1_000_000e6, "all of it, to the user");
        eq(escrow.balanceOf(taker, address(usd)), 0, "no credit");
    }

    function test_refund_two_inputs() public {
        StandardOrder memory order = cross();
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        order.inputs[1] = [uint256(uint160(address(weth))), 2e18];
        escrow.openFor(order, taker, byWitness(order, TAKER));
        vm.warp(uint256(order.expires) + 1);
        escrow.refund(order);
        eq(usd.balanceOf(taker), 1_000_000e6, "first");
        eq(weth.balanceOf(taker), 1000e18, "second");
    }

    function test_refund_of_a_sponsored_order_goes_to_the_user() public {
        StandardOrder memory order = toOpen(plain());
        usd.mint(stranger, IN);
        escrow.openFor(order, stranger, byOrder3009(order, STRANGER));
        vm.warp(uint256(order.expires) + 1);
        escrow.refund(order);
        eq(usd.balanceOf(taker), 1_000_000e6 + IN, "the user's");
    }

    function test_refund_refuses() public {
        StandardOrder memory order = cross();
        bytes32 orderId = idOf(order);
        refuse(order, err(IEscrow.TooEarly.selector, uint256(order.expires) + 1, START));
        openOrder(order);
        vm.warp(order.expires);
        refuse(order, err(IEscrow.TooEarly.selector, uint256(order.expires) + 1, order.expires));
        vm.warp(uint256(order.expires) + 1);
        StandardOrder memory other = cross();
        other.expires = order.expires;
        refuse(other, badStatus(idOf(other), OrderStatus.None));
        other = order;
        other.originChainId = THERE;
        refuse(other, err(IEscrow.WrongChain.selector, THERE, HERE));
        other.originChainId = HERE;
        escrow.refund(order);
        refuse(order, badStatus(orderId, OrderStatus.Refunded));
    }

    function test_refund_refuses_settled_orders() public {
        StandardOrder memory order = simple();
        settle(order);
        vm.warp(uint256(order.expires) + 1);
        refuse(order, badStatus(idOf(order), OrderStatus.Claimed));
    }

    function test_refund_that_cannot_be_pushed_is_credited() public {
        StandardOrder memory order = cross();
        bytes32 orderId = openOrder(order);
        vm.warp(uint256(order.expires) + 1);
        // The token stops moving altogether: its code is that of something that refuses every call but balanceOf.
        bytes memory code = address(usd).code;
        vm.etch(address(usd), address(new Frozen()).code);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Credited(taker, address(usd), IN);
        escrow.refund(order);
        eq(status(orderId), uint256(OrderStatus.Refunded), "refunded");
        eq(escrow.balanceOf(taker, address(usd)), IN, "credited");
        vm.etch(address(usd), code);
        vm.prank(taker);
        escrow.requestWithdrawal(address(usd), IN);
        vm.warp(block.timestamp + DELAY);
        vm.prank(taker);
        escrow.withdraw(address(usd), taker);
        eq(usd.balanceOf(taker), 1_000_000e6, "in the end");
    }

    function test_refund_of_a_token_that_is_gone() public {
        StandardOrder memory order = cross();
        openOrder(order);
        vm.warp(uint256(order.expires) + 1);
        vm.etch(address(usd), "");
        escrow.refund(order);
        eq(escrow.balanceOf(taker, address(usd)), IN, "credited");
    }

    /// @dev Whoever pays for the call decides nothing: a push gets the same gas every time, or the call reverts.
    function test_fuzz_gas_given_decides_no_refund(uint256 gasGiven, uint256 hunger) public {
        StandardOrder memory order = cross();
        bytes32 orderId = openOrder(order);
        vm.warp(uint256(order.expires) + 1);
        bytes memory code = address(usd).code;
        Hungry hungry = new Hungry();
        vm.etch(address(usd), address(hungry).code);
        Hungry(address(usd)).eat(hunger = bound(hunger, 0, 1_200_000));
        gasGiven = bound(gasGiven, 50_000, 2_500_000);
        vm.prank(stranger);
        (bool success,) = address(escrow).call{gas: gasGiven}(abi.encodeCall(escrow.refund, (order)));
        vm.etch(address(usd), code);
        eq(status(orderId), uint256(success ? OrderStatus.Refunded : OrderStatus.Deposited), "all or nothing");
        ok(success == (gasGiven > 700_000) || (gasGiven > 600_000 && gasGiven <= 700_000), "enough gas for a push");
        if (success) {
            bool modest = escrow.balanceOf(taker, address(usd)) == 0;
            ok(modest || hunger > 500_000, "a token that takes up to 500,000 is pushed");
            ok(!modest || hunger < 620_000, "one that takes more than 600,000 is credited");
        }
    }

    /* release */

    function refuseRelease(StandardOrder memory order, bytes[] memory signatures, bytes memory reason) internal {
        vm.prank(stranger);
        vm.expectRevert(reason);
        escrow.release(order, signatures);
    }

    function test_release() public {
        StandardOrder memory order = toOpen(split(IN, OUT));
        bytes32 orderId = openOrder(order);
        bytes[] memory signatures = new bytes[](3);
        signatures[0] = releaseSignature(orderId, LP);
        signatures[1] = releaseSignature(orderId, OPERATOR + 16);
        signatures[2] = releaseSignature(orderId, LP + 32);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Refunded(orderId);
        vm.prank(stranger);
        escrow.release(order, signatures);
        eq(usd.balanceOf(taker), 1_000_000e6, "back");
        eq(status(orderId), uint256(OrderStatus.Refunded), "refunded");
        refuseRelease(order, signatures, badStatus(orderId, OrderStatus.Refunded));
    }

    function test_release_refuses() public {
        StandardOrder memory order = toOpen(split(IN, OUT));
        bytes32 orderId = idOf(order);
        bytes[] memory signatures = new bytes[](3);
        for (uint256 i; i < 3; ++i) {
            signatures[i] = releaseSignature(orderId, LP + 16 * i);
        }
        refuseRelease(order, signatures, badStatus(orderId, OrderStatus.None));
        openOrder(order);
        refuseRelease(order, new bytes[](2), err(IEscrow.LengthMismatch.selector, 3, 2));
        (signatures[1], signatures[2]) = (signatures[2], signatures[1]);
        refuseRelease(order, signatures, badSigner(lp(1)));
        signatures[2] = signatures[1];
        signatures[1] = releaseSignature(keccak256("another"), LP + 16);
        refuseRelease(order, signatures, badSigner(lp(1)));
        signatures[1] = releaseSignature(orderId, TAKER);
        refuseRelease(order, signatures, badSigner(lp(1)));
    }

    function test_release_refuses_plain_orders() public {
        StandardOrder memory order = plain();
        openOrder(order);
        refuseRelease(order, new bytes[](1), err(IEscrow.NotAQuote.selector));
    }

    function test_release_refuses_other_chains() public {
        StandardOrder memory order = toOpen(simple());
        bytes[] memory signatures = new bytes[](1);
        signatures[0] = releaseSignature(openOrder(order), LP);
        order.originChainId = THERE;
        refuseRelease(order, signatures, err(IEscrow.WrongChain.selector, THERE, HERE));
    }
}

/// @notice A token whose transfer takes as much gas as it is told to.
contract Hungry {
    function eat(uint256 hunger) external {
        assembly ("memory-safe") {
            sstore(0x48756e677279, hunger)
        }
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function transfer(address, uint256) external view returns (bool) {
        uint256 hunger;
        assembly ("memory-safe") {
            hunger := sload(0x48756e677279)
        }
        uint256 before = gasleft();
        while (before - gasleft() < hunger) {}
        return true;
    }
}

contract Frozen {
    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }
}
