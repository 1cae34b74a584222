// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEscrow, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Attack} from "../attacks/Attack.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Puppet} from "../mocks/Puppet.sol";

/// @notice Group 8: tokens that do not do as they should.
contract TokensTest is Attack {
    AwkwardToken private token;

    function setUp() public override {
        super.setUp();
        fresh(18);
    }

    function fresh(uint8 decimals) private {
        token = new AwkwardToken(decimals);
        token.mint(taker, 1e50);
        token.mint(address(this), 1e50);
        vm.prank(taker);
        token.approve(address(escrow), type(uint256).max);
        token.approve(address(escrow), type(uint256).max);
    }

    /// @dev The taker pays in the awkward token by its own call.
    function asInput(uint256 amount) private returns (StandardOrder memory order) {
        order = toOpen(simple());
        order.inputs[0] = [uint256(uint160(address(token))), amount];
    }

    function openIt(StandardOrder memory order) private returns (bool success, bytes4 why) {
        bytes memory answer;
        vm.prank(taker);
        (success, answer) = address(escrow).call(abi.encodeCall(escrow.open, (order)));
        why = bytes4(answer);
    }

    function held() private view returns (uint256) {
        return token.balanceOf(address(escrow));
    }

    /// @dev Of a fresh order in the token: through open, fill and finalise, or through refund; everything arrives.
    function lifecycle(uint256 amount) private {
        StandardOrder memory order = asInput(amount);
        (bool success,) = openIt(order);
        ok(success, "open");
        eq(held(), amount, "held");
        uint256 had = token.balanceOf(taker);
        vm.warp(order.expires + 1);
        escrow.refund(order);
        eq(token.balanceOf(taker), had + amount, "refunded");
        eq(held(), 0, "all of it");
        // As an output, from the ledger, and back out of the ledger.
        escrow.depositFor(lp(0), address(token), amount);
        order = simple(IN, amount / 2);
        deliver(order, address(token));
        settle(order);
        eq(token.balanceOf(recipient), amount / 2, "delivered");
        vm.startPrank(lp(0));
        escrow.requestWithdrawal(address(token), amount - amount / 2);
        vm.warp(block.timestamp + DELAY);
        escrow.withdraw(address(token), address(0xd00d));
        vm.stopPrank();
        eq(token.balanceOf(address(0xd00d)), amount - amount / 2, "withdrawn");
        eq(held(), 0, "nothing left");
    }

    function test_8_decimals() public {
        uint8[5] memory decimals = [0, 6, 8, 18, 27];
        for (uint256 i; i < 5; ++i) {
            vm.warp(START + i * 1 days);
            fresh(decimals[i]);
            token.mint(taker, 1);
            recipient = vm.addr(0x9000 + i);
            uint256 amount = 1_000_000 * 10 ** uint256(decimals[i]);
            vm.assertGe(amount, RELAY, "enough for the fee");
            lifecycle(amount);
            uint256 out = token.balanceOf(address(0xd00d));
            vm.prank(address(0xd00d));
            token.transfer(address(1), out);
        }
    }

    function test_8_noReturnValue() public {
        token.setAnswer(AwkwardToken.Answer.Nothing);
        lifecycle(IN);
    }

    function test_8_oddAnswers() public {
        AwkwardToken.Answer[6] memory kinds = [
            AwkwardToken.Answer.Refuse,
            AwkwardToken.Answer.Lie,
            AwkwardToken.Answer.Junk,
            AwkwardToken.Answer.RevertBomb,
            AwkwardToken.Answer.Burn,
            AwkwardToken.Answer.Bomb
        ];
        for (uint256 i; i < 6; ++i) {
            token.setAnswer(kinds[i]);
            StandardOrder memory order = asInput(IN);
            bytes memory data = abi.encodeCall(escrow.open, (order));
            vm.prank(taker);
            (bool success,) = address(escrow).call{gas: 5_000_000}(data);
            // Only the long answer that begins with a plain yes is one.
            ok(success == (kinds[i] == AwkwardToken.Answer.Bomb), vm.toString(i));
            eq(held(), success ? IN : 0, "held");
            eq(status(idOf(order)), success ? 1 : 0, "status");
        }
    }

    /// @dev A token that turns bad after it was taken: the refund ends as a credit, and as a withdrawal once it is good again.
    function test_8_refundsOfATokenThatTurnedBad() public {
        for (uint256 i; i < 5; ++i) {
            vm.warp(START + i * 1 days);
            fresh(18);
            StandardOrder memory order = asInput(IN);
            (bool opened,) = openIt(order);
            ok(opened, "open");
            if (i == 0) token.setBlocked(taker, true);
            if (i == 1) token.setPaused(true);
            if (i == 2) token.setAnswer(AwkwardToken.Answer.Refuse);
            if (i == 3) token.setAnswer(AwkwardToken.Answer.RevertBomb);
            if (i == 4) token.setBlocked(address(escrow), true);
            vm.warp(order.expires + 1);
            vm.prank(stranger);
            escrow.refund(order);
            eq(status(idOf(order)), 3, "refunded whatever the token says");
            eq(ledger(taker, address(token)), IN, "as a credit");
            token.setBlocked(taker, false);
            token.setBlocked(address(escrow), false);
            token.setPaused(false);
            token.setAnswer(AwkwardToken.Answer.True);
            vm.startPrank(taker);
            escrow.requestWithdrawal(address(token), IN);
            vm.warp(block.timestamp + DELAY);
            escrow.withdraw(address(token), taker);
            vm.stopPrank();
            eq(token.balanceOf(taker), 1e50, "whole again");
        }
    }

    /// @dev One bad token of two does not hold the other back.
    function test_8_oneOfTwoInputsIsStuck() public {
        StandardOrder memory order = asInput(IN);
        secondInput(order, 1e18);
        approveAll(taker, address(weth));
        (bool opened,) = openIt(order);
        ok(opened, "open");
        token.setPaused(true);
        uint256 had = weth.balanceOf(taker);
        vm.warp(order.expires + 1);
        escrow.refund(order);
        eq(weth.balanceOf(taker), had + 1e18, "the good one is pushed");
        eq(ledger(taker, address(token)), IN, "the bad one is credited");
    }

    /// @dev Whoever has less than before has received nothing, however much less.
    function test_8_balancesThatFall() public {
        Puppet spender = new Puppet();
        recipient = address(spender);
        token.mint(recipient, 1e30);
        token.setHook(recipient, recipient);
        spender.plan(address(token), abi.encodeCall(token.transfer, (stranger, 1e30)));
        escrow.depositFor(lp(0), address(token), 1e18);
        StandardOrder memory order = simple(IN, 1e9);
        deliver(order, address(token));
        refusedSettle(order, by3009(order), IEscrow.ShortTransfer.selector, "spent on arrival");
    }

    function test_8_feeOnTransfer() public {
        token.setFee(100);
        uint256 received = escrow.deposit(address(token), 1000);
        eq(received, 990, "credited net");
        eq(ledger(address(this), address(token)), 990, "ledger");
        eq(held(), 990, "held");
        (bool success, bytes4 why) = openIt(asInput(IN));
        ok(!success && why == IEscrow.ShortTransfer.selector, "refused as an input");
        escrow.depositFor(lp(0), address(token), 1e18);
        StandardOrder memory order = simple(IN, 1e9);
        deliver(order, address(token));
        refusedSettle(order, by3009(order), IEscrow.ShortTransfer.selector, "refused as an output");
        token.setFee(10_000);
        refused(
            address(this),
            address(escrow),
            abi.encodeCall(escrow.deposit, (address(token), 1000)),
            IEscrow.ZeroValue.selector,
            "nothing arrived"
        );
    }

    /// @dev A shrinking token cannot be credited for more than came; growth belongs to nobody.
    function test_8_rebasing() public {
        escrow.depositFor(lp(0), address(token), 1000);
        token.setScale(2e18);
        eq(ledger(lp(0), address(token)), 1000, "the ledger stays nominal");
        eq(held(), 2000, "growth is nobody's");
        token.setScale(0.5e18);
        vm.startPrank(lp(0));
        escrow.requestWithdrawal(address(token), 1000);
        vm.warp(block.timestamp + DELAY);
        vm.stopPrank();
        refused(
            lp(0),
            address(escrow),
            abi.encodeCall(escrow.withdraw, (address(token), lp(0))),
            AwkwardToken.Short.selector,
            "less is there than is owed: no other token pays for it"
        );
        eq(usd.balanceOf(address(escrow)), 3 * 1_000_000e6, "other tokens are untouched");
    }

    function test_8_blockedRecipientOfAnOutput() public {
        escrow.depositFor(lp(0), address(token), IN);
        StandardOrder memory order = simple(IN, 1000);
        deliver(order, address(token));
        token.setBlocked(recipient, true);
        refusedSettle(order, by3009(order), AwkwardToken.Blocked.selector, "blocked: all or nothing");
        token.setBlocked(recipient, false);
        token.setPaused(true);
        refusedSettle(order, by3009(order), AwkwardToken.Paused.selector, "paused: all or nothing");
    }
}
