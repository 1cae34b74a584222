// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Commitment, IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Filler} from "../mocks/Filler.sol";
import {Attack} from "./Attack.sol";

/// @notice Group 14: somebody opens an order that was signed to be settled. Its LP's commitment would be void, and the taker's
/// money locked until `expires`.
contract OpenedBehindBackTest is Attack {
    uint256 private constant WAYS = 6;

    /// @dev How the taker may have funded it: what is in the mempool when the attacker sees it.
    function funded(StandardOrder memory order, uint256 way) private returns (bytes memory) {
        if (way == 0) return by3009(order);
        if (way == 1) return byGrant(order);
        if (way == 2) return byInline(order, order.fillDeadline);
        if (way == 3) return byWitness(order, TAKER);
        if (way == 4) return byOrder3009(order, TAKER);
        fundLp(taker, address(usd), IN);
        return byLedger(order);
    }

    function prepare() private {
        vm.prank(taker);
        permit2.approve(address(usd), address(escrow), uint160(10 * IN), type(uint48).max);
    }

    function cannotOpen(StandardOrder memory order, bytes memory funding, address by) private {
        vm.prank(by);
        vm.expectRevert(wrongOracle(address(escrow)));
        escrow.openFor(order, taker, funding);
    }

    function test_14_nobody_opens_a_quote_of_one_chain() public {
        prepare();
        for (uint256 way; way < WAYS; ++way) {
            StandardOrder memory order = simple();
            bytes memory funding = funded(order, way);
            cannotOpen(order, funding, stranger);
            cannotOpen(order, funding, lp(0));
            cannotOpen(order, funding, operator(0));
            escrow.settle(order, funding, commitments(order));
            eq(status(idOf(order)), uint256(OrderStatus.Claimed), "settled all the same");
        }
    }

    function test_14_nobody_opens_a_split() public {
        prepare();
        for (uint256 way; way < WAYS; ++way) {
            StandardOrder memory order = split(IN, OUT);
            bytes memory funding = funded(order, way);
            cannotOpen(order, funding, lp(2));
            escrow.settle(order, funding, commitments(order));
            eq(status(idOf(order)), uint256(OrderStatus.Claimed), "settled all the same");
        }
    }

    function test_14_nobody_opens_what_a_filler_settles() public {
        prepare();
        Filler filler = new Filler(escrow);
        weth.mint(address(filler), 100 * OUT);
        for (uint256 way; way < WAYS; ++way) {
            StandardOrder memory order = through(address(filler));
            bytes memory funding = funded(order, way);
            cannotOpen(order, funding, stranger);
            escrow.settleThrough(order, funding, address(filler), abi.encode(Filler.Cheat.None));
            eq(status(idOf(order)), uint256(OrderStatus.Claimed), "settled all the same");
        }
    }

    function test_14_nor_does_the_taker_by_mistake() public {
        StandardOrder memory order = simple();
        vm.startPrank(taker);
        usd.approve(address(escrow), IN);
        vm.expectRevert(wrongOracle(address(escrow)));
        escrow.open(order);
        vm.stopPrank();
    }

    /// @dev The other way round: what was signed to be opened and proven elsewhere is not settled.
    function test_14_nobody_settles_what_another_oracle_proves() public {
        StandardOrder memory order = toOpen(simple());
        bytes memory funding = by3009(order);
        Commitment[] memory list = commitments(order);
        vm.expectRevert(wrongOracle(address(oracle)));
        escrow.settle(order, funding, list);
        vm.expectRevert(wrongOracle(address(oracle)));
        escrow.settleThrough(order, funding, lp(0), "");
        openOrder(order);
    }
}
