// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Approval, Commitment, IEscrow, MandateOutput, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Base} from "../support/Base.sol";

/// @notice limitOperator, operatorLimit, and every way in which an operator spends its account's ledger.
contract OperatorsTest is Base {
    uint96 internal constant MOST = 3e18;
    uint32 internal constant HOUR = 1 hours;

    function setUp() public override {
        super.setUp();
        limit(address(weth), MOST, HOUR);
    }

    function limit(address token, uint96 most, uint32 window) internal {
        vm.startPrank(lp(0));
        escrow.limitOperator(operator(0), token, most, window);
        remote.limitOperator(operator(0), token, most, window);
        vm.stopPrank();
    }

    function spentOf(IEscrow place) internal view returns (uint256 spent) {
        (,,,, spent) = place.operatorLimit(lp(0), operator(0), address(weth));
    }

    function exceeded(uint256 left, uint256 needed) internal view returns (bytes memory) {
        return abi.encodeWithSelector(
            IEscrow.OperatorLimitExceeded.selector, operator(0), address(weth), left, needed
        );
    }

    function refuse(StandardOrder memory order, bytes memory reason) internal {
        Commitment[] memory list = commitments(order);
        bytes memory funding = by3009(order);
        vm.expectRevert(reason);
        escrow.settle(order, funding, list);
    }

    /* SETTING */

    function test_limitOperator() public {
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.OperatorLimited(taker, stranger, address(weth), 5, 7);
        vm.prank(taker);
        escrow.limitOperator(stranger, address(weth), 5, 7);
        ok(escrow.isOperator(taker, stranger), "named");
        ok(!escrow.isOperator(stranger, taker), "one way");
        (bool limited, uint256 most, uint256 window, uint256 since, uint256 spent) =
            escrow.operatorLimit(taker, stranger, address(weth));
        ok(limited, "limited");
        eq(most, 5, "most");
        eq(window, 7, "window");
        eq(since, 0, "no window yet");
        eq(spent, 0, "nothing spent");
        (limited, most,,,) = escrow.operatorLimit(taker, stranger, address(usd));
        ok(limited && most == 0, "none of another token");
    }

    function test_an_operator_set_without_limits_has_none_and_a_revoked_one_may_nothing() public {
        vm.prank(lp(0));
        escrow.setOperator(operator(0), true);
        (bool limited,,,,) = escrow.operatorLimit(lp(0), operator(0), address(weth));
        ok(!limited, "unlimited");
        settle(simple(IN, 100e18));
        eq(spentOf(escrow), 0, "not counted");
        vm.prank(lp(0));
        escrow.setOperator(operator(0), false);
        refuse(simple(), abi.encodeWithSelector(IEscrow.InvalidSignature.selector, lp(0)));
        (limited,,,,) = escrow.operatorLimit(lp(0), operator(0), address(weth));
        ok(!limited && !escrow.isOperator(lp(0), operator(0)), "revoked with its limits");
        limit(address(usd), 1, HOUR);
        settle(simple(IN, MOST));
        eq(spentOf(escrow), MOST, "the limit of before holds again");
    }

    /* SPENDING */

    function test_settle_counts_to_the_unit() public {
        settle(simple(IN, 1e18));
        settle(simple(IN, 2e18 - 1));
        eq(spentOf(escrow), MOST - 1, "counted");
        refuse(simple(IN, 2), exceeded(1, 2));
        settle(simple(IN, 1));
        refuse(simple(IN, 1), exceeded(0, 1));
        eq(escrow.balanceOf(lp(0), address(weth)), 1000e18 - MOST, "no more than the limit has left");
    }

    function test_a_token_without_a_limit_is_not_spent() public {
        StandardOrder memory order = simple();
        order.inputs[0] = [uint256(uint160(address(weth))), OUT];
        order.outputs[0].token = word(address(usd));
        order.outputs[0].amount = 1;
        Commitment[] memory list = commitments(order);
        bytes memory funding = byWitness(order, TAKER);
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.OperatorLimitExceeded.selector, operator(0), address(usd), 0, 1)
        );
        escrow.settle(order, funding, list);
    }

    function test_the_account_itself_has_no_limit() public {
        StandardOrder memory order = simple(IN, 10e18);
        Commitment[] memory list = commitments(order);
        list[0].signature = sign(LP, commitmentDigest(idOf(order), list[0]));
        escrow.settle(order, by3009(order), list);
        eq(spentOf(escrow), 0, "not counted");
        MandateOutput memory o = made(10e18);
        vm.prank(lp(0));
        remote.fill("made up", o, deadline(), fillerData(lp(0)));
        eq(remote.balanceOf(lp(0), address(weth)), 990e18, "paid");
    }

    function test_one_operator_is_no_other() public {
        vm.prank(lp(0));
        escrow.limitOperator(operator(1), address(weth), 1e18, HOUR);
        settle(simple(IN, MOST));
        StandardOrder memory order = simple(IN, 1e18);
        Commitment[] memory list = commitments(order);
        list[0].signature = sign(OPERATOR + 16, commitmentDigest(idOf(order), list[0]));
        escrow.settle(order, by3009(order), list);
        order = split(IN, 2e18);
        list = commitments(order);
        bytes memory funding = by3009(order);
        vm.expectRevert(exceeded(0, 1e18));
        escrow.settle(order, funding, list);
    }

    /// @dev An output of an order that nobody ever opened, as the thief of a key would make it up.
    function made(uint256 amount) internal returns (MandateOutput memory o) {
        vm.chainId(THERE);
        o = output(remote, THERE, amount, "");
        o.oracle = word(address(oracle));
    }

    function test_a_thief_of_the_key_fills_up_to_the_limit_and_no_further() public {
        uint32 until = deadline();
        MandateOutput memory o = made(MOST + 1);
        vm.prank(operator(0));
        vm.expectRevert(exceeded(MOST, MOST + 1));
        remote.fill("made up", o, until, fillerData(lp(0)));
        o = made(2e18);
        vm.prank(operator(0));
        remote.fill("made up", o, until, fillerData(lp(0)));
        vm.prank(operator(0));
        vm.expectRevert(exceeded(1e18, 2e18));
        remote.fill("another", o, until, fillerData(lp(0)));
        // What is filled already pays nothing, so it counts nothing.
        vm.prank(operator(0));
        remote.fill("made up", o, until, fillerData(lp(0)));
        MandateOutput[] memory two = new MandateOutput[](2);
        (two[0], two[1]) = (made(5e17), made(6e17));
        vm.prank(operator(0));
        vm.expectRevert(exceeded(5e17, 6e17));
        remote.fillOrderOutputs("third", two, until, fillerData(lp(0)));
        eq(remote.balanceOf(lp(0), address(weth)), 998e18, "what is left");
        eq(spentOf(remote), 2e18, "counted where it was spent");
        eq(spentOf(escrow), 0, "and nowhere else");
    }

    function test_an_operator_that_pays_by_itself_spends_nothing() public {
        weth.mint(operator(0), 2000e18);
        uint32 until = deadline();
        MandateOutput memory o = made(2000e18);
        vm.startPrank(operator(0));
        weth.approve(address(remote), 2000e18);
        remote.fill("made up", o, until, fillerData(lp(0)));
        vm.stopPrank();
        eq(spentOf(remote), 0, "not counted");
        eq(remote.balanceOf(lp(0), address(weth)), 1000e18, "not paid");
    }

    function test_fillWithApprovals_counts() public {
        StandardOrder memory order = cross();
        order.outputs[0].amount = MOST;
        bytes32 orderId = openOrder(order);
        vm.chainId(THERE);
        Approval[] memory approvals = new Approval[](1);
        approvals[0] = approvalFor(remote, orderId, order.outputs[0], order.fillDeadline, OPERATOR);
        remote.fillWithApprovals(orderId, order.outputs, order.fillDeadline, approvals);
        eq(spentOf(remote), MOST, "counted");
        vm.chainId(HERE);
        order = cross();
        orderId = openOrder(order);
        vm.chainId(THERE);
        approvals[0] = approvalFor(remote, orderId, order.outputs[0], order.fillDeadline, OPERATOR);
        vm.expectRevert(exceeded(0, OUT));
        remote.fillWithApprovals(orderId, order.outputs, order.fillDeadline, approvals);
    }

    function test_release_counts_every_input() public {
        StandardOrder memory order = cross();
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(weth))), 2e18];
        order.inputs[1] = [uint256(uint160(address(usd))), IN];
        escrow.openFor(order, taker, byWitness(order, TAKER));
        bytes[] memory signatures = new bytes[](1);
        signatures[0] = releaseSignature(idOf(order), OPERATOR);
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.OperatorLimitExceeded.selector, operator(0), address(usd), 0, IN)
        );
        escrow.release(order, signatures);
        limit(address(usd), uint96(IN), HOUR);
        escrow.release(order, signatures);
        eq(spentOf(escrow), 2e18, "counted");
        eq(weth.balanceOf(taker), 1000e18, "given back");
    }

    /* WINDOWS */

    function test_a_window_begins_with_its_first_spending() public {
        vm.warp(START + 100);
        settle(simple(IN, MOST));
        vm.warp(START + 100 + HOUR - 1);
        refuse(simple(IN, 1), exceeded(0, 1));
        vm.warp(START + 100 + HOUR);
        settle(simple(IN, 1));
        (,,, uint256 since, uint256 spent) = escrow.operatorLimit(lp(0), operator(0), address(weth));
        eq(since, START + 100 + HOUR, "a new window");
        eq(spent, 1, "of its own");
    }

    /// @dev N05: it would be a limit of each payment.
    function test_a_window_of_no_time_is_refused() public {
        vm.prank(lp(0));
        vm.expectRevert(err(IEscrow.InvalidParameter.selector));
        escrow.limitOperator(operator(0), address(weth), MOST, 0);
        limit(address(weth), MOST, 1);
        settle(simple(IN, MOST));
        refuse(simple(IN, 1), exceeded(0, 1));
        vm.warp(block.timestamp + 1);
        settle(simple(IN, MOST));
    }

    function test_what_is_left_is_what_may_be_spent() public {
        eq(escrow.operatorLeft(lp(0), lp(0), address(weth)), type(uint256).max, "the account itself");
        eq(escrow.operatorLeft(lp(0), operator(0), address(weth)), MOST, "all of it");
        settle(simple(IN, MOST - 1));
        eq(escrow.operatorLeft(lp(0), operator(0), address(weth)), 1, "one");
        limit(address(weth), MOST - 2, HOUR);
        eq(escrow.operatorLeft(lp(0), operator(0), address(weth)), 0, "less than is spent");
        vm.warp(block.timestamp + HOUR);
        eq(escrow.operatorLeft(lp(0), operator(0), address(weth)), MOST - 2, "a new window");
        eq(escrow.operatorLeft(lp(0), operator(0), address(usd)), 0, "a token without a limit");
    }

    function test_the_longest_window_and_the_largest_limit() public {
        limit(address(weth), type(uint96).max, type(uint32).max);
        settle(simple(IN, 1));
        vm.warp(START + 30 days);
        settle(simple(IN, 1));
        eq(spentOf(escrow), 2, "one window");
    }

    function test_lowering_counts_at_once_and_raising_keeps_what_is_spent() public {
        settle(simple(IN, 2e18));
        limit(address(weth), 1e18, HOUR);
        refuse(simple(IN, 1), exceeded(0, 1));
        limit(address(weth), 5e18, HOUR);
        eq(spentOf(escrow), 2e18, "kept");
        refuse(simple(IN, 3e18 + 1), exceeded(3e18, 3e18 + 1));
        settle(simple(IN, 3e18));
    }

    /// @dev However it is divided over time: each window lets through at most the limit, and no two begin closer than a window.
    function test_fuzz_spent_is_at_most_the_limit_in_each_window(uint256 seed) public {
        uint256 begun;
        uint256 total;
        for (uint256 i; i < 12; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            vm.warp(block.timestamp + seed % (HOUR / 2));
            uint256 amount = 1 + (seed >> 64) % (2 * uint256(MOST) / 3);
            StandardOrder memory order = simple(IN, amount);
            Commitment[] memory list = commitments(order);
            (bool success,) = address(escrow).call(abi.encodeCall(escrow.settle, (order, by3009(order), list)));
            if (!success) continue;
            if (begun == 0) begun = block.timestamp;
            total += amount;
            vm.assertLe(total, uint256(MOST) * ((block.timestamp - begun) / HOUR + 1), "more than the limit");
        }
        eq(escrow.balanceOf(lp(0), address(weth)), 1000e18 - total, "what left");
    }
}
