// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {Commitment, IEscrow, MandateOutput, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Fade, IQuoteBond} from "../../src/interfaces/IQuoteBond.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Puppet} from "../mocks/Puppet.sol";
import {Wallet} from "../mocks/Wallet.sol";
import {BondBase} from "../support/BondBase.sol";
import {Vm} from "../support/Vm.sol";

/// @notice post, requestTakeBack, takeBack, setTerms, and claims of one chain.
contract QuoteBondTest is BondBase {
    uint256 internal constant PAID = OUT * SHARE / 10_000;

    /* DEPLOYMENT */

    function deployBond(address escrow_, address to, uint256 share, uint256 delay) public {
        vm.deployCode("QuoteBond.sol:QuoteBond", abi.encode(escrow_, to, share, delay));
    }

    function refuseDeployment(address escrow_, address to, uint256 share, uint256 delay) private {
        (bool success,) =
            address(this).call(abi.encodeCall(this.deployBond, (escrow_, to, share, delay)));
        ok(!success, "deployed");
    }

    function test_parameters() public {
        eq(bond.ESCROW(), address(escrow), "escrow");
        eq(bond.FORFEIT_TO(), forfeitTo, "forfeit to");
        eq(bond.SHARE_BPS(), SHARE, "share");
        eq(bond.TAKE_BACK_DELAY(), TAKE_BACK, "delay");
        refuseDeployment(stranger, forfeitTo, SHARE, TAKE_BACK);
        refuseDeployment(address(escrow), address(0), SHARE, TAKE_BACK);
        refuseDeployment(address(escrow), forfeitTo, 0, TAKE_BACK);
        refuseDeployment(address(escrow), forfeitTo, 10_001, TAKE_BACK);
        refuseDeployment(address(escrow), forfeitTo, SHARE, DELAY);
        refuseDeployment(address(escrow), forfeitTo, SHARE, 1 << 32);
        deployBond(address(escrow), forfeitTo, 10_000, DELAY + 1);
    }

    /* THE BOND */

    function test_post_is_measured_and_for_anybody() public {
        AwkwardToken token = new AwkwardToken(6);
        token.setFee(100);
        token.mint(address(this), 1000);
        token.approve(address(bond), 1000);
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.Posted(taker, address(token), address(this), 990);
        eq(bond.post(taker, address(token), 1000), 990, "net of the token's fee");
        eq(bonded(taker, address(token)), 990, "bond");
        token.setFee(0);
        token.mint(address(this), 1);
        vm.expectRevert(IQuoteBond.ZeroValue.selector);
        bond.post(taker, address(token), 0);
        vm.expectRevert(about(IQuoteBond.InvalidRecipient.selector, address(0)));
        bond.post(address(0), address(token), 1);
        vm.expectRevert(about(IQuoteBond.InvalidRecipient.selector, address(bond)));
        bond.post(address(bond), address(token), 1);
    }

    function test_post_is_not_credited_twice_by_a_token_that_calls_back() public {
        AwkwardToken token = new AwkwardToken(6);
        Puppet puppet = new Puppet();
        token.mint(address(puppet), 100);
        puppet.act(address(token), abi.encodeCall(token.approve, (address(bond), 100)));
        token.setHook(address(puppet), address(puppet));
        puppet.plan(address(bond), abi.encodeCall(bond.post, (address(puppet), address(token), 50)));
        puppet.plan(address(bond), abi.encodeCall(bond.takeBack, (address(token), address(puppet))));
        puppet.plan(address(bond), abi.encodeCall(bond.takeOwed, (address(token), address(puppet))));
        StandardOrder memory order = simple();
        Commitment memory commitment = commitments(order)[0];
        puppet.plan(address(bond), abi.encodeCall(bond.claim, (order, "", commitment)));
        puppet.plan(address(bond), abi.encodeCall(bond.claimUnfilled, (order, commitment)));
        puppet.plan(address(bond), abi.encodeCall(bond.settleOrClaim, (order, "", "", commitments(order))));
        puppet.act(address(bond), abi.encodeCall(bond.post, (address(puppet), address(token), 50)));
        eq(bonded(address(puppet), address(token)), 50, "once");
        for (uint256 i; i < 6; ++i) {
            ok(puppet.results()[i] == IQuoteBond.Reentered.selector, "locked");
        }
    }

    function test_takeBack_takes_the_whole_delay() public {
        vm.prank(lp(0));
        vm.expectRevert(
            abi.encodeWithSelector(
                IQuoteBond.InsufficientBond.selector, lp(0), address(weth), 10e18, 10e18 + 1
            )
        );
        bond.requestTakeBack(address(weth), 10e18 + 1);
        vm.prank(lp(0));
        vm.expectRevert(abi.encodeWithSelector(IQuoteBond.NothingOwed.selector, lp(0), address(weth)));
        bond.takeBack(address(weth), recipient);

        uint256 from = block.timestamp + TAKE_BACK;
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.TakeBackRequested(lp(0), address(weth), 4e18, from);
        vm.prank(lp(0));
        bond.requestTakeBack(address(weth), 4e18);
        (uint256 amount, uint256 leaving, uint256 availableAt) = bond.bondOf(lp(0), address(weth));
        ok(amount == 10e18 && leaving == 4e18 && availableAt == from, "asked for");

        vm.warp(from - 1);
        vm.prank(lp(0));
        vm.expectRevert(err(IQuoteBond.TooEarly.selector, from, from - 1));
        bond.takeBack(address(weth), recipient);
        vm.warp(from);
        vm.prank(lp(0));
        vm.expectRevert(about(IQuoteBond.InvalidRecipient.selector, address(bond)));
        bond.takeBack(address(weth), address(bond));
        uint256 before = weth.balanceOf(recipient);
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.TakenBack(lp(0), address(weth), recipient, 4e18);
        vm.prank(lp(0));
        eq(bond.takeBack(address(weth), recipient), 4e18, "taken");
        eq(weth.balanceOf(recipient) - before, 4e18, "paid");
        (amount, leaving, availableAt) = bond.bondOf(lp(0), address(weth));
        ok(amount == 6e18 && leaving == 0 && availableAt == 0, "what is left");
    }

    function test_a_request_is_replaced_and_withdrawn() public {
        vm.startPrank(lp(0));
        bond.requestTakeBack(address(weth), 4e18);
        vm.warp(block.timestamp + TAKE_BACK);
        bond.requestTakeBack(address(weth), 5e18);
        vm.expectRevert(
            err(IQuoteBond.TooEarly.selector, block.timestamp + TAKE_BACK, block.timestamp)
        );
        bond.takeBack(address(weth), recipient);
        bond.requestTakeBack(address(weth), 0);
        (, uint256 leaving, uint256 availableAt) = bond.bondOf(lp(0), address(weth));
        ok(leaving == 0 && availableAt == 0, "withdrawn");
        vm.stopPrank();
    }

    function test_what_leaves_pays_until_it_has_left() public {
        vm.prank(lp(0));
        bond.requestTakeBack(address(weth), 10e18);
        StandardOrder memory order = simple();
        moveAway(lp(0), address(weth), 0);
        claim(order, 0);
        (uint256 amount, uint256 leaving,) = bond.bondOf(lp(0), address(weth));
        eq(amount, 10e18 - 2 * PAID, "paid");
        eq(leaving, amount, "no more than what is left may leave");
        vm.warp(block.timestamp + TAKE_BACK);
        vm.prank(lp(0));
        eq(bond.takeBack(address(weth), recipient), amount, "the rest");
    }

    function test_a_claim_leaves_a_request_alone_that_the_rest_of_the_bond_covers() public {
        StandardOrder memory order = simple();
        moveAway(lp(0), address(weth), 0);
        vm.prank(lp(0));
        bond.requestTakeBack(address(weth), 1e18);
        claim(order, 0);
        (, uint256 leaving,) = bond.bondOf(lp(0), address(weth));
        eq(leaving, 1e18, "as it was asked for");
    }

    function test_first_terms_count_at_once_and_later_ones_after_the_delay() public {
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.TermsSet(lp(0), 30, true, block.timestamp);
        setTerms(lp(0), 30, true);
        (uint256 fillWindow, bool wallets) = bond.termsOf(lp(0));
        ok(fillWindow == 30 && wallets, "at once");
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.TermsSet(lp(0), 0, false, block.timestamp + TAKE_BACK);
        setTerms(lp(0), 0, false);
        vm.warp(block.timestamp + TAKE_BACK - 1);
        (fillWindow, wallets) = bond.termsOf(lp(0));
        ok(fillWindow == 30 && wallets, "not yet");
        vm.warp(block.timestamp + 1);
        (fillWindow, wallets) = bond.termsOf(lp(0));
        ok(fillWindow == 0 && !wallets, "now");
    }

    function test_terms_on_their_way_are_replaced_and_those_in_force_stay() public {
        setTerms(lp(0), 30, true);
        setTerms(lp(0), 0, false);
        vm.warp(block.timestamp + TAKE_BACK - 1);
        setTerms(lp(0), 60, true);
        vm.warp(block.timestamp + TAKE_BACK - 1);
        (uint256 fillWindow,) = bond.termsOf(lp(0));
        eq(fillWindow, 30, "the first");
        vm.warp(block.timestamp + 1);
        (fillWindow,) = bond.termsOf(lp(0));
        eq(fillWindow, 60, "the last");
    }

    /* CLAIMS: WHAT IS PAID */

    function test_an_lp_that_moved_its_money_away_pays_the_taker() public {
        StandardOrder memory order = simple();
        moveAway(lp(0), address(weth), OUT - 1);
        uint256 before = weth.balanceOf(taker);
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.Faded(
            lp(0), taker, idOf(order), keccak256("quote"), Fade.Balance, address(weth), OUT, PAID, PAID
        );
        eq(claim(order, 0), PAID, "paid");
        eq(weth.balanceOf(taker) - before, PAID, "half a per cent");
        eq(bond.owed(forfeitTo, address(weth)), PAID, "as much is forfeited");
        eq(bonded(lp(0), address(weth)), 10e18 - 2 * PAID, "out of the bond");
        ok(bond.isClaimed(taker, order.nonce, lp(0)), "claimed");
        refuseClaim(
            order, abi.encodeWithSelector(IQuoteBond.ClaimedBefore.selector, taker, order.nonce, lp(0))
        );
        vm.prank(forfeitTo);
        eq(bond.takeOwed(address(weth), forfeitTo), PAID, "taken");
        eq(weth.balanceOf(forfeitTo), PAID, "by it");
        vm.prank(forfeitTo);
        vm.expectRevert(abi.encodeWithSelector(IQuoteBond.NothingOwed.selector, forfeitTo, address(weth)));
        bond.takeOwed(address(weth), forfeitTo);
    }

    function test_a_lowered_limit_pays() public {
        StandardOrder memory order = simple();
        vm.prank(lp(0));
        escrow.limitOperator(operator(0), address(weth), uint96(OUT - 1), 1 hours);
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.Faded(
            lp(0), taker, idOf(order), keccak256("quote"), Fade.Limit, address(weth), OUT, PAID, PAID
        );
        claim(order, 0);
    }

    /// @dev What the LP itself signs has no limit, also if it has limited nobody's key.
    function test_a_limit_of_nobody_is_no_limit_of_the_lp() public {
        vm.prank(lp(0));
        escrow.limitOperator(address(0), address(weth), 0, 1 hours);
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        list[0].signature = sign(LP, commitmentDigest(idOf(order), list[0]));
        refuseClaim(order, orderSignature(order), list[0], about(IQuoteBond.PromiseStands.selector, lp(0)));
        escrow.settle(order, by3009(order), list);
    }

    function test_a_limit_is_counted_as_the_escrow_counts() public {
        vm.prank(lp(0));
        escrow.limitOperator(operator(0), address(weth), uint96(2 * OUT), 30);
        settle(simple(IN, OUT + 1));
        StandardOrder memory order = simple();
        vm.warp(block.timestamp + 29);
        uint256 snapshot = vm.snapshotState();
        claim(order, 0);
        vm.revertToState(snapshot);
        vm.warp(block.timestamp + 1);
        refuseClaim(order, about(IQuoteBond.PromiseStands.selector, lp(0)));
        settle(order);
        order = simple(IN, OUT);
        refuseClaim(order, about(IQuoteBond.PromiseStands.selector, lp(0)));
        vm.prank(lp(0));
        escrow.limitOperator(operator(0), address(weth), uint96(OUT - 1), 30);
        order = simple(IN, 1e6);
        claim(order, 0);
    }

    function test_a_revoked_operator_pays_for_what_it_may_have_signed() public {
        StandardOrder memory order = simple();
        order.fillDeadline = uint32(block.timestamp + DELAY);
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_000, FEE, RELAY);
        StandardOrder memory later = simple();
        later.fillDeadline = order.fillDeadline + 1;
        later.outputs[0].context = quoteContext(lp(0), later.fillDeadline, 10_000, FEE, RELAY);
        vm.prank(lp(0));
        escrow.setOperator(operator(0), false);
        eq(escrow.revokedAt(lp(0), operator(0)), block.timestamp, "when");
        refuseClaim(later, about(IQuoteBond.NotCommitted.selector, lp(0)));
        vm.warp(order.fillDeadline);
        vm.prank(lp(0));
        escrow.setOperator(operator(0), false);
        refuseClaim(later, about(IQuoteBond.NotCommitted.selector, lp(0)));
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.Faded(
            lp(0), taker, idOf(order), keccak256("quote"), Fade.Revoked, address(weth), OUT, PAID, PAID
        );
        claim(order, 0);
    }

    function test_an_operator_allowed_again_can_keep_its_promise() public {
        StandardOrder memory order = simple();
        vm.startPrank(lp(0));
        escrow.setOperator(operator(0), false);
        escrow.setOperator(operator(0), true);
        vm.stopPrank();
        eq(escrow.revokedAt(lp(0), operator(0)), 0, "not revoked");
        refuseClaim(order, about(IQuoteBond.PromiseStands.selector, lp(0)));
    }

    function test_each_lp_of_a_split_answers_for_itself() public {
        StandardOrder memory order = split(IN, OUT);
        moveAway(lp(1), address(weth), 0);
        refuseClaim(order, about(IQuoteBond.PromiseStands.selector, lp(0)));
        eq(claim(order, 1), order.outputs[1].amount * SHARE / 10_000, "its own slice");
        moveAway(lp(2), address(weth), 0);
        eq(claim(order, 2), order.outputs[2].amount * SHARE / 10_000, "the other");
    }

    function test_at_most_the_bond_and_half_of_it_is_forfeited() public {
        moveAway(lp(0), address(weth), 0);
        eq(claim(simple(IN, 5000e18), 0), 5e18, "half of the bond");
        eq(bonded(lp(0), address(weth)), 0, "all of it");
        StandardOrder memory order = simple();
        refuseClaim(
            order, about(IQuoteBond.NothingToPay.selector, lp(0))
        );
        ok(!bond.isClaimed(taker, order.nonce, lp(0)), "nothing was claimed");
        post(lp(0), address(weth), 1);
        eq(claim(order, 0), 1, "the odd unit is the taker's");
        post(lp(0), address(weth), 3);
        eq(claim(simple(IN, type(uint256).max), 0), 2, "whatever was promised");
    }

    function test_dust_is_not_claimed() public {
        moveAway(lp(0), address(weth), 0);
        refuseClaim(
            simple(IN, 199), about(IQuoteBond.NothingToPay.selector, lp(0))
        );
        eq(claim(simple(IN, 200), 0), 1, "one unit");
    }

    function test_a_taker_that_cannot_be_paid_now_is_owed() public {
        AwkwardToken token = new AwkwardToken(18);
        token.mint(address(this), 100);
        token.approve(address(bond), 100);
        bond.post(lp(0), address(token), 100);
        StandardOrder memory order = simple(IN, 2000);
        order.outputs[0].token = word(address(token));
        token.setBlocked(taker, true);
        eq(claim(order, 0), 10, "paid");
        eq(bond.owed(taker, address(token)), 10, "owed");
        vm.prank(taker);
        vm.expectRevert(about(IQuoteBond.InvalidRecipient.selector, address(bond)));
        bond.takeOwed(address(token), address(bond));
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.OwedTaken(taker, address(token), recipient, 10);
        vm.prank(taker);
        bond.takeOwed(address(token), recipient);
        eq(token.balanceOf(recipient), 10, "where it says");
    }

    /* SEVERAL OUTPUTS OF ONE LP */

    /// @dev Two outputs of the same LP, to two recipients.
    function twice(uint256 first, uint256 second) private returns (StandardOrder memory order) {
        order = blank(IN, 2);
        for (uint256 i; i < 2; ++i) {
            order.outputs[i] = output(escrow, HERE, i == 0 ? first : second, "");
            order.outputs[i].context = quoteContext(lp(0), order.fillDeadline, 5_000, FEE, 0);
        }
        order.outputs[1].recipient = word(taker);
    }

    /// @dev N02: each alone is covered, both are not.
    function test_what_an_lp_promised_in_all_has_to_be_there() public {
        StandardOrder memory order = twice(OUT, 3 * OUT);
        moveAway(lp(0), address(weth), 4 * OUT - 1);
        uint256 snapshot = vm.snapshotState();
        fundLp(lp(0), address(weth), 1);
        refuseClaim(order, about(IQuoteBond.PromiseStands.selector, lp(0)));
        settle(order);
        vm.revertToState(snapshot);
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.Faded(
            lp(0), taker, idOf(order), keccak256("quote"), Fade.Balance, address(weth), 4 * OUT, 4 * PAID, 4 * PAID
        );
        eq(claim(order, 0), 4 * PAID, "the share of both");
        eq(bonded(lp(0), address(weth)), 10e18 - 8 * PAID, "once");
    }

    function test_a_limit_has_to_cover_the_sum() public {
        StandardOrder memory order = twice(OUT, OUT);
        vm.prank(lp(0));
        escrow.limitOperator(operator(0), address(weth), uint96(2 * OUT), 1 hours);
        refuseClaim(order, about(IQuoteBond.PromiseStands.selector, lp(0)));
        vm.prank(lp(0));
        escrow.limitOperator(operator(0), address(weth), uint96(2 * OUT - 1), 1 hours);
        eq(claim(order, 0), 2 * PAID, "both");
    }

    /// @dev N03: whoever claims the small output first has claimed the large one too.
    function test_no_output_is_claimed_apart_from_the_others() public {
        StandardOrder memory order = twice(200, OUT);
        order.outputs[1].token = word(address(usd));
        order.outputs[1].amount = 1_000e6;
        moveAway(lp(0), address(weth), 0);
        (bytes memory signature, Commitment memory commitment) = (orderSignature(order), commitments(order)[1]);
        vm.prank(lp(0));
        uint256[] memory paid = bond.claim(order, signature, commitment);
        ok(paid[0] == 1 && paid[1] == 5e6, "what it promised in each token, though only one fails");
        eq(usd.balanceOf(taker), 1_000_000e6 + 5e6, "to the taker");
        refuseClaim(
            order, abi.encodeWithSelector(IQuoteBond.ClaimedBefore.selector, taker, order.nonce, lp(0))
        );
    }

    /// @dev Behind another LP's output in another token.
    function test_the_sum_of_later_outputs_is_paid_once() public {
        StandardOrder memory order = blank(IN, 3);
        for (uint256 i; i < 3; ++i) {
            order.outputs[i] = output(escrow, HERE, OUT, "");
            order.outputs[i].context = quoteContext(
                lp(i == 0 ? 1 : 0), order.fillDeadline, i == 0 ? 3_334 : 3_333, FEE, 0
            );
        }
        order.outputs[0].token = word(address(usd));
        order.outputs[2].recipient = word(taker);
        moveAway(lp(0), address(weth), 0);
        eq(claim(order, 1), 2 * PAID, "both, at the first");
        eq(bonded(lp(0), address(weth)), 10e18 - 4 * PAID, "once");
    }

    function test_the_first_output_that_fails_gives_the_reason() public {
        StandardOrder memory order = twice(OUT, 1_000e6);
        order.outputs[1].token = word(address(usd));
        moveAway(lp(0), address(weth), 0);
        vm.prank(lp(0));
        escrow.limitOperator(operator(0), address(usd), 1, 1 hours);
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.Faded(
            lp(0), taker, idOf(order), keccak256("quote"), Fade.Balance, address(weth), OUT, PAID, PAID
        );
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.Faded(
            lp(0), taker, idOf(order), keccak256("quote"), Fade.Balance, address(usd), 1_000e6, 5e6, 5e6
        );
        claim(order, 0);
    }

    /// @dev Twice the share of 2^128 - 1 is less than this bond; from 2^128 on no share is counted.
    function test_a_promise_of_2_to_the_128_costs_any_bond_whole() public {
        post(lp(0), address(weth), 2 ** 127 - 10e18);
        uint256 snapshot = vm.snapshotState();
        eq(claim(simple(IN, 2 ** 128), 0), 2 ** 126, "half of the bond");
        vm.revertToState(snapshot);
        eq(claim(simple(IN, 2 ** 128 - 1), 0), uint256(2 ** 128 - 1) * SHARE / 10_000, "the share");
    }

    function test_promises_beyond_every_number_cost_the_bond() public {
        StandardOrder memory order = twice(type(uint256).max, type(uint256).max);
        eq(claim(order, 0), 5e18, "half of the bond");
    }

    /// @dev N06: one LP's delivery into another's ledger balance pays for that one's output, if it comes before.
    function test_what_settles_is_not_claimed() public {
        for (uint256 first; first < 2; ++first) {
            StandardOrder memory order = blank(IN, 2);
            for (uint256 i; i < 2; ++i) {
                order.outputs[i] = output(escrow, HERE, OUT, "");
                order.outputs[i].context = quoteContext(lp(i == first ? 0 : 1), order.fillDeadline, 5_000, FEE, 0);
            }
            order.outputs[first].recipient = word(address(escrow));
            order.outputs[first].callbackData = ledgerData(false, lp(1));
            moveAway(lp(1), address(weth), 1);
            uint256 snapshot = vm.snapshotState();
            (bool settled,) = address(escrow).call(
                abi.encodeCall(escrow.settle, (order, by3009(order), commitments(order)))
            );
            ok(settled == (first == 0), "the order of the outputs is that of the deliveries");
            vm.revertToState(snapshot);
            if (settled) {
                (bytes memory signature, Commitment memory commitment) = (orderSignature(order), commitments(order)[1]);
                refuseClaim(order, signature, commitment, about(IQuoteBond.PromiseStands.selector, lp(1)));
                settle(order);
            } else {
                eq(claim(order, 0), PAID, "too late for it");
            }
        }
    }

    function test_fuzz_several_outputs_claimed_exactly_when_settlement_fails_for_the_lp(uint256 seed) public {
        StandardOrder memory order = blank(IN, 3);
        for (uint256 i; i < 3; ++i) {
            order.outputs[i] = output(escrow, HERE, 1e6 + bound(uint256(keccak256(abi.encode(seed, i))), 0, OUT), "");
            order.outputs[i].context = quoteContext(
                lp(seed >> i & 1), order.fillDeadline, i == 0 ? 3_334 : 3_333, FEE, 0
            );
            if (seed >> (8 + i) & 1 == 0) order.outputs[i].token = word(address(usd));
            if (seed >> (16 + i) & 1 == 0) {
                order.outputs[i].recipient = word(address(escrow));
                order.outputs[i].callbackData = ledgerData(false, lp(seed >> (24 + i) & 1));
            }
        }
        moveAway(lp(0), address(weth), bound(seed >> 32, 0, 2 * OUT));
        moveAway(lp(0), address(usd), bound(seed >> 96, 0, 1_000_000e6));
        _oneOfTheTwo(order);
    }

    /// @dev Only the first LP can be short: the other has enough for anything.
    function _oneOfTheTwo(StandardOrder memory order) private {
        fundLp(lp(1), address(usd), 4 * OUT);
        (bytes memory signature, Commitment[] memory list) = (orderSignature(order), commitments(order));
        uint256 named = 3;
        for (uint256 i; i < 3; ++i) {
            if (list[i].lp == lp(0) && named == 3) named = i;
        }
        bytes memory funding = by3009(order);
        uint256 snapshot = vm.snapshotState();
        (bool settled,) = address(escrow).call(abi.encodeCall(escrow.settle, (order, funding, list)));
        vm.revertToState(snapshot);
        if (named == 3) return ok(settled, "nobody is short");
        (bool claimed,) = address(bond).call(abi.encodeCall(bond.claim, (order, signature, list[named])));
        ok(settled != claimed, "one of the two");
    }

    /* SETTLE, ELSE CLAIM */

    function settleOrClaim(StandardOrder memory order) private returns (bool settled, uint256[] memory paid) {
        bytes memory funding = by3009(order);
        (bytes memory signature, Commitment[] memory list) = (orderSignature(order), commitments(order));
        vm.prank(stranger);
        return bond.settleOrClaim(order, funding, signature, list);
    }

    /// @dev K22: in the last block a promise is kept or paid for.
    function test_in_its_last_second_an_order_is_settled_or_its_lps_pay() public {
        StandardOrder memory order = simple();
        vm.warp(order.fillDeadline);
        uint256 snapshot = vm.snapshotState();
        uint256 before = weth.balanceOf(recipient);
        (bool settled, uint256[] memory paid) = settleOrClaim(order);
        ok(settled && paid.length == 1 && paid[0] == 0, "settled");
        eq(weth.balanceOf(recipient) - before, OUT, "delivered");
        vm.revertToState(snapshot);
        moveAway(lp(0), address(weth), OUT - 1);
        (settled, paid) = settleOrClaim(order);
        ok(!settled && paid[0] == PAID, "paid for");
        eq(weth.balanceOf(taker), 1000e18 + PAID, "to the taker");
        ok(!escrow.isNonceUsed(taker, order.nonce), "and its money stays");
    }

    function test_every_lp_that_fails_pays_in_one_call() public {
        StandardOrder memory order = split(IN, OUT);
        moveAway(lp(0), address(weth), 0);
        moveAway(lp(2), address(weth), 0);
        (bool settled, uint256[] memory paid) = settleOrClaim(order);
        ok(!settled && paid[1] == 0, "the one that stands pays nothing");
        eq(paid[0], order.outputs[0].amount * SHARE / 10_000, "the first");
        eq(paid[2], order.outputs[2].amount * SHARE / 10_000, "the last");
        vm.expectRevert();
        this.settleOrClaimAgain(order);
        moveAway(lp(1), address(weth), 0);
        (, paid) = settleOrClaim(order);
        ok(paid[0] == 0 && paid[1] != 0 && paid[2] == 0, "each once");
    }

    function test_an_lp_that_could_pay_nothing_is_claimed_later() public {
        vm.prank(lp(0));
        bond.requestTakeBack(address(weth), 10e18);
        vm.warp(block.timestamp + TAKE_BACK);
        vm.prank(lp(0));
        bond.takeBack(address(weth), lp(0));
        StandardOrder memory order = split(IN, OUT);
        moveAway(lp(0), address(weth), 0);
        moveAway(lp(2), address(weth), 0);
        vm.recordLogs();
        (, uint256[] memory paid) = settleOrClaim(order);
        ok(paid[0] == 0 && paid[2] != 0, "what there is");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i; i < logs.length; ++i) {
            bool ofBond = logs[i].emitter == address(bond);
            ok(!ofBond || logs[i].topics[1] == word(lp(2)), "nothing is said of the LP without a bond");
        }
        ok(!bond.isClaimed(taker, order.nonce, lp(0)), "not used up");
        post(lp(0), address(weth), 1e18);
        eq(claim(order, 0), order.outputs[0].amount * SHARE / 10_000, "once it has a bond");
    }

    function settleOrClaimAgain(StandardOrder memory order) external {
        settleOrClaim(order);
    }

    function test_without_a_claim_it_fails_as_settlement_does() public {
        StandardOrder memory order = simple();
        vm.prank(taker);
        usd.transfer(stranger, 1_000_000e6);
        bytes memory funding = by3009(order);
        (bytes memory signature, Commitment[] memory list) = (orderSignature(order), commitments(order));
        (bool success, bytes memory why) =
            address(escrow).call(abi.encodeCall(escrow.settle, (order, funding, list)));
        ok(!success, "the taker has no money");
        vm.expectRevert(why);
        bond.settleOrClaim(order, funding, signature, list);
        moveAway(lp(0), address(weth), 0);
        vm.expectRevert(about(IQuoteBond.NotAccepted.selector, taker));
        bond.settleOrClaim(order, funding, "", list);
    }

    /* CLAIMS: WHO AND WHEN */

    function test_the_user_itself_needs_no_signature() public {
        StandardOrder memory order = simple();
        moveAway(lp(0), address(weth), 0);
        Commitment memory commitment = commitments(order)[0];
        refuseClaim(order, "", commitment, about(IQuoteBond.NotAccepted.selector, taker));
        refuseClaim(
            order, sign(STRANGER, orderDigest(order)), commitment, about(IQuoteBond.NotAccepted.selector, taker)
        );
        vm.prank(taker);
        eq(bond.claim(order, "", commitment)[0], PAID, "paid");
    }

    function test_a_wallet_accepts_by_its_own_rule() public {
        Wallet wallet = new Wallet(Wallet.Answer.Accept, address(0));
        StandardOrder memory order = simple();
        order.user = address(wallet);
        moveAway(lp(0), address(weth), 0);
        claim(order, 0);
        eq(weth.balanceOf(address(wallet)), PAID, "paid");
    }

    function test_the_lp_itself_and_an_lp_of_code_may_have_signed() public {
        StandardOrder memory order = simple();
        moveAway(lp(0), address(weth), 0);
        Commitment memory commitment = commitments(order)[0];
        commitment.signature = sign(LP, commitmentDigest(idOf(order), commitment));
        bond.claim(order, orderSignature(order), commitment);

        Wallet wallet = new Wallet(Wallet.Answer.Accept, address(0));
        post(address(wallet), address(weth), 1e18);
        order = simple();
        order.outputs[0].context = quoteContext(address(wallet), order.fillDeadline, 10_000, FEE, RELAY);
        commitment = commitments(order)[0];
        commitment.signature = sign(OPERATOR + 16, commitmentDigest(idOf(order), commitment));
        eq(bond.claim(order, orderSignature(order), commitment)[0], PAID, "paid");
    }

    function test_naming_an_lp_is_not_enough() public {
        StandardOrder memory order = simple();
        moveAway(lp(0), address(weth), 0);
        Commitment memory commitment = commitments(order)[0];
        bytes memory signature = orderSignature(order);
        bytes memory reason = about(IQuoteBond.NotCommitted.selector, lp(0));
        commitment.signature = sign(STRANGER, commitmentDigest(idOf(order), commitment));
        refuseClaim(order, signature, commitment, reason);
        commitment.signature = "";
        refuseClaim(order, signature, commitment, reason);
        // Nobody's key was an operator, and is none any more.
        vm.prank(lp(0));
        escrow.setOperator(address(0), true);
        refuseClaim(order, signature, commitment, reason);
        vm.prank(lp(0));
        escrow.setOperator(address(0), false);
        refuseClaim(order, signature, commitment, reason);
        // Somebody else's commitment to the LP's output.
        commitment.lp = lp(1);
        commitment.signature = sign(OPERATOR + 16, commitmentDigest(idOf(order), commitment));
        refuseClaim(order, signature, commitment, about(IQuoteBond.NotCommitted.selector, lp(1)));
        // To another order, and for another time.
        commitment = commitments(simple())[0];
        refuseClaim(order, signature, commitment, reason);
        commitment.deadline = order.fillDeadline - 1;
        commitment.signature = sign(OPERATOR, commitmentDigest(idOf(order), commitment));
        refuseClaim(order, signature, commitment, reason);
    }

    function test_what_nobody_could_settle_is_not_covered() public {
        StandardOrder memory order = simple();
        moveAway(lp(0), address(weth), 0);
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline + 1, 10_000, FEE, RELAY);
        refuseClaim(
            order, err(IEscrow.WrongStartTime.selector, uint256(order.fillDeadline) + 2, order.fillDeadline)
        );
        order = plain();
        Commitment memory commitment;
        refuseClaim(order, orderSignature(order), commitment, err(IEscrow.NotAQuote.selector));
        order = simple();
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_000, FEE, uint128(IN));
        refuseClaim(order, err(IEscrow.FeesExceedSlice.selector, IN + IN * FEE / 10_000, IN));
    }

    /// @dev The last slice is what the others leave, a unit more than its portion: settlement and claim agree on that.
    function test_what_is_covered_is_divided_as_settlement_divides() public {
        StandardOrder memory order = twice(OUT, OUT);
        order.inputs[0][1] = IN + 1;
        uint128 most = uint128(IN / 2 + 1 - IN / 2 * FEE / 10_000);
        order.outputs[1].context = quoteContext(lp(0), order.fillDeadline, 5_000, FEE, most + 1);
        moveAway(lp(0), address(weth), 0);
        refuseClaim(order, err(IEscrow.FeesExceedSlice.selector, IN / 2 + 2, IN / 2 + 1));
        order.outputs[1].context = quoteContext(lp(0), order.fillDeadline, 5_000, FEE, most);
        uint256 snapshot = vm.snapshotState();
        claim(order, 0);
        vm.revertToState(snapshot);
        fundLp(lp(0), address(weth), 2 * OUT);
        settle(order);
    }

    /// @dev The second input is far smaller than a slice of the first.
    function test_each_input_of_what_is_covered_is_divided_for_itself() public {
        StandardOrder memory order = twice(OUT, OUT);
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        order.inputs[1] = [uint256(uint160(address(weth))), 1_000];
        moveAway(lp(0), address(weth), 0);
        eq(claim(order, 0), 2 * PAID, "both outputs");
    }

    /// @dev N04: an output that no escrow delivers is no promise.
    function test_an_output_that_nobody_can_deliver_is_not_covered() public {
        moveAway(lp(0), address(weth), 0);
        StandardOrder memory order = simple();
        order.outputs[0].recipient = word(address(escrow));
        order.outputs[0].callbackData = hex"0100";
        refuseClaim(order, about(IEscrow.InvalidRecipient.selector, address(escrow)));
        order.outputs[0].callbackData = abi.encodePacked(hex"0102", taker);
        refuseClaim(order, about(IEscrow.InvalidRecipient.selector, address(escrow)));
        order.outputs[0].callbackData = abi.encodePacked(hex"0100", address(escrow));
        refuseClaim(order, about(IEscrow.InvalidRecipient.selector, address(escrow)));
        order.outputs[0].callbackData = abi.encodePacked(hex"0100", taker);
        claim(order, 0);
        order = simple();
        order.outputs[0].oracle = word(address(oracle));
        refuseClaim(order, err(IEscrow.Unprovable.selector, 0));
        order = simple();
        order.outputs[0].recipient = bytes32(type(uint256).max);
        refuseClaim(order, about(IEscrow.NotAnAddress.selector, bytes32(type(uint256).max)));
        order = simple();
        order.outputs[0].token = 0;
        refuseClaim(order, about(IEscrow.NotAnAddress.selector, bytes32(0)));
    }

    function test_until_the_deadline_and_not_later() public {
        StandardOrder memory order = simple();
        moveAway(lp(0), address(weth), 0);
        vm.warp(order.fillDeadline + 1);
        refuseClaim(
            order, err(IEscrow.DeadlinePassed.selector, order.fillDeadline, order.fillDeadline + 1)
        );
        vm.warp(order.fillDeadline);
        eq(claim(order, 0), PAID, "in the last second");
    }

    function test_not_for_an_order_that_has_ended() public {
        StandardOrder memory order = simple();
        settle(order);
        moveAway(lp(0), address(weth), 0);
        refuseClaim(order, badStatus(idOf(order), OrderStatus.Claimed));
        order = simple();
        vm.prank(taker);
        escrow.invalidateNonce(order.nonce);
        refuseClaim(order, abi.encodeWithSelector(IEscrow.NonceUsed.selector, taker, order.nonce));
    }

    function test_not_for_an_order_of_another_chain_escrow_or_kind() public {
        moveAway(lp(0), address(weth), 0);
        refuseClaim(cross(), wrongOracle(address(oracle)));
        refuseClaim(toOpen(simple()), wrongOracle(address(oracle)));
        StandardOrder memory order = simple();
        order.originChainId = THERE;
        refuseClaim(order, err(IEscrow.WrongChain.selector, THERE, HERE));
        order = simple();
        order.outputs[0].chainId = THERE;
        refuseClaim(order, err(IEscrow.Unprovable.selector, 0));
        order = simple();
        order.outputs[0].settler = word(address(remote));
        refuseClaim(order, err(IEscrow.Unprovable.selector, 0));
        order = simple();
        Commitment memory commitment = commitments(order)[0];
        commitment.lp = lp(1);
        commitment.signature = sign(OPERATOR + 16, commitmentDigest(idOf(order), commitment));
        refuseClaim(order, orderSignature(order), commitment, about(IQuoteBond.NotCommitted.selector, lp(1)));
    }

    /* NO FAULT OF THE LP */

    function test_a_promise_that_stands_is_not_claimed() public {
        moveAway(lp(0), address(weth), OUT);
        refuseClaim(simple(), about(IQuoteBond.PromiseStands.selector, lp(0)));
    }

    function test_a_token_that_pauses_is_no_fault() public {
        AwkwardToken token = new AwkwardToken(18);
        token.mint(address(this), 20_000);
        token.approve(address(escrow), 10_000);
        token.approve(address(bond), 10_000);
        escrow.depositFor(lp(0), address(token), 10_000);
        bond.post(lp(0), address(token), 10_000);
        StandardOrder memory order = simple(IN, 10_000);
        order.outputs[0].token = word(address(token));
        token.setPaused(true);
        refuseClaim(order, about(IQuoteBond.PromiseStands.selector, lp(0)));
    }

    /// @dev What is deferred counts as gone from the delivery on, so a push of it leaves what the LP counts on.
    function test_a_gift_that_leaves_again_is_no_fault() public {
        moveAway(lp(0), address(weth), OUT);
        StandardOrder memory gift = simple(IN, 3 * OUT);
        gift.outputs[0].context = quoteContext(lp(1), gift.fillDeadline, 10_000, FEE, RELAY);
        intoLedger(gift, true, lp(0));
        bytes32 orderId = idOf(gift);
        settle(gift);
        vm.warp(block.timestamp + DELAY);
        StandardOrder memory order = simple();
        escrow.withdrawDeferred(orderId, gift.outputs[0]);
        refuseClaim(order, about(IQuoteBond.PromiseStands.selector, lp(0)));
        settle(order);
    }

    /// @dev From within each call that settlement makes, the promises that are left still stand.
    function test_from_within_a_settlement_nothing_is_to_be_had() public {
        Puppet puppet = new Puppet();
        moveAway(lp(0), address(weth), 2 * OUT);
        StandardOrder memory order = simple();
        order.outputs[0].recipient = word(address(puppet));
        order.outputs[0].callbackData = hex"01";
        StandardOrder memory other = simple();
        bytes memory signature = orderSignature(order);
        Commitment memory commitment = commitments(order)[0];
        puppet.plan(address(bond), abi.encodeCall(bond.claim, (order, signature, commitment)));
        signature = orderSignature(other);
        commitment = commitments(other)[0];
        puppet.plan(address(bond), abi.encodeCall(bond.claim, (other, signature, commitment)));
        settle(order);
        ok(puppet.results()[0] == IEscrow.InvalidOrderStatus.selector, "the order itself");
        ok(puppet.results()[1] == IQuoteBond.PromiseStands.selector, "another promise");
        settle(other);
    }

    function test_money_put_back_in_time_keeps_the_promise() public {
        StandardOrder memory order = simple();
        moveAway(lp(0), address(weth), 0);
        fundLp(lp(0), address(weth), OUT);
        refuseClaim(order, about(IQuoteBond.PromiseStands.selector, lp(0)));
    }

    function test_fuzz_claimed_exactly_when_settlement_would_fail_for_the_lp(uint256 seed) public {
        uint256 balance = bound(seed, 0, 2 * OUT);
        moveAway(lp(0), address(weth), balance);
        if (seed & 1 << 200 != 0) {
            vm.prank(lp(0));
            escrow.limitOperator(operator(0), address(weth), uint96(bound(seed >> 8, 0, 2 * OUT)), 1 hours);
        }
        if (seed >> 201 & 7 == 0) {
            vm.prank(lp(0));
            escrow.setOperator(operator(0), false);
        }
        StandardOrder memory order = simple(IN, bound(seed >> 16, 200, 2 * OUT));
        (bytes memory signature, Commitment[] memory list) = (orderSignature(order), commitments(order));
        bytes memory funding = by3009(order);
        uint256 snapshot = vm.snapshotState();
        (bool settled,) = address(escrow).call(abi.encodeCall(escrow.settle, (order, funding, list)));
        vm.revertToState(snapshot);
        (bool claimed,) = address(bond).call(abi.encodeCall(bond.claim, (order, signature, list[0])));
        ok(settled != claimed, "one of the two");
    }
}
