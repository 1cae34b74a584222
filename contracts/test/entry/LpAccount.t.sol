// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevCctpMessenger} from "../../src/devnet/DevCctpMessenger.sol";
import {DevCctpTransmitter} from "../../src/devnet/DevCctpTransmitter.sol";
import {Commitment, IEscrow, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {ILpAccount} from "../../src/interfaces/ILpAccount.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Bridge} from "../mocks/Bridge.sol";
import {AccountBase} from "../support/AccountBase.sol";

/// @notice What mover and owner do with the money of an account, and where it is deployed.
contract LpAccountTest is AccountBase {
    modifier asMover() {
        vm.startPrank(mover);
        _;
    }

    /* DEPLOYMENT */

    function test_an_account_has_an_owner() public {
        (bool success, bytes memory answer) = CREATE2.call(abi.encodePacked(bytes32(0), initCode(address(0))));
        ok(!success && answer.length == 0, "not deployed");
    }

    function test_initialize_is_for_the_owner_and_once() public {
        ILpAccount fresh = deployAccount(owner, bytes32(uint256(1)));
        vm.prank(stranger);
        vm.expectRevert(notOwner(stranger));
        fresh.initialize(address(escrow), address(bond));
        vm.startPrank(owner);
        vm.expectRevert(ILpAccount.InvalidParameter.selector);
        fresh.initialize(stranger, address(0));
        vm.expectRevert(ILpAccount.InvalidParameter.selector);
        fresh.initialize(address(remote), address(bond));
        vm.expectEmit(true, true, true, true, address(fresh));
        emit ILpAccount.Initialised(address(escrow), address(0), block.timestamp + 1 days);
        fresh.initialize(address(escrow), address(0));
        vm.expectRevert(ILpAccount.InitialisedBefore.selector);
        fresh.initialize(address(escrow), address(bond));
        vm.stopPrank();
        ok(fresh.escrow() == address(escrow) && fresh.bond() == address(0), "escrow without a bond");
        vm.startPrank(owner);
        vm.expectRevert(ILpAccount.InitialisedBefore.selector);
        account.initialize(address(remote), address(0));
        vm.stopPrank();
        ok(account.escrow() == address(escrow) && account.bond() == address(bond), "both");
    }

    /* LEDGER */

    function test_the_mover_takes_money_out_of_the_ledger_and_back() public asMover {
        uint256 before = lying(address(usd));
        account.requestWithdrawal(address(usd), 1_000e6);
        (uint256 amount, uint256 from,) = escrow.pendingWithdrawal(address(account), address(usd));
        ok(amount == 1_000e6 && from == block.timestamp + DELAY, "requested");
        vm.expectRevert(err(IEscrow.TooEarly.selector, from, block.timestamp));
        account.withdraw(address(usd));
        vm.warp(from);
        eq(account.withdraw(address(usd)), 1_000e6, "withdrawn");
        eq(lying(address(usd)), before + 1_000e6, "lies on the account");
        eq(account.deposit(address(usd), 400e6), 400e6, "a part");
        eq(lying(address(usd)), before + 600e6, "the rest lies there");
        eq(account.deposit(address(usd), type(uint256).max), before + 600e6, "everything");
        eq(lying(address(usd)), 0, "nothing lies there");
        eq(escrow.balanceOf(address(account), address(usd)), 1_000_000e6 + before, "in the ledger");
        eq(usd.allowance(address(account), address(escrow)), 0, "no allowance");
    }

    function test_what_is_requested_counts_each_day() public asMover {
        account.requestWithdrawal(address(usd), USD_MOST - 1);
        vm.expectRevert(overLimit(address(usd), 1, 2));
        account.requestWithdrawal(address(usd), 2);
        account.requestWithdrawal(address(usd), 0);
        account.requestWithdrawal(address(usd), 1);
        (uint256 most, uint256 requested, uint256 sent) = account.moverLimit(address(usd));
        ok(most == USD_MOST && requested == USD_MOST && sent == 0, "counted");
        vm.expectRevert(overLimit(address(usd), 0, 1));
        account.requestWithdrawal(address(usd), 1);
        account.requestWithdrawal(address(weth), WETH_MOST);
        // The last second of the day, and the first of the next.
        vm.warp(START / 1 days * 1 days + 1 days - 1);
        vm.expectRevert(overLimit(address(usd), 0, 1));
        account.requestWithdrawal(address(usd), 1);
        vm.warp(block.timestamp + 1);
        (most, requested, sent) = account.moverLimit(address(usd));
        ok(most == USD_MOST && requested == 0 && sent == 0, "a new day");
        account.requestWithdrawal(address(usd), USD_MOST);
    }

    function test_a_token_without_a_limit_is_not_moved() public asMover {
        vm.expectRevert(overLimit(address(this), 0, 1));
        account.requestWithdrawal(address(this), 1);
    }

    function test_the_owner_moves_without_a_limit() public {
        vm.startPrank(owner);
        account.requestWithdrawal(address(usd), 1_000_000e6);
        vm.warp(block.timestamp + DELAY);
        eq(account.withdraw(address(usd)), 1_000_000e6, "everything");
        eq(account.deposit(address(usd), 1), 1, "and back");
        (, uint256 requested,) = account.moverLimit(address(usd));
        eq(requested, 0, "not counted");
    }

    function test_nobody_else_moves() public {
        address[3] memory others = [stranger, treasury, vm.addr(ACCOUNT_OPERATOR)];
        for (uint256 i; i < 3; ++i) {
            vm.startPrank(others[i]);
            bytes memory reason = notMover(others[i]);
            vm.expectRevert(reason);
            account.requestWithdrawal(address(usd), 1);
            vm.expectRevert(reason);
            account.withdraw(address(usd));
            vm.expectRevert(reason);
            account.deposit(address(usd), 1);
            vm.expectRevert(reason);
            account.takeBack(address(usd));
            vm.expectRevert(reason);
            account.postBond(address(usd), 1);
            vm.expectRevert(reason);
            account.sendByCctp(address(usd), DOMAIN, 1, 0, 1000);
            vm.expectRevert(reason);
            account.sendByOft(address(oft), EID, 1, 1);
            vm.stopPrank();
        }
        // Sends are limited, and the owner has no limit.
        vm.startPrank(owner);
        vm.expectRevert(notMover(owner));
        account.postBond(address(usd), 1);
        vm.expectRevert(notMover(owner));
        account.sendByCctp(address(usd), DOMAIN, 1, 0, 1000);
        vm.expectRevert(notMover(owner));
        account.sendByOft(address(oft), EID, 1, 1);
    }

    /* BOND */

    function test_bond_is_posted_within_the_limit_and_comes_back() public {
        uint256 before = lying(address(usd));
        vm.startPrank(mover);
        eq(account.postBond(address(usd), 1_000e6), 1_000e6, "posted");
        vm.expectRevert(overLimit(address(usd), USD_MOST - 1_000e6, USD_MOST));
        account.postBond(address(usd), USD_MOST);
        vm.expectRevert(notOwner(mover));
        account.requestTakeBack(address(usd), 1);
        vm.stopPrank();
        (,, uint256 sent) = account.moverLimit(address(usd));
        eq(sent, 1_000e6, "counted as sent");
        eq(bonded(address(account), address(usd)), 1_000e6, "bond");
        eq(usd.allowance(address(account), address(bond)), 0, "no allowance");
        vm.prank(owner);
        account.requestTakeBack(address(usd), 400e6);
        vm.warp(block.timestamp + TAKE_BACK);
        vm.prank(mover);
        eq(account.takeBack(address(usd)), 400e6, "taken back");
        eq(lying(address(usd)), before - 600e6, "onto the account");
    }

    function test_no_allowance_is_left_where_the_token_does_not_count_it_down() public {
        AwkwardToken token = new AwkwardToken(6);
        token.setGenerous(true);
        token.mint(address(account), 100);
        change(abi.encodeCall(account.setMoverLimit, (address(token), 100)));
        vm.startPrank(mover);
        account.deposit(address(token), 40);
        account.postBond(address(token), 10);
        eq(token.allowance(address(account), address(escrow)), 0, "the escrow's");
        eq(token.allowance(address(account), address(bond)), 0, "the bond's");
    }

    function test_the_owner_sets_what_the_bond_answers_for() public {
        vm.prank(mover);
        vm.expectRevert(notOwner(mover));
        account.setBondTerms(30, true);
        vm.prank(owner);
        account.setBondTerms(30, true);
        (uint32 fillWindow, bool wallets) = bond.termsOf(address(account));
        ok(fillWindow == 30 && wallets, "set");
    }

    /* CCTP */

    function test_sendByCctp_burns_for_the_account_itself() public asMover {
        uint256 before = lying(address(usd));
        vm.expectEmit(true, true, true, true, address(account));
        emit ILpAccount.Sent(address(usd), address(messenger), DOMAIN, 1_000e6, 1e6);
        account.sendByCctp(address(usd), DOMAIN, 1_000e6, 1e6, 1000);
        eq(lying(address(usd)), before - 1_000e6, "gone");
        eq(messenger.recipient(), word(address(account)), "to itself");
        eq(messenger.caller(), bytes32(0), "anyone delivers");
        ok(messenger.amount() == 1_000e6 && messenger.fee() == 1e6, "amount and fee");
        ok(messenger.finality() == 1000 && messenger.destination() == DOMAIN, "finality and domain");
        eq(usd.allowance(address(account), address(messenger)), 0, "no allowance");
        (, uint256 requested, uint256 sent) = account.moverLimit(address(usd));
        ok(sent == 1_000e6 && requested == 0, "counted");
    }

    function test_sendByCctp_needs_a_route_a_fee_in_its_bounds_and_a_limit() public asMover {
        vm.expectRevert(abi.encodeWithSelector(ILpAccount.NoRoute.selector, address(usd), DOMAIN + 1));
        account.sendByCctp(address(usd), DOMAIN + 1, 1, 0, 1000);
        vm.expectRevert(abi.encodeWithSelector(ILpAccount.NoRoute.selector, address(weth), DOMAIN));
        account.sendByCctp(address(weth), DOMAIN, 1, 0, 1000);
        vm.expectRevert(err(ILpAccount.FeeTooHigh.selector, 1e6, 1e6 + 1));
        account.sendByCctp(address(usd), DOMAIN, 1_000e6, 1e6 + 1, 1000);
        vm.expectRevert(err(ILpAccount.FeeTooHigh.selector, 0, 1));
        account.sendByCctp(address(usd), DOMAIN, 999, 1, 1000);
        account.sendByCctp(address(usd), DOMAIN, USD_MOST, 0, 2000);
        vm.expectRevert(overLimit(address(usd), 0, 1));
        account.sendByCctp(address(usd), DOMAIN, 1, 0, 1000);
        vm.expectRevert(overLimit(address(usd), 0, type(uint256).max));
        account.sendByCctp(address(usd), DOMAIN, type(uint256).max, type(uint256).max, 1000);
    }

    function test_it_fits_the_messenger_of_devnets() public {
        DevCctpTransmitter transmitter = new DevCctpTransmitter(26, new address[](0), 0);
        DevCctpMessenger real = new DevCctpMessenger(address(transmitter), usd, 1_000_000e6, feeRecipient);
        real.setRemote(6, word(address(real)), word(address(usd)));
        change(abi.encodeCall(account.setCctpRoute, (address(usd), 6, address(real), ROUTE_FEE)));
        uint256 before = lying(address(usd));
        vm.prank(mover);
        account.sendByCctp(address(usd), 6, 100e6, 0, 2000);
        eq(lying(address(usd)), before - 100e6, "burned");
    }

    /* OFT */

    function test_sendByOft_sends_to_the_account_itself() public asMover {
        uint256 before = lying(address(weth));
        vm.deal(address(account), 5);
        vm.expectEmit(true, true, true, true, address(account));
        emit ILpAccount.Sent(address(weth), address(oft), EID, 10e18, 10e15);
        account.sendByOft{value: 10}(address(oft), EID, 10e18, 10e18 - 10e15);
        eq(lying(address(weth)), before - 10e18, "gone");
        eq(oft.recipient(), word(address(account)), "to itself");
        ok(oft.amount() == 10e18 && oft.fee() == 10e15 && oft.destination() == EID, "as asked");
        eq(oft.nativeFee(), 10, "all that came along");
        eq(mover.balance, 1 ether - 3, "the rest went back to the caller");
        eq(address(account).balance, 5, "nothing of the account's");
        eq(weth.allowance(address(account), address(oft)), 0, "no allowance");
        (,, uint256 sent) = account.moverLimit(address(weth));
        eq(sent, 10e18, "counted");
    }

    function test_sendByOft_needs_a_route_a_fee_in_its_bounds_and_a_limit() public asMover {
        vm.expectRevert(abi.encodeWithSelector(ILpAccount.NoRoute.selector, address(oft), EID + 1));
        account.sendByOft(address(oft), EID + 1, 1, 1);
        vm.expectRevert(abi.encodeWithSelector(ILpAccount.NoRoute.selector, address(weth), EID));
        account.sendByOft(address(weth), EID, 1, 1);
        vm.expectRevert(err(ILpAccount.FeeTooHigh.selector, 1e15, 1e15 + 1));
        account.sendByOft{value: 3}(address(oft), EID, 1e18, 1e18 - 1e15 - 1);
        vm.expectRevert(err(ILpAccount.FeeTooHigh.selector, 1e15, 1e18));
        account.sendByOft{value: 3}(address(oft), EID, 1e18, 0);
        account.sendByOft{value: 3}(address(oft), EID, WETH_MOST, WETH_MOST);
        vm.expectRevert(overLimit(address(weth), 0, 1));
        account.sendByOft{value: 3}(address(oft), EID, 1, 1);
    }

    /// @dev Whether it can deliver more than it gets is the bridge's to say.
    function test_an_oft_that_is_to_deliver_more_than_is_sent_takes_no_fee() public asMover {
        vm.expectEmit(true, true, true, true, address(account));
        emit ILpAccount.Sent(address(weth), address(oft), EID, 1e18, 0);
        account.sendByOft{value: 3}(address(oft), EID, 1e18, 1e18 + 1);
    }

    function test_dust_that_the_oft_leaves_stays_and_no_allowance_with_it() public {
        oft.behave(Bridge.Manner.Dust);
        uint256 before = lying(address(weth));
        vm.prank(mover);
        account.sendByOft{value: 3}(address(oft), EID, 1e18, 1e18);
        eq(lying(address(weth)), before - 1e18 + 1, "dust");
        eq(weth.allowance(address(account), address(oft)), 0, "no allowance");
    }

    function test_a_send_that_fails_counts_nothing() public {
        messenger.behave(Bridge.Manner.Refuse);
        vm.prank(mover);
        vm.expectRevert(Bridge.Refused.selector);
        account.sendByCctp(address(usd), DOMAIN, 1, 0, 1000);
        (,, uint256 sent) = account.moverLimit(address(usd));
        eq(sent, 0, "not counted");
    }

    /* TREASURY */

    function test_the_owner_takes_money_to_the_treasury_and_nobody_else_does() public {
        address[3] memory others = [stranger, mover, treasury];
        vm.deal(address(account), 7);
        for (uint256 i; i < 3; ++i) {
            vm.startPrank(others[i]);
            vm.expectRevert(notOwner(others[i]));
            account.takeToTreasury(address(usd), 1);
            vm.expectRevert(notOwner(others[i]));
            account.takeNativeToTreasury(1);
            vm.stopPrank();
        }
        vm.startPrank(owner);
        vm.expectEmit(true, true, true, true, address(account));
        emit ILpAccount.TakenToTreasury(address(usd), treasury, 3_000e6);
        account.takeToTreasury(address(usd), 3_000e6);
        eq(usd.balanceOf(treasury), 3_000e6, "there");
        vm.expectEmit(true, true, true, true, address(account));
        emit ILpAccount.NativeTakenToTreasury(treasury, 4);
        account.takeNativeToTreasury(4);
        ok(treasury.balance == 4 && address(account).balance == 3, "native currency too");
        vm.expectRevert(abi.encodeWithSelector(ILpAccount.NotTaken.selector, treasury));
        account.takeNativeToTreasury(4);
    }

    function test_native_currency_comes_by_transfer() public {
        vm.deal(address(this), 9);
        (bool success,) = address(account).call{value: 9}("");
        ok(success && address(account).balance == 9, "kept");
    }

    function test_without_a_treasury_nothing_leaves() public {
        ILpAccount fresh = deployAccount(owner, bytes32(uint256(1)));
        usd.mint(address(fresh), 1);
        vm.deal(address(fresh), 1);
        vm.startPrank(owner);
        fresh.initialize(address(escrow), address(0));
        vm.expectRevert(ILpAccount.InvalidParameter.selector);
        fresh.takeToTreasury(address(usd), 1);
        vm.expectRevert(ILpAccount.InvalidParameter.selector);
        fresh.takeNativeToTreasury(1);
        vm.expectRevert(ILpAccount.InvalidParameter.selector);
        fresh.close();
    }

    /* SIGNATURES */

    /// @dev Whoever signs, also as wallets wrap it: the operator's key counts at the escrow alone.
    function test_no_signature_is_accepted() public {
        change(abi.encodeCall(account.transferOwnership, (vm.addr(TAKER))));
        vm.prank(vm.addr(TAKER));
        account.acceptOwnership();
        uint256[2] memory keys = [TAKER, ACCOUNT_OPERATOR];
        for (uint256 i; i < 2; ++i) {
            bytes memory data = abi.encodeWithSignature(
                "isValidSignature(bytes32,bytes)", bytes32(i), sign(keys[i], bytes32(i))
            );
            (bool success, bytes memory answer) = address(account).staticcall(data);
            ok(success && bytes4(answer) == 0xffffffff, "refused");
        }
    }

    function test_operators_sign_for_it_within_their_limit() public {
        StandardOrder memory order = ofAccount(OPERATOR_MOST);
        bytes memory funding = by3009(order);
        escrow.settle(order, funding, ownCommitments(order, ACCOUNT_OPERATOR));
        eq(escrow.balanceOf(address(account), address(weth)), 1000e18 - OPERATOR_MOST, "paid");
        order = ofAccount(1);
        funding = by3009(order);
        Commitment[] memory list = ownCommitments(order, ACCOUNT_OPERATOR);
        vm.expectRevert(
            abi.encodeWithSelector(
                IEscrow.OperatorLimitExceeded.selector, vm.addr(ACCOUNT_OPERATOR), address(weth), 0, 1
            )
        );
        escrow.settle(order, funding, list);
    }
}
