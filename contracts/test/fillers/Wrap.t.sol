// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {OneForOneFiller} from "../../src/fillers/OneForOneFiller.sol";
import {WrapFiller} from "../../src/fillers/WrapFiller.sol";
import {IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {INativeWrapper} from "../../src/interfaces/IIssuers.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Reenterer} from "../mocks/Reenterer.sol";
import {FillerBase} from "./FillerBase.sol";

/// @notice A wrapper that pays and takes as it is told, and runs somebody's call meanwhile.
contract HostileWrapper is AwkwardToken {
    uint256 private _takes;
    uint256 private _pays;
    Reenterer private _reenterer;

    constructor() payable AwkwardToken(18) {}

    function behave(uint256 takes, uint256 pays, Reenterer reenterer) external {
        (_takes, _pays, _reenterer) = (takes, pays, reenterer);
    }

    function withdraw(uint256 amount) external {
        if (address(_reenterer) != address(0)) _reenterer.onSend(msg.sender, amount);
        shares[msg.sender] -= _takes;
        (bool paid,) = msg.sender.call{value: _pays}("");
        require(paid, "unpaid");
    }

    function deposit() external payable {}
}

/// @notice The real WETH9 twice: as two wrappers of one native currency.
contract WrapFillerTest is FillerBase {
    string private constant WETH9 = "canonical-weth/build/contracts/WETH9.json";

    WrapFiller internal filler;
    address internal first;
    address internal second;

    function setUp() public override {
        super.setUp();
        filler = new WrapFiller(escrow);
        (first, second) = (deployNpm(WETH9, ""), deployNpm(WETH9, ""));
        vm.deal(taker, 100e18);
        vm.startPrank(taker);
        INativeWrapper(first).deposit{value: 100e18}();
        vm.stopPrank();
        allow(first);
        watched = [first, second];
    }

    function order_(uint256 floor) internal returns (StandardOrder memory) {
        return orderFor(filler, first, 1e18, second, floor);
    }

    function test_rewraps_to_the_unit() public {
        refuse(filler, order_(1e18 + 1), "", belowFloor(second, 1e18 + 1, 1e18));
        StandardOrder memory order = order_(1e18);
        through(filler, order, "");
        eq(DevToken(second).balanceOf(recipient), 1e18, "one to one");
        eq(first.balance, 99e18, "the native currency moved");
        eq(second.balance, 1e18, "the native currency moved");
        eq(status(idOf(order)), uint256(OrderStatus.Claimed), "claimed");
        holdsNothing(filler);
    }

    function testFuzz_amounts(uint256 amount, uint256 slack) public {
        amount = bound(amount, 1, 100e18);
        StandardOrder memory order = orderFor(filler, first, amount, second, bound(slack, 1, amount));
        through(filler, order, "");
        eq(DevToken(second).balanceOf(recipient), amount, "to the unit");
        holdsNothing(filler);
    }

    function test_into_itself() public {
        through(filler, orderFor(filler, first, 1e18, first, 1e18), "");
        eq(DevToken(first).balanceOf(recipient), 1e18, "one to one");
        holdsNothing(filler);
    }

    /* ATTACKS */

    function test_only_the_escrow_calls() public {
        StandardOrder memory order = order_(1);
        uint256[] memory amounts = new uint256[](1);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(OneForOneFiller.OnlyEscrow.selector, stranger));
        filler.fillThrough(bytes32(0), abi.encode(order), amounts, "");
    }

    function test_the_caller_chooses_nothing() public {
        bytes memory path = abi.encodePacked(stranger);
        refuse(filler, order_(1), path, abi.encodeWithSelector(OneForOneFiller.InvalidPath.selector, path));
    }

    function test_nobody_sends_native_currency_here() public {
        vm.deal(stranger, 1);
        vm.prank(stranger);
        (bool sent, bytes memory reason) = address(filler).call{value: 1}("");
        ok(!sent, "refused");
        eq(keccak256(reason), keccak256(abi.encodeWithSelector(WrapFiller.OnlyWrapper.selector, stranger)), "reason");
        // A wrapper that was unwrapped before is nobody again.
        through(filler, order_(1e18), "");
        vm.deal(first, 200e18);
        vm.prank(first);
        (sent,) = address(filler).call{value: 1}("");
        ok(!sent, "refused");
    }

    function test_native_currency_that_was_forced_here_goes_to_the_next_recipient() public {
        vm.deal(address(filler), 5);
        through(filler, order_(1e18), "");
        eq(DevToken(second).balanceOf(recipient), 1e18 + 5, "the gift too");
        holdsNothing(filler);
    }

    function test_an_insolvent_wrapper_reverts_the_whole() public {
        StandardOrder memory order = order_(1e18);
        vm.deal(first, 1e18 - 1);
        refuse(filler, order, "", "");
        vm.deal(first, 100e18);
        through(filler, order, "");
    }

    function hostile() internal returns (HostileWrapper evil) {
        evil = new HostileWrapper();
        vm.deal(address(evil), 10e18);
        give(address(evil), taker, 100e18);
        allow(address(evil));
    }

    function test_a_wrapper_that_pays_less_or_mints_nothing() public {
        HostileWrapper evil = hostile();
        evil.behave(1e18, 1e18 - 1, Reenterer(address(0)));
        refuse(filler, orderFor(filler, address(evil), 1e18, second, 1e18), "", belowFloor(second, 1e18, 1e18 - 1));
        refuse(filler, orderFor(filler, first, 1e18, address(evil), 1), "", belowFloor(address(evil), 1, 0));
        // What it does not take, the taker has back.
        evil.behave(1e18 - 3, 1e18, Reenterer(address(0)));
        uint256 held = evil.balanceOf(taker);
        through(filler, orderFor(filler, address(evil), 1e18, second, 1e18), "");
        eq(held - evil.balanceOf(taker), 1e18 - 3, "the rest is the taker's");
        holdsNothing(filler);
    }

    function test_reentrance_from_a_wrapper() public {
        HostileWrapper evil = hostile();
        Reenterer reenterer = new Reenterer();
        StandardOrder memory order = orderFor(filler, address(evil), 1e18, second, 1e18);
        uint256[] memory amounts = new uint256[](1);
        evil.behave(1e18, 1e18, reenterer);
        reenterer.set(
            address(filler), abi.encodeCall(filler.fillThrough, (idOf(order), abi.encode(order), amounts, ""))
        );
        reenterer.expect(abi.encodeWithSelector(OneForOneFiller.OnlyEscrow.selector, address(reenterer)));
        through(filler, order, "");
        ok(reenterer.refused(), "refused as it should be");
        order = orderFor(filler, address(evil), 1e18, second, 1e18);
        reenterer.set(
            address(escrow),
            abi.encodeCall(escrow.fill, (idOf(order), order.outputs[0], order.fillDeadline, fillerData(address(filler))))
        );
        reenterer.expect(err(IEscrow.Reentered.selector));
        through(filler, order, "");
        ok(reenterer.refused(), "refused as it should be");
        holdsNothing(filler);
    }

    function test_tokens_that_are_no_wrappers() public {
        StandardOrder memory order = orderFor(filler, address(usd), 1e6, first, 1);
        refuse(filler, order, "", "");
        refuse(filler, orderFor(filler, first, 1e18, address(usd), 1), "", "");
    }

    function test_needs_an_escrow() public {
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NoCode.selector, stranger));
        new WrapFiller(IEscrow(stranger));
    }
}
