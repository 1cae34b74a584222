// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ILpAccount} from "../../src/interfaces/ILpAccount.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Bridge} from "../mocks/Bridge.sol";
import {Puppet} from "../mocks/Puppet.sol";
import {AccountBase} from "../support/AccountBase.sol";

/// @notice Group 15: thieves of keys, tokens that call back, bridges that lie, and races for the set-up.
contract LpAccountAttacksTest is AccountBase {
    function test_15_a_token_that_calls_back_meets_the_lock() public {
        AwkwardToken token = new AwkwardToken(6);
        Puppet puppet = new Puppet();
        token.mint(address(account), 100);
        change(abi.encodeCall(account.setMover, (address(puppet))));
        change(abi.encodeCall(account.setMoverLimit, (address(token), 1_000)));
        token.setHook(address(account), address(puppet));
        puppet.plan(address(account), abi.encodeCall(account.requestWithdrawal, (address(token), 1)));
        puppet.plan(address(account), abi.encodeCall(account.withdraw, (address(token))));
        puppet.plan(address(account), abi.encodeCall(account.deposit, (address(token), 1)));
        puppet.plan(address(account), abi.encodeCall(account.postBond, (address(token), 1)));
        puppet.plan(address(account), abi.encodeCall(account.takeBack, (address(token))));
        puppet.plan(address(account), abi.encodeCall(account.sendByCctp, (address(usd), DOMAIN, 1, 0, 1000)));
        puppet.plan(address(account), abi.encodeCall(account.sendByOft, (address(oft), EID, 1, 1)));
        puppet.plan(address(account), abi.encodeCall(account.requestTakeBack, (address(token), 1)));
        puppet.plan(address(account), abi.encodeCall(account.takeToTreasury, (address(token), 1)));
        puppet.plan(address(account), abi.encodeCall(account.takeNativeToTreasury, (1)));
        puppet.act(address(account), abi.encodeCall(account.deposit, (address(token), 50)));
        bytes4[] memory results = puppet.results();
        eq(results.length, 10, "all were tried");
        for (uint256 i; i < 10; ++i) {
            eq(bytes32(results[i]), bytes32(ILpAccount.Reentered.selector), vm.toString(i));
        }
        eq(escrow.balanceOf(address(account), address(token)), 50, "deposited once");
        // And the lock is open again.
        puppet.forget();
        puppet.act(address(account), abi.encodeCall(account.deposit, (address(token), 50)));
    }

    /// @dev The escrow is not locked meanwhile, so no lock of its own answers.
    function test_15_a_bridge_that_calls_back_meets_the_lock() public {
        change(abi.encodeCall(account.setMover, (address(messenger))));
        bytes[3] memory calls = [
            abi.encodeCall(account.sendByCctp, (address(usd), DOMAIN, 1, 0, 1000)),
            abi.encodeCall(account.requestWithdrawal, (address(usd), 1)),
            abi.encodeCall(account.withdraw, (address(usd)))
        ];
        for (uint256 i; i < calls.length; ++i) {
            messenger.plan(address(account), calls[i]);
            vm.prank(address(messenger));
            account.sendByCctp(address(usd), DOMAIN, 1, 0, 1000);
            eq(bytes32(messenger.outcome()), bytes32(ILpAccount.Reentered.selector), vm.toString(i));
        }
    }

    function test_15_a_bridge_takes_no_more_than_was_approved() public {
        messenger.behave(Bridge.Manner.Greedy);
        oft.behave(Bridge.Manner.Greedy);
        vm.startPrank(mover);
        vm.expectRevert();
        account.sendByCctp(address(usd), DOMAIN, 1e6, 0, 1000);
        vm.expectRevert();
        account.sendByOft{value: 3}(address(oft), EID, 1e18, 1e18);
        messenger.behave(Bridge.Manner.Nothing);
        account.sendByCctp(address(usd), DOMAIN, 1e6, 0, 1000);
        eq(usd.allowance(address(account), address(messenger)), 0, "it cannot take it later");
    }

    /// @dev The OFT of the list moves weth; it asks for usd.
    function test_15_an_oft_gets_only_the_token_of_its_route() public {
        Bridge liar = new Bridge(address(usd));
        change(abi.encodeCall(account.setOftRoute, (address(liar), EID, address(weth), 0)));
        vm.prank(mover);
        vm.expectRevert();
        account.sendByOft{value: 3}(address(liar), EID, 1e6, 1e6);
    }

    /// @dev All that a thief of the mover's key gets on its way in a day is the limit, and no fee above the route's.
    function test_15_a_thief_of_the_movers_key_burns_at_most_the_fee_of_a_days_limit() public {
        vm.startPrank(mover);
        for (uint256 i; i < 5; ++i) {
            account.sendByCctp(address(usd), DOMAIN, 1_000e6, 1e6, 1000);
        }
        vm.expectRevert(overLimit(address(usd), 0, 1));
        account.sendByCctp(address(usd), DOMAIN, 1, 0, 1000);
        vm.stopPrank();
        vm.prank(owner);
        account.setMover(address(0));
        vm.warp(block.timestamp + 1 days);
        vm.prank(mover);
        vm.expectRevert(notMover(mover));
        account.sendByCctp(address(usd), DOMAIN, 1, 0, 1000);
    }

    function test_15_a_thief_of_the_movers_key_cannot_keep_the_owner_from_withdrawing() public {
        vm.prank(owner);
        account.requestWithdrawal(address(usd), 1_000_000e6);
        vm.prank(mover);
        account.requestWithdrawal(address(usd), 0);
        vm.startPrank(owner);
        account.setMover(address(0));
        account.requestWithdrawal(address(usd), 1_000_000e6);
        vm.warp(block.timestamp + DELAY);
        account.withdraw(address(usd));
        account.takeToTreasury(address(usd), 1_000_000e6);
        eq(usd.balanceOf(treasury), 1_000_000e6, "home");
    }

    /// @dev The same place, whoever is first; and a stranger's account is at another.
    function test_15_whoever_deploys_first_gains_nothing() public {
        vm.startPrank(stranger);
        ILpAccount fresh = deployAccount(owner, bytes32(uint256(9)));
        eq(fresh.owner(), owner, "the owner's");
        vm.expectRevert(notOwner(stranger));
        fresh.initialize(address(escrow), address(bond));
        ok(placeOf(stranger, bytes32(uint256(9))) != address(fresh), "another place");
        vm.stopPrank();
        vm.prank(owner);
        fresh.initialize(address(escrow), address(bond));
    }

    function test_15_a_set_up_is_not_repeated() public {
        vm.startPrank(owner);
        vm.expectRevert(ILpAccount.InitialisedBefore.selector);
        account.initialize(address(escrow), address(bond));
        account.finishSetup();
        vm.expectRevert(notScheduled(abi.encodeCall(account.setTreasury, (stranger))));
        account.setTreasury(stranger);
    }

    /// @dev Permits of tokens ask the account, which accepts nothing.
    function test_15_no_permit_takes_its_tokens() public {
        bytes32 digest =
            receiveDigest(stranger, address(account), 1, 0, block.timestamp + 1, bytes32(uint256(1)));
        bytes memory signature = sign(ACCOUNT_OPERATOR, digest);
        vm.prank(stranger);
        vm.expectRevert();
        usd.receiveWithAuthorization(
            address(account), stranger, 1, 0, block.timestamp + 1, bytes32(uint256(1)), signature
        );
    }
}
