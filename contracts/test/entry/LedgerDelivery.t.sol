// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Approval, IEscrow, MandateOutput, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Filler} from "../mocks/Filler.sol";
import {Attack} from "../attacks/Attack.sol";

/// @notice Outputs delivered into the ledger, and what is pushed out of it later: withdrawDeferred and keepDeferred.
contract LedgerDeliveryTest is Attack {
    address private account = vm.addr(0xacc);

    function hashOf(StandardOrder memory order) private view returns (bytes32) {
        return hashes.outputHash(order.outputs[0]);
    }

    function to(bool deferred) private returns (StandardOrder memory order) {
        order = simple();
        intoLedger(order, deferred, account);
    }

    function balance(IEscrow place) private view returns (uint256) {
        return place.balanceOf(account, address(weth));
    }

    function delivered(bool deferred) private returns (StandardOrder memory order) {
        order = to(deferred);
        settle(order);
    }

    function push(StandardOrder memory order) private returns (uint256) {
        vm.prank(stranger);
        return escrow.withdrawDeferred(idOf(order), order.outputs[0]);
    }

    function refusedPush(StandardOrder memory order, bytes4 why, string memory what) private {
        bytes memory data = abi.encodeCall(escrow.withdrawDeferred, (idOf(order), order.outputs[0]));
        refused(stranger, address(escrow), data, why, what);
    }

    /* IN */

    function test_settle_credits_without_a_transfer() public {
        StandardOrder memory order = to(false);
        uint256 held = weth.balanceOf(address(escrow));
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.OutputFilled(idOf(order), word(lp(0)), uint32(block.timestamp), order.outputs[0], OUT);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Credited(account, address(weth), OUT);
        settle(order);
        eq(balance(escrow), OUT, "credited");
        eq(ledger(lp(0), address(weth)), 1000e18 - OUT, "paid by the LP");
        eq(weth.balanceOf(address(escrow)), held, "no token moved");
        eq(escrow.deferredOf(account, address(weth)), 0, "nothing deferred");
        eq(escrow.deferredUntil(idOf(order), hashOf(order)), 0, "nothing waits");
        refusedPush(order, IEscrow.NotDeferred.selector, "kept means kept");
    }

    function test_settle_split_into_the_ledger() public {
        StandardOrder memory order = split(IN, OUT);
        intoLedger(order, true, account);
        settle(order);
        uint256 sum;
        for (uint256 i; i < 3; ++i) {
            sum += order.outputs[i].amount;
            bytes32 hash = hashes.outputHash(order.outputs[i]);
            eq(escrow.deferredUntil(idOf(order), hash), START + DELAY, "each slice by itself");
        }
        eq(balance(escrow), sum, "all of it");
        eq(escrow.deferredOf(account, address(weth)), sum, "all of it");
    }

    function test_fill_from_a_ledger_and_from_a_wallet() public {
        StandardOrder memory order = cross();
        intoLedger(order, true, account);
        bytes32 orderId = openOrder(order);
        vm.chainId(THERE);
        uint256 held = weth.balanceOf(address(remote));
        vm.prank(operator(0));
        remote.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0)));
        eq(balance(remote), OUT, "from the ledger");
        eq(weth.balanceOf(address(remote)), held, "no token moved");
        vm.warp(START + 7);
        orderId = keccak256("another");
        weth.mint(stranger, OUT);
        vm.startPrank(stranger);
        weth.approve(address(remote), OUT);
        MandateOutput[] memory list = order.outputs;
        remote.fillOrderOutputs(orderId, list, order.fillDeadline, fillerData(lp(0)));
        vm.stopPrank();
        eq(balance(remote), 2 * OUT, "from a wallet");
        eq(weth.balanceOf(address(remote)), held + OUT, "which paid");
        eq(remote.deferredUntil(orderId, hashOf(order)), START + 7 + DELAY, "from its own delivery on");
        eq(remote.deferredOf(account, address(weth)), 2 * OUT, "both wait");
    }

    function test_fillWithApprovals_into_the_ledger() public {
        StandardOrder memory order = toOpen(split(IN, OUT));
        for (uint256 i; i < 3; ++i) {
            order.outputs[i].oracle = word(address(oracle));
            order.outputs[i].settler = word(address(remote));
            order.outputs[i].chainId = THERE;
        }
        order.inputOracle = address(oracle);
        intoLedger(order, true, account);
        bytes32 orderId = openOrder(order);
        vm.chainId(THERE);
        Approval[] memory list = new Approval[](3);
        uint256 sum;
        for (uint256 i; i < 3; ++i) {
            list[i] = approvalFor(remote, orderId, order.outputs[i], order.fillDeadline, OPERATOR + 16 * i);
            sum += order.outputs[i].amount;
        }
        vm.prank(stranger);
        remote.fillWithApprovals(orderId, order.outputs, order.fillDeadline, list);
        eq(balance(remote), sum, "credited");
        eq(remote.deferredOf(account, address(weth)), sum, "waiting");
    }

    function test_settleThrough_the_filler_pays() public {
        Filler filler = new Filler(escrow);
        weth.mint(address(filler), OUT);
        StandardOrder memory order = through(address(filler));
        intoLedger(order, true, account);
        bytes memory funding = by3009(order);
        uint256 held = weth.balanceOf(address(escrow));
        escrow.settleThrough(order, funding, address(filler), abi.encode(Filler.Cheat.None));
        eq(balance(escrow), OUT, "credited");
        eq(weth.balanceOf(address(escrow)), held + OUT, "the filler paid");
        eq(weth.balanceOf(address(filler)), 0, "all it had");
        vm.warp(START + DELAY);
        eq(push(order), OUT, "and out again");
    }

    /// @dev The attesters' payload names the account too, so a fill for one account proves nothing for another.
    function test_finalise_across_chains() public {
        StandardOrder memory order = cross();
        intoLedger(order, true, account);
        bytes32 orderId = openOrder(order);
        bytes32 payload = filledThere(order, orderId);
        order.outputs[0].callbackData = ledgerData(true, stranger);
        ok(hashes.payloadHash(word(lp(0)), orderId, uint32(block.timestamp), order.outputs[0]) != payload, "bound");
        order.outputs[0].callbackData = ledgerData(true, account);
        attest(payload);
        escrow.finalise(order, solves(lp(0), block.timestamp), 0, "");
        eq(status(orderId), 2, "claimed");
    }

    function test_other_bytes_are_refused() public {
        bytes[9] memory wrong = [
            bytes(""),
            abi.encodePacked(account),
            abi.encodePacked(hex"01", account),
            abi.encodePacked(hex"0102", account),
            abi.encodePacked(hex"0200", account),
            abi.encodePacked(hex"0000", account),
            abi.encodePacked(hex"0100", account, hex"00"),
            ledgerData(false, address(0)),
            ledgerData(true, address(escrow))
        ];
        for (uint256 i; i < wrong.length; ++i) {
            StandardOrder memory order = to(true);
            order.outputs[0].callbackData = wrong[i];
            refusedSettle(order, by3009(order), IEscrow.InvalidRecipient.selector, vm.toString(i));
        }
    }

    /// @dev A token that takes a fee arrives short and is refused when somebody pays it in; one that stays in the ledger does not move.
    function test_fee_on_transfer() public {
        AwkwardToken token = new AwkwardToken(18);
        token.mint(stranger, 10e18);
        token.mint(address(this), 10e18);
        token.approve(address(escrow), type(uint256).max);
        escrow.depositFor(lp(0), address(token), OUT);
        token.setFee(100);
        StandardOrder memory order = plain();
        deliver(order, address(token));
        intoLedger(order, true, account);
        bytes32 orderId = openOrder(order);
        approveAll(stranger, address(token));
        bytes memory data =
            abi.encodeCall(escrow.fill, (orderId, order.outputs[0], order.fillDeadline, fillerData(stranger)));
        refused(stranger, address(escrow), data, IEscrow.ShortTransfer.selector, "short");
        vm.prank(lp(0));
        escrow.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0)));
        eq(ledger(account, address(token)), OUT, "covered to the unit");
        eq(token.balanceOf(address(escrow)), OUT, "by what is held");
    }

    /* OUT */

    function test_fuzz_push(uint256 late) public {
        StandardOrder memory order = delivered(true);
        refusedPush(order, IEscrow.TooEarly.selector, "too early");
        vm.warp(START + DELAY - 1);
        refusedPush(order, IEscrow.TooEarly.selector, "by a second");
        // It never lapses.
        vm.warp(START + DELAY + bound(late, 0, 10 * 365 days));
        eq(balance(escrow), OUT, "in the balance until then");
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Withdrawn(account, address(weth), account, OUT);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.DeferralEnded(idOf(order), hashOf(order), account, address(weth), OUT);
        eq(push(order), OUT, "paid");
        eq(weth.balanceOf(account), OUT, "to its own wallet");
        eq(balance(escrow), 0, "from its balance");
        eq(escrow.deferredOf(account, address(weth)), 0, "nothing deferred");
        refusedPush(order, IEscrow.NotDeferred.selector, "once");
    }

    function test_push_pays_what_is_left() public {
        StandardOrder memory order = delivered(true);
        vm.prank(account);
        escrow.requestWithdrawal(address(weth), OUT / 4);
        vm.warp(START + DELAY);
        vm.prank(account);
        escrow.withdraw(address(weth), account);
        eq(push(order), OUT - OUT / 4, "the rest");
        eq(weth.balanceOf(account), OUT, "in all what was delivered");
    }

    function test_push_when_nothing_is_left_ends_it() public {
        StandardOrder memory order = delivered(true);
        vm.prank(account);
        escrow.requestWithdrawal(address(weth), OUT);
        vm.warp(START + DELAY);
        vm.prank(account);
        escrow.withdraw(address(weth), account);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.DeferralEnded(idOf(order), hashOf(order), account, address(weth), 0);
        vm.recordLogs();
        eq(push(order), 0, "nothing");
        eq(vm.getRecordedLogs().length, 1, "and no transfer of nothing");
        eq(escrow.deferredOf(account, address(weth)), 0, "counted no more");
    }

    function test_keep() public {
        StandardOrder memory order = delivered(true);
        bytes memory data = abi.encodeCall(escrow.keepDeferred, (idOf(order), order.outputs[0]));
        refused(stranger, address(escrow), data, IEscrow.NotTheUser.selector, "not the account");
        refused(lp(0), address(escrow), data, IEscrow.NotTheUser.selector, "not who paid");
        refused(taker, address(escrow), data, IEscrow.NotTheUser.selector, "not the order's user");
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.DeferralEnded(idOf(order), hashOf(order), account, address(weth), 0);
        vm.prank(account);
        (bool success,) = address(escrow).call(data);
        ok(success, "by its account");
        eq(balance(escrow), OUT, "kept");
        eq(escrow.deferredOf(account, address(weth)), 0, "not deferred any more");
        vm.warp(START + DELAY);
        refusedPush(order, IEscrow.NotDeferred.selector, "kept for good");
        refused(account, address(escrow), data, IEscrow.NotDeferred.selector, "once");
    }

    /* GRIEFING */

    /// @dev Whatever others deliver to an account changes neither when nor how much of its own it gets.
    function test_dust_from_others_is_harmless() public {
        StandardOrder memory order = delivered(true);
        vm.prank(account);
        escrow.requestWithdrawal(address(weth), OUT / 2);
        vm.warp(START + DELAY - 1);
        StandardOrder memory dust = simple(IN, 1);
        intoLedger(dust, true, account);
        settle(dust);
        // The same bytes under an id that somebody invented.
        weth.mint(stranger, 1);
        vm.startPrank(stranger);
        weth.approve(address(escrow), 1);
        MandateOutput memory copy = dust.outputs[0];
        copy.oracle = word(address(oracle));
        escrow.fill(keccak256("invented"), copy, dust.fillDeadline, fillerData(lp(0)));
        vm.stopPrank();
        copy.oracle = word(address(escrow));
        (uint256 asked, uint256 availableAt,) = escrow.pendingWithdrawal(account, address(weth));
        eq(asked, OUT / 2, "the request stands");
        eq(availableAt, START + DELAY, "at its time");
        vm.warp(START + DELAY);
        eq(push(order), OUT, "on time and in full");
        vm.prank(account);
        eq(escrow.withdraw(address(weth), account), 2, "what the others gave");
        vm.warp(START + 2 * DELAY);
        eq(push(dust), 0, "nothing of its own left to push");
        eq(weth.balanceOf(account), OUT + 2, "nothing lost");
    }

    /// @dev What is pushed out of an LP's balance is what was paid into it: its promises are as good as before.
    function test_a_gift_weakens_no_promise() public {
        StandardOrder memory gift = simple(IN, OUT);
        gift.outputs[0].context = quoteContext(lp(1), gift.fillDeadline, 10_000, FEE, RELAY);
        intoLedger(gift, true, lp(0));
        settle(gift);
        uint256 firm = ledger(lp(0), address(weth)) - escrow.deferredOf(lp(0), address(weth));
        eq(firm, 1000e18, "as before");
        vm.warp(START + DELAY);
        push(gift);
        settle(simple(IN, firm));
        eq(ledger(lp(0), address(weth)), 0, "the whole promise was paid");
    }

    /// @dev Another output, order or settler of the same delivery is another delivery.
    function test_push_needs_the_very_delivery() public {
        StandardOrder memory order = delivered(true);
        vm.warp(START + DELAY);
        bytes32 orderId = idOf(order);
        MandateOutput memory other = order.outputs[0];
        bytes4 why = IEscrow.NotDeferred.selector;
        refused(stranger, address(escrow), abi.encodeCall(escrow.withdrawDeferred, (bytes32(uint256(1)), other)), why, "order");
        other.amount = 2 * OUT;
        refused(stranger, address(escrow), abi.encodeCall(escrow.withdrawDeferred, (orderId, other)), why, "amount");
        other.amount = OUT;
        other.callbackData = ledgerData(true, stranger);
        refused(stranger, address(escrow), abi.encodeCall(escrow.withdrawDeferred, (orderId, other)), why, "account");
        refused(stranger, address(remote), abi.encodeCall(remote.withdrawDeferred, (orderId, order.outputs[0])), why, "place");
    }

    /// @dev A pause or a block list ends nothing: the push waits, the money is the account's to take elsewhere.
    function test_a_push_that_the_token_refuses() public {
        AwkwardToken token = new AwkwardToken(18);
        token.mint(address(this), OUT);
        token.approve(address(escrow), OUT);
        escrow.depositFor(lp(0), address(token), OUT);
        StandardOrder memory order = simple();
        deliver(order, address(token));
        intoLedger(order, true, account);
        settle(order);
        vm.warp(START + DELAY);
        token.setPaused(true);
        refusedPush(order, AwkwardToken.Paused.selector, "paused");
        token.setPaused(false);
        token.setBlocked(account, true);
        refusedPush(order, AwkwardToken.Blocked.selector, "blocked");
        eq(escrow.deferredOf(account, address(token)), OUT, "still waiting");
        bytes32 orderId = idOf(order);
        vm.startPrank(account);
        escrow.requestWithdrawal(address(token), OUT);
        vm.warp(START + 2 * DELAY);
        eq(escrow.withdraw(address(token), address(0xcafe)), OUT, "elsewhere");
        escrow.keepDeferred(orderId, order.outputs[0]);
        vm.stopPrank();
        eq(token.balanceOf(address(0xcafe)), OUT, "not lost");
        eq(escrow.deferredOf(account, address(token)), 0, "nothing counts as gone");
    }

    /// @dev Whoever calls with little gas achieves nothing.
    function test_a_starved_push_changes_nothing() public {
        StandardOrder memory order = delivered(true);
        vm.warp(START + DELAY);
        bytes32 orderId = idOf(order);
        for (uint256 gas_ = 5_000; gas_ < 80_000; gas_ += 2_500) {
            (bool success,) =
                address(escrow).call{gas: gas_}(abi.encodeCall(escrow.withdrawDeferred, (orderId, order.outputs[0])));
            if (success) break;
            eq(balance(escrow), OUT, "as it was");
            ok(escrow.deferredUntil(orderId, hashOf(order)) != 0, "still waiting");
        }
        eq(weth.balanceOf(account), OUT, "paid when the gas was enough");
    }

    /// @dev A ledger balance is money at once, deferred or not: it funds the account's next order.
    function test_what_was_delivered_funds_the_next_order() public {
        StandardOrder memory order = simple();
        intoLedger(order, true, taker);
        settle(order);
        StandardOrder memory next = simple(OUT, 1000e6);
        next.inputs[0][0] = uint160(address(weth));
        next.outputs[0].token = word(address(usd));
        bytes memory funding = byLedger(next);
        escrow.settle(next, funding, commitments(next));
        eq(usd.balanceOf(recipient), 1000e6, "traded on");
        vm.warp(START + DELAY);
        eq(push(order), 0, "and nothing left to push");
    }
}
