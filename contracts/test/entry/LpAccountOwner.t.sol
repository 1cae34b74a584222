// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEscrow} from "../../src/interfaces/IEscrow.sol";
import {ILpAccount} from "../../src/interfaces/ILpAccount.sol";
import {AccountBase} from "../support/AccountBase.sol";

/// @notice What the owner changes: what narrows at once, what widens after its delay, and the end of the account.
contract LpAccountOwnerTest is AccountBase {
    address private key = vm.addr(ACCOUNT_OPERATOR);

    /// @dev Nobody else makes the call, it waits when the owner makes it, and happens once.
    function waits(bytes memory data) private {
        (bool success, bytes memory answer) = asOwner(data);
        ok(!success && keccak256(answer) == keccak256(notScheduled(data)), "not scheduled");
        uint256 from = block.timestamp + CHANGE;
        vm.expectEmit(true, true, true, true, address(account));
        emit ILpAccount.ChangeScheduled(keccak256(data), data, from, from + LAPSE);
        vm.prank(owner);
        account.schedule(data);
        eq(account.availableAt(keccak256(data)), from, "when");
        vm.warp(from - 1);
        (success, answer) = asOwner(data);
        ok(!success, "too early");
        eq(bytes32(bytes4(answer)), bytes32(ILpAccount.TooEarly.selector), "too early");
        vm.warp(from);
        vm.expectEmit(true, true, true, true, address(account));
        emit ILpAccount.ChangeMade(keccak256(data));
        (success,) = asOwner(data);
        ok(success, "ripe");
        eq(account.availableAt(keccak256(data)), 0, "once");
    }

    function counts(bytes memory data) private {
        vm.prank(stranger);
        (bool success, bytes memory answer) = address(account).call(data);
        ok(!success && keccak256(answer) == keccak256(notOwner(stranger)), "not for everybody");
        (success,) = asOwner(data);
        ok(success, "at once");
    }

    function limited() private view returns (uint256 most, uint256 window) {
        (, most, window,,) = escrow.operatorLimit(address(account), key, address(weth));
    }

    /* CHANGES */

    function test_a_change_is_cancelled_lapses_and_is_the_owners() public {
        bytes memory data = abi.encodeCall(account.setMover, (stranger));
        bytes32 id = keccak256(data);
        vm.startPrank(stranger);
        vm.expectRevert(notOwner(stranger));
        account.schedule(data);
        vm.expectRevert(notOwner(stranger));
        account.cancel(id);
        vm.expectRevert(notOwner(stranger));
        account.finishSetup();
        vm.stopPrank();
        vm.startPrank(owner);
        vm.expectRevert(notScheduled(data));
        account.cancel(id);
        account.schedule(data);
        vm.expectEmit(true, true, true, true, address(account));
        emit ILpAccount.ChangeCancelled(id);
        account.cancel(id);
        vm.warp(block.timestamp + CHANGE);
        vm.expectRevert(notScheduled(data));
        account.setMover(stranger);
        account.schedule(data);
        vm.stopPrank();
        vm.warp(block.timestamp + CHANGE);
        vm.prank(stranger);
        vm.expectRevert(notOwner(stranger));
        account.setMover(stranger);
        vm.startPrank(owner);
        // Another mover is another change.
        vm.expectRevert(notScheduled(abi.encodeCall(account.setMover, (taker))));
        account.setMover(taker);
        vm.warp(block.timestamp + LAPSE + 1);
        vm.expectRevert(notScheduled(data));
        account.setMover(stranger);
        account.schedule(data);
        vm.warp(block.timestamp + CHANGE + LAPSE);
        account.setMover(stranger);
        eq(account.mover(), stranger, "in its last second");
    }

    function test_set_up_ends_by_itself_and_by_its_owner() public {
        ILpAccount fresh = deployAccount(owner, bytes32(uint256(1)));
        vm.startPrank(owner);
        vm.expectRevert(notScheduled(abi.encodeCall(fresh.setMover, (mover))));
        fresh.setMover(mover);
        uint256 begun = block.timestamp;
        fresh.initialize(address(escrow), address(bond));
        vm.warp(begun + 1 days - 1);
        fresh.setMover(mover);
        vm.warp(begun + 1 days);
        vm.expectRevert(notScheduled(abi.encodeCall(fresh.setMover, (stranger))));
        fresh.setMover(stranger);
        vm.warp(begun + 1 days + 1);
        fresh.finishSetup();
        eq(fresh.setupEndsAt(), begun + 1 days, "it does not begin again");
        eq(account.setupEndsAt(), begun, "finished at once");
    }

    function test_owner() public {
        waits(abi.encodeCall(account.transferOwnership, (taker)));
        eq(account.owner(), owner, "not accepted yet");
        vm.prank(stranger);
        vm.expectRevert(notOwner(stranger));
        account.acceptOwnership();
        counts(abi.encodeCall(account.transferOwnership, (address(0))));
        vm.prank(taker);
        vm.expectRevert(notOwner(taker));
        account.acceptOwnership();
        change(abi.encodeCall(account.transferOwnership, (taker)));
        vm.prank(taker);
        account.acceptOwnership();
        ok(account.owner() == taker && account.pendingOwner() == address(0), "the new one");
        vm.prank(owner);
        vm.expectRevert(notOwner(owner));
        account.setMover(address(0));
    }

    function test_treasury() public {
        waits(abi.encodeCall(account.setTreasury, (taker)));
        eq(account.treasury(), taker, "another");
        counts(abi.encodeCall(account.setTreasury, (taker)));
        address[4] memory places = [address(0), address(account), address(escrow), address(bond)];
        for (uint256 i; i < 4; ++i) {
            vm.startPrank(owner);
            account.schedule(abi.encodeCall(account.setTreasury, (places[i])));
            vm.warp(block.timestamp + CHANGE);
            vm.expectRevert(ILpAccount.InvalidParameter.selector);
            account.setTreasury(places[i]);
            vm.stopPrank();
        }
    }

    function test_mover_and_its_limits() public {
        counts(abi.encodeCall(account.setMover, (mover)));
        counts(abi.encodeCall(account.setMover, (address(0))));
        vm.prank(mover);
        vm.expectRevert(notMover(mover));
        account.deposit(address(usd), 1);
        waits(abi.encodeCall(account.setMover, (taker)));
        counts(abi.encodeCall(account.setMoverLimit, (address(usd), USD_MOST)));
        waits(abi.encodeCall(account.setMoverLimit, (address(usd), USD_MOST + 1)));
        vm.prank(taker);
        account.requestWithdrawal(address(usd), 2);
        counts(abi.encodeCall(account.setMoverLimit, (address(usd), 1)));
        vm.prank(taker);
        vm.expectRevert(overLimit(address(usd), 0, 1));
        account.requestWithdrawal(address(usd), 1);
        (uint256 most,,) = account.moverLimit(address(usd));
        eq(most, 1, "less");
    }

    function test_routes_of_cctp() public {
        waits(abi.encodeCall(account.setCctpRoute, (address(usd), DOMAIN, address(messenger), ROUTE_FEE + 1)));
        counts(abi.encodeCall(account.setCctpRoute, (address(usd), DOMAIN, address(messenger), ROUTE_FEE + 1)));
        counts(abi.encodeCall(account.setCctpRoute, (address(usd), DOMAIN, address(messenger), 1)));
        (address place, uint16 fee) = account.cctpRoute(address(usd), DOMAIN);
        ok(place == address(messenger) && fee == 1, "cheaper");
        waits(abi.encodeCall(account.setCctpRoute, (address(usd), DOMAIN, stranger, 1)));
        waits(abi.encodeCall(account.setCctpRoute, (address(usd), DOMAIN + 1, address(messenger), 10_000)));
        counts(abi.encodeCall(account.setCctpRoute, (address(usd), DOMAIN, address(0), 0)));
        (place,) = account.cctpRoute(address(usd), DOMAIN);
        eq(place, address(0), "not listed");
        waits(abi.encodeCall(account.setCctpRoute, (address(usd), DOMAIN, stranger, 0)));
        bytes memory data = abi.encodeCall(account.setCctpRoute, (address(0), DOMAIN, address(0), 10_001));
        (bool success, bytes memory answer) = asOwner(data);
        ok(!success && bytes4(answer) == ILpAccount.InvalidParameter.selector, "more than everything");
    }

    function test_routes_of_ofts() public {
        waits(abi.encodeCall(account.setOftRoute, (address(oft), EID, address(weth), ROUTE_FEE + 1)));
        waits(abi.encodeCall(account.setOftRoute, (address(oft), EID, address(usd), ROUTE_FEE)));
        counts(abi.encodeCall(account.setOftRoute, (address(oft), EID, address(usd), 1)));
        (address token, uint16 fee) = account.oftRoute(address(oft), EID);
        ok(token == address(usd) && fee == 1, "another token, cheaper");
        counts(abi.encodeCall(account.setOftRoute, (address(oft), EID, address(0), 0)));
        waits(abi.encodeCall(account.setOftRoute, (address(oft), EID, address(weth), 0)));
    }

    function test_operators() public {
        counts(abi.encodeCall(account.limitOperator, (key, address(weth), OPERATOR_MOST, OPERATOR_WINDOW)));
        waits(abi.encodeCall(account.limitOperator, (key, address(weth), OPERATOR_MOST + 1, OPERATOR_WINDOW)));
        waits(abi.encodeCall(account.limitOperator, (key, address(weth), OPERATOR_MOST, OPERATOR_WINDOW - 1)));
        waits(abi.encodeCall(account.limitOperator, (key, address(usd), 1, 1)));
        counts(abi.encodeCall(account.limitOperator, (key, address(weth), 5, OPERATOR_WINDOW)));
        (uint256 most, uint256 window) = limited();
        ok(most == 5 && window == OPERATOR_WINDOW, "less");
        waits(abi.encodeCall(account.setOperator, (key, true)));
        counts(abi.encodeCall(account.limitOperator, (key, address(weth), 6, 1)));
        (most, window) = limited();
        ok(most == 6 && window == 1, "any limit is less than none");
        counts(abi.encodeCall(account.setOperator, (key, false)));
        ok(!escrow.isOperator(address(account), key), "revoked");
        // Its limit of the other token would hold again.
        waits(abi.encodeCall(account.limitOperator, (key, address(weth), 0, type(uint32).max)));
        ok(escrow.isOperator(address(account), key), "an operator again");
    }

    /* THE END */

    function test_a_closed_account_is_emptied_into_the_treasury_by_anybody() public {
        vm.prank(mover);
        account.postBond(address(usd), 1_000e6);
        vm.deal(address(account), 3);
        bytes memory later = abi.encodeCall(account.setTreasury, (stranger));
        vm.startPrank(owner);
        account.schedule(later);
        account.requestWithdrawal(address(usd), 1);
        account.requestTakeBack(address(usd), 1);
        vm.stopPrank();
        change(abi.encodeCall(account.transferOwnership, (stranger)));
        counts(abi.encodeCall(account.close, ()));
        ok(account.closed() && account.mover() == address(0) && account.pendingOwner() == address(0), "closed");

        vm.startPrank(owner);
        vm.expectRevert(ILpAccount.AccountClosed.selector);
        account.setTreasury(stranger);
        vm.expectRevert(ILpAccount.AccountClosed.selector);
        account.deposit(address(usd), 1);
        account.setOperator(key, false);
        vm.stopPrank();

        vm.startPrank(stranger);
        // Nothing that was asked for is lost by asking again.
        vm.expectRevert(abi.encodeWithSelector(ILpAccount.RequestPending.selector, address(usd)));
        account.requestTakeBack(address(usd), 0);
        (,, uint256 lapsesAt) = escrow.pendingWithdrawal(address(account), address(usd));
        vm.warp(lapsesAt);
        vm.expectRevert(abi.encodeWithSelector(ILpAccount.RequestPending.selector, address(usd)));
        account.requestWithdrawal(address(usd), 0);
        vm.warp(lapsesAt + 1);
        account.requestWithdrawal(address(usd), 0);
        account.takeBack(address(usd));
        account.requestTakeBack(address(usd), 0);
        vm.warp(block.timestamp + TAKE_BACK);
        eq(account.takeBack(address(usd)), 1_000e6 - 1, "bond");
        account.withdraw(address(usd));
        uint256 all = lying(address(usd));
        account.takeToTreasury(address(usd), 0);
        account.takeNativeToTreasury(0);
        eq(usd.balanceOf(treasury), all, "all that there was");
        eq(all, 1_010_000e6, "all that there was");
        eq(treasury.balance, 3, "native currency");
        eq(escrow.balanceOf(address(account), address(usd)), 0, "the ledger is empty");
    }

    /// @dev K25: a treasury that was named first.
    function test_the_escrow_and_the_bond_of_an_account_are_not_its_treasury() public {
        address[2] memory places = [address(escrow), address(bond)];
        for (uint256 i; i < 2; ++i) {
            ILpAccount fresh = deployAccount(owner, bytes32(2 + i));
            vm.startPrank(owner);
            fresh.schedule(abi.encodeCall(fresh.setTreasury, (places[i])));
            fresh.schedule(abi.encodeCall(fresh.setTreasury, (treasury)));
            vm.warp(block.timestamp + CHANGE);
            fresh.setTreasury(places[i]);
            vm.expectRevert(ILpAccount.InvalidParameter.selector);
            fresh.initialize(address(escrow), address(bond));
            fresh.setTreasury(treasury);
            fresh.initialize(address(escrow), address(bond));
            vm.stopPrank();
        }
    }

    function test_an_account_without_a_bond_may_have_a_treasury_before() public {
        ILpAccount fresh = deployAccount(owner, bytes32(uint256(1)));
        vm.startPrank(owner);
        fresh.initialize(address(escrow), address(0));
        eq(fresh.treasury(), address(0), "none yet");
        fresh.setTreasury(treasury);
        vm.stopPrank();
    }

    function test_a_closed_set_up_is_over() public {
        ILpAccount fresh = deployAccount(owner, bytes32(uint256(1)));
        vm.startPrank(owner);
        fresh.initialize(address(escrow), address(bond));
        fresh.setTreasury(treasury);
        fresh.close();
        vm.expectRevert(ILpAccount.AccountClosed.selector);
        fresh.setMover(mover);
        eq(fresh.setupEndsAt(), block.timestamp, "ended");
    }
}
