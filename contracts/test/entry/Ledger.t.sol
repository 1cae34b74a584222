// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEscrow} from "../../src/interfaces/IEscrow.sol";
import {Base} from "../support/Base.sol";

/// @notice deposit, depositFor, requestWithdrawal, withdraw, setOperator, and the constructor.
contract LedgerTest is Base {
    function deploy(address fees, uint256 bps, uint256 delay, uint256 window, uint256 proof)
        internal
        returns (address place)
    {
        bytes memory code = abi.encodePacked(
            vm.getCode("Escrow.sol:Escrow"), abi.encode(address(permit2), fees, bps, delay, window, proof)
        );
        assembly ("memory-safe") {
            place := create(0, add(code, 0x20), mload(code))
        }
    }

    function test_constructor_refuses_what_makes_no_sense() public {
        eq(deploy(address(0), 100, 1, 1, 1), address(0), "refused");
        eq(deploy(feeRecipient, 10_001, 1, 1, 1), address(0), "refused");
        eq(deploy(feeRecipient, 100, 0, 1, 1), address(0), "refused");
        eq(deploy(feeRecipient, 100, 1, 0, 1), address(0), "refused");
        eq(deploy(feeRecipient, 100, 1, 1, 0), address(0), "refused");
        eq(deploy(feeRecipient, 100, 1 << 32, 1, 1), address(0), "refused");
        eq(deploy(feeRecipient, 100, 1, 1 << 32, 1), address(0), "refused");
        eq(deploy(feeRecipient, 100, 1, 1, 1 << 32), address(0), "refused");
        ok(deploy(feeRecipient, 10_000, (1 << 32) - 1, 1, 1) != address(0), "taken");
    }

    function test_constructor_parameters() public view {
        eq(escrow.PERMIT2(), address(permit2), "permit2");
        eq(escrow.feeRecipient(), feeRecipient, "feeRecipient");
        eq(escrow.MAX_FEE_BPS(), MAX_FEE, "fee");
        eq(escrow.WITHDRAWAL_DELAY(), DELAY, "delay");
        eq(escrow.WITHDRAWAL_WINDOW(), WINDOW, "window");
        eq(escrow.MIN_PROOF_WINDOW(), PROOF, "proof");
    }

    function test_deposit_refuses() public {
        vm.startPrank(taker);
        weth.approve(address(escrow), type(uint256).max);
        vm.expectRevert(IEscrow.ZeroValue.selector);
        escrow.deposit(address(weth), 0);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(0)));
        escrow.depositFor(address(0), address(weth), 1);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(escrow)));
        escrow.depositFor(address(escrow), address(weth), 1);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotAToken.selector, address(0xdead)));
        escrow.deposit(address(0xdead), 1);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotAToken.selector, address(hashes)));
        escrow.deposit(address(hashes), 1);
        vm.expectRevert();
        escrow.deposit(address(weth), 1001e18);
        vm.stopPrank();
    }

    function test_fuzz_deposit(uint256 amount) public {
        amount = bound(amount, 1, 1000e18);
        vm.startPrank(taker);
        weth.approve(address(escrow), amount);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Deposited(taker, address(weth), taker, amount);
        eq(escrow.deposit(address(weth), amount), amount, "received");
        vm.stopPrank();
        eq(escrow.balanceOf(taker, address(weth)), amount, "ledger");
        eq(weth.balanceOf(address(escrow)), 3000e18 + amount, "held");
        eq(weth.balanceOf(taker), 1000e18 - amount, "paid");
    }

    function test_fuzz_depositFor(uint256 amount, address account) public {
        amount = bound(amount, 1, 1000e18);
        vm.assume(account != address(0));
        uint256 before = escrow.balanceOf(account, address(weth));
        vm.startPrank(taker);
        weth.approve(address(escrow), amount);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Deposited(account, address(weth), taker, amount);
        escrow.depositFor(account, address(weth), amount);
        vm.stopPrank();
        eq(escrow.balanceOf(account, address(weth)), before + amount, "ledger");
    }

    function test_requestWithdrawal_refuses_more_than_the_balance() public {
        bytes memory reason = abi.encodeWithSelector(
            IEscrow.InsufficientBalance.selector, lp(0), address(weth), 1000e18, 1000e18 + 1
        );
        vm.prank(lp(0));
        vm.expectRevert(reason);
        escrow.requestWithdrawal(address(weth), 1000e18 + 1);
    }

    function request(uint256 amount) internal {
        vm.prank(lp(0));
        escrow.requestWithdrawal(address(weth), amount);
    }

    function pending() internal view returns (uint256 amount, uint256 availableAt, uint256 lapsesAt) {
        return escrow.pendingWithdrawal(lp(0), address(weth));
    }

    function test_fuzz_requestWithdrawal(uint256 amount) public {
        amount = bound(amount, 1, 1000e18);
        uint256 at_ = block.timestamp + DELAY;
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.WithdrawalRequested(lp(0), address(weth), amount, at_, at_ + WINDOW);
        request(amount);
        (uint256 asked, uint256 availableAt, uint256 lapsesAt) = pending();
        eq(asked, amount, "amount");
        eq(availableAt, at_, "availableAt");
        eq(lapsesAt, at_ + WINDOW, "lapsesAt");
        eq(escrow.balanceOf(lp(0), address(weth)), 1000e18, "still usable");
    }

    function test_requestWithdrawal_again_starts_the_delay_again() public {
        request(5);
        vm.warp(START + DELAY);
        request(6);
        (uint256 asked, uint256 availableAt,) = pending();
        eq(asked, 6, "replaced");
        eq(availableAt, START + 2 * DELAY, "delay from now");
        vm.prank(lp(0));
        vm.expectRevert(abi.encodeWithSelector(IEscrow.TooEarly.selector, START + 2 * DELAY, START + DELAY));
        escrow.withdraw(address(weth), lp(0));
    }

    function test_requestWithdrawal_of_nothing_cancels() public {
        request(5);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.WithdrawalRequested(lp(0), address(weth), 0, 0, 0);
        request(0);
        (uint256 asked, uint256 availableAt, uint256 lapsesAt) = pending();
        ok(asked == 0 && availableAt == 0 && lapsesAt == 0, "gone");
        vm.warp(START + DELAY);
        refuse(abi.encodeWithSelector(IEscrow.NoWithdrawal.selector, lp(0), address(weth)));
    }

    function refuse(bytes memory reason) internal {
        vm.prank(lp(0));
        vm.expectRevert(reason);
        escrow.withdraw(address(weth), lp(0));
    }

    function test_withdraw_refuses() public {
        bytes memory none = abi.encodeWithSelector(IEscrow.NoWithdrawal.selector, lp(0), address(weth));
        refuse(none);
        request(5);
        refuse(abi.encodeWithSelector(IEscrow.TooEarly.selector, START + DELAY, START));
        vm.warp(START + DELAY - 1);
        refuse(abi.encodeWithSelector(IEscrow.TooEarly.selector, START + DELAY, START + DELAY - 1));
        vm.warp(START + DELAY + WINDOW + 1);
        refuse(none);
    }

    function test_withdraw_refuses_recipients() public {
        request(5);
        vm.warp(START + DELAY);
        vm.startPrank(lp(0));
        vm.expectRevert(abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(0)));
        escrow.withdraw(address(weth), address(0));
        vm.expectRevert(abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(escrow)));
        escrow.withdraw(address(weth), address(escrow));
        vm.stopPrank();
    }

    function test_fuzz_withdraw(uint256 amount, uint256 late) public {
        amount = bound(amount, 1, 1000e18);
        request(amount);
        vm.warp(START + DELAY + bound(late, 0, WINDOW));
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Withdrawn(lp(0), address(weth), address(0xcafe), amount);
        vm.prank(lp(0));
        eq(escrow.withdraw(address(weth), address(0xcafe)), amount, "paid");
        eq(weth.balanceOf(address(0xcafe)), amount, "received");
        eq(escrow.balanceOf(lp(0), address(weth)), 1000e18 - amount, "ledger");
        refuse(abi.encodeWithSelector(IEscrow.NoWithdrawal.selector, lp(0), address(weth)));
    }

    function test_withdraw_in_the_first_and_last_second() public {
        request(5);
        vm.warp(START + DELAY);
        vm.prank(lp(0));
        escrow.withdraw(address(weth), lp(0));
        request(6);
        vm.warp(START + 2 * DELAY + WINDOW);
        vm.prank(lp(0));
        eq(escrow.withdraw(address(weth), lp(0)), 6, "just in time");
    }

    function test_withdraw_pays_what_quotes_have_left() public {
        request(1000e18);
        settle(simple(IN, 400e18));
        vm.warp(START + DELAY);
        vm.prank(lp(0));
        eq(escrow.withdraw(address(weth), lp(0)), 600e18, "the rest");
        (uint256 asked,,) = pending();
        eq(asked, 0, "the request is gone as a whole");
    }

    function test_withdraw_when_nothing_is_left() public {
        request(1000e18);
        settle(simple(IN, 1000e18));
        vm.warp(START + DELAY);
        refuse(abi.encodeWithSelector(IEscrow.NoWithdrawal.selector, lp(0), address(weth)));
    }

    function test_collectFees() public {
        settle(simple());
        uint256 fee = feeOf(IN, RELAY);
        eq(escrow.feesOf(lp(0), address(usd)), fee, "beside the LP's balance");
        eq(escrow.balanceOf(lp(0), address(usd)), 1_000_000e6 + IN - fee, "not in it");
        eq(escrow.balanceOf(feeRecipient, address(usd)), 0, "not credited yet");
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.FeesCollected(lp(0), address(usd), fee);
        vm.prank(stranger);
        eq(escrow.collectFees(lp(0), address(usd)), fee, "collected by anyone");
        eq(escrow.balanceOf(feeRecipient, address(usd)), fee, "to the fee recipient");
        eq(escrow.feesOf(lp(0), address(usd)), 0, "once");
        eq(escrow.balanceOf(lp(0), address(usd)), 1_000_000e6 + IN - fee, "the LP's own is untouched");
        eq(escrow.collectFees(lp(0), address(usd)), 0, "nothing more");
    }

    /// @dev The LP withdraws all of its balance, and what it owes stays.
    function test_fees_are_no_part_of_a_balance() public {
        settle(simple());
        uint256 fee = feeOf(IN, RELAY);
        vm.startPrank(lp(0));
        uint256 own = escrow.balanceOf(lp(0), address(usd));
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.InsufficientBalance.selector, lp(0), address(usd), own, own + 1)
        );
        escrow.requestWithdrawal(address(usd), own + 1);
        escrow.requestWithdrawal(address(usd), own);
        vm.warp(START + DELAY);
        eq(escrow.withdraw(address(usd), lp(0)), own, "all of its own");
        vm.stopPrank();
        eq(escrow.balanceOf(lp(0), address(usd)), 0, "empty");
        eq(escrow.collectFees(lp(0), address(usd)), fee, "the fees stay");
    }

    function test_setOperator() public {
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.OperatorSet(taker, stranger, true);
        vm.prank(taker);
        escrow.setOperator(stranger, true);
        ok(escrow.isOperator(taker, stranger), "named");
        ok(!escrow.isOperator(stranger, taker), "one way");
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.OperatorSet(taker, stranger, false);
        vm.prank(taker);
        escrow.setOperator(stranger, false);
        ok(!escrow.isOperator(taker, stranger), "revoked");
    }

    function test_an_operator_cannot_withdraw() public {
        vm.prank(operator(0));
        vm.expectPartialRevert(IEscrow.InsufficientBalance.selector);
        escrow.requestWithdrawal(address(weth), 1);
        request(5);
        vm.warp(START + DELAY);
        vm.prank(operator(0));
        vm.expectPartialRevert(IEscrow.NoWithdrawal.selector);
        escrow.withdraw(address(weth), operator(0));
    }

    function test_invalidateNonce(uint256 nonce) public {
        ok(!escrow.isNonceUsed(taker, nonce), "fresh");
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.NonceInvalidated(taker, nonce);
        vm.prank(taker);
        escrow.invalidateNonce(nonce);
        ok(escrow.isNonceUsed(taker, nonce), "used");
        ok(!escrow.isNonceUsed(stranger, nonce), "the user's alone");
        unchecked {
            ok(!escrow.isNonceUsed(taker, nonce + 1) && !escrow.isNonceUsed(taker, nonce - 1), "one bit");
            ok(!escrow.isNonceUsed(taker, nonce + 256), "one word");
        }
        vm.prank(taker);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NonceUsed.selector, taker, nonce));
        escrow.invalidateNonce(nonce);
    }
}
