// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ConstantProductFiller} from "../../src/fillers/ConstantProductFiller.sol";
import {DexFiller} from "../../src/fillers/DexFiller.sol";
import {OneForOneFiller} from "../../src/fillers/OneForOneFiller.sol";
import {IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Reenterer} from "../mocks/Reenterer.sol";
import {DexBase, IV2PairMint} from "./DexBase.sol";

contract ConstantProductFillerTest is DexBase {
    ConstantProductFiller internal filler;

    function setUp() public override {
        super.setUp();
        filler = new ConstantProductFiller(escrow, address(v2));
    }

    /// @dev Apart from the contract: the invariant x*y solved for what may leave.
    function expected(address tokenIn, address tokenOut, uint256 amountIn) internal view returns (uint256) {
        IV2PairMint place = IV2PairMint(v2.getPair(tokenIn, tokenOut));
        (uint256 r0, uint256 r1,) = place.getReserves();
        if (place.token0() != tokenIn) (r0, r1) = (r1, r0);
        uint256 k = r0 * r1 * 1_000;
        uint256 held = r0 * 1_000 + amountIn * 997;
        return r1 - (k + held - 1) / held;
    }

    function direct() internal view returns (bytes memory) {
        return abi.encodePacked(address(usd), address(weth));
    }

    function test_fills_and_gives_the_rest_to_the_recipient() public {
        uint256 gives = expected(address(usd), address(weth), IN);
        StandardOrder memory order = dexOrder(filler, address(weth), gives - 7);
        bytes32 orderId = idOf(order);
        vm.expectEmit(true, true, true, true, address(filler));
        emit OneForOneFiller.Surplus(orderId, recipient, address(weth), 7);
        through(filler, order, direct());
        eq(weth.balanceOf(recipient), 1 + gives, "all of it");
        eq(status(orderId), uint256(OrderStatus.Claimed), "claimed");
        holdsNothing(filler);
    }

    function test_to_the_unit() public {
        uint256 gives = expected(address(usd), address(weth), IN);
        refuse(filler, dexOrder(filler, address(weth), gives + 1), direct(), belowFloor(address(weth), gives + 1, gives));
        through(filler, dexOrder(filler, address(weth), gives), direct());
        eq(weth.balanceOf(recipient), 1 + gives, "exactly");
        holdsNothing(filler);
    }

    function test_fees_stay_with_the_escrow() public {
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        order.outputs[0].context = quoteContext(address(filler), order.fillDeadline, 10_000, FEE, RELAY);
        uint256 fees = feeOf(IN, RELAY);
        uint256 gives = expected(address(usd), address(weth), IN - fees);
        through(filler, order, direct());
        eq(weth.balanceOf(recipient), 1 + gives, "for what was handed over");
        eq(feesAt(escrow, address(usd)), fees, "fees");
        holdsNothing(filler);
    }

    function test_a_ledger_delivery_and_its_surplus() public {
        uint256 gives = expected(address(usd), address(weth), IN);
        StandardOrder memory order = dexOrder(filler, address(weth), gives - 7);
        order.outputs[0].recipient = word(address(escrow));
        order.outputs[0].callbackData = abi.encodePacked(hex"0100", recipient);
        uint256 held = weth.balanceOf(address(escrow));
        through(filler, order, direct());
        eq(escrow.balanceOf(recipient, address(weth)), gives - 7, "the order's amount in the ledger");
        eq(weth.balanceOf(address(escrow)) - held, gives - 7, "and in the escrow");
        eq(weth.balanceOf(recipient), 1 + 7, "the surplus in the account's wallet");
        holdsNothing(filler);
    }

    function test_through_several_pairs() public {
        uint256 middle = expected(address(usd), address(weth), IN);
        uint256 gives = expected(address(weth), address(dai), middle);
        bytes memory path = abi.encodePacked(address(usd), address(weth), address(dai));
        through(filler, dexOrder(filler, address(dai), gives), path);
        eq(dai.balanceOf(recipient), gives, "exactly");
        holdsNothing(filler);
    }

    function testFuzz_amounts(uint256 amount, uint256 reserveUsd, uint256 reserveWeth, uint256 slack) public {
        address place = v2.getPair(address(usd), address(weth));
        give(address(usd), place, bound(reserveUsd, 0, 1e20));
        give(address(weth), place, bound(reserveWeth, 0, 1e28));
        IV2PairMint(place).sync();
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        order.inputs[0][1] = bound(amount, 1e3, 1_000_000e6);
        uint256 gives = expected(address(usd), address(weth), order.inputs[0][1]);
        if (gives == 0) return;
        order.outputs[0].amount = bound(slack, 1, gives);
        through(filler, order, direct());
        eq(weth.balanceOf(recipient), 1 + gives, "to the unit");
        holdsNothing(filler);
    }

    /* ATTACKS */

    function test_only_the_escrow_calls() public {
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        uint256[] memory amounts = new uint256[](1);
        give(address(usd), address(filler), 1e6);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(OneForOneFiller.OnlyEscrow.selector, stranger));
        filler.fillThrough(bytes32(0), abi.encode(order), amounts, direct());
        // Another escrow is a stranger too.
        order.inputOracle = address(remote);
        order.outputs[0].settler = order.outputs[0].oracle = word(address(remote));
        vm.prank(taker);
        usd.approve(address(remote), IN);
        vm.prank(taker);
        vm.expectRevert(abi.encodeWithSelector(OneForOneFiller.OnlyEscrow.selector, address(remote)));
        remote.settleThrough(order, hex"ff", address(filler), direct());
    }

    function test_a_pair_that_moved_reverts_the_whole() public {
        uint256 gives = expected(address(usd), address(weth), IN);
        StandardOrder memory order = dexOrder(filler, address(weth), gives);
        // A sandwich's first half: somebody else buys before.
        address place = v2.getPair(address(usd), address(weth));
        give(address(usd), place, 1e6);
        IV2PairMint(place).sync();
        uint256 less = expected(address(usd), address(weth), IN);
        ok(less < gives, "worse now");
        refuse(filler, order, direct(), belowFloor(address(weth), gives, less));
        // When the pair is back, so is the order's chance.
        give(address(weth), place, 1e18);
        IV2PairMint(place).sync();
        through(filler, order, direct());
        holdsNothing(filler);
    }

    function test_pools_of_nobody() public {
        StandardOrder memory order = dexOrder(filler, address(dai), 1);
        bytes memory path = abi.encodePacked(address(usd), address(dai));
        refuse(filler, order, path, abi.encodeWithSelector(DexFiller.NoPool.selector, address(usd), address(dai)));
        path = abi.encodePacked(address(usd), stranger, address(dai));
        refuse(filler, order, path, abi.encodeWithSelector(DexFiller.NoPool.selector, address(usd), stranger));
    }

    function test_paths_that_are_none() public {
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        bytes[6] memory paths = [
            bytes(""),
            abi.encodePacked(address(usd)),
            abi.encodePacked(address(usd), address(weth), uint8(0)),
            abi.encodePacked(address(weth), address(usd)),
            abi.encodePacked(address(usd), address(weth), address(dai)),
            abi.encodePacked(address(dai), address(weth))
        ];
        for (uint256 i; i < paths.length; ++i) {
            refuse(filler, order, paths[i], abi.encodeWithSelector(OneForOneFiller.InvalidPath.selector, paths[i]));
        }
    }

    /// @dev A pair of the factory with a token of the attacker's own: the taker still gets the order's amount or keeps the input.
    function test_a_detour_over_an_attackers_token_cannot_take_the_floor() public {
        AwkwardToken evil = new AwkwardToken(18);
        pair(address(usd), 1e6, address(evil), 1e18);
        pair(address(evil), 1e18, address(weth), 1e15);
        uint256 gives = expected(address(usd), address(weth), IN);
        bytes memory path = abi.encodePacked(address(usd), address(evil), address(weth));
        StandardOrder memory order = dexOrder(filler, address(weth), gives);
        uint256 middle = expected(address(usd), address(evil), IN);
        refuse(filler, order, path, belowFloor(address(weth), gives, expected(address(evil), address(weth), middle)));
    }

    function test_tokens_that_take_a_fee_on_their_way() public {
        AwkwardToken taxed = new AwkwardToken(18);
        pair(address(usd), 1_000_000e6, address(taxed), 1_000_000e18);
        pair(address(taxed), 1_000_000e18, address(weth), 1000e18);
        taxed.setFee(100);
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        refuse(
            filler,
            order,
            abi.encodePacked(address(usd), address(taxed), address(weth)),
            abi.encodeWithSignature("Error(string)", "UniswapV2: K")
        );
        // As the output it arrives short here already, and again at the recipient: the escrow measures.
        uint256 gives = expected(address(usd), address(taxed), IN);
        order = dexOrder(filler, address(taxed), gives);
        refuse(
            filler,
            order,
            abi.encodePacked(address(usd), address(taxed)),
            belowFloor(address(taxed), gives, gives - gives / 100)
        );
        order = dexOrder(filler, address(taxed), gives / 2);
        refuse(
            filler,
            order,
            abi.encodePacked(address(usd), address(taxed)),
            abi.encodeWithSelector(
                IEscrow.ShortTransfer.selector, address(taxed), gives / 2, gives / 2 - gives / 2 / 100
            )
        );
    }

    function test_reentrance_from_a_token_on_the_path() public {
        Reenterer reenterer = new Reenterer();
        AwkwardToken hooked = new AwkwardToken(18);
        address first = pair(address(usd), 1_000_000e6, address(hooked), 1_000_000e18);
        pair(address(hooked), 1_000_000e18, address(weth), 1000e18);
        hooked.setHook(first, address(reenterer));
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        StandardOrder memory other = dexOrder(filler, address(weth), 1);
        uint256[] memory amounts = new uint256[](1);
        bytes[4] memory calls = [
            abi.encodeCall(filler.fillThrough, (idOf(order), abi.encode(order), amounts, direct())),
            abi.encodeCall(escrow.settleThrough, (other, by3009(other), address(filler), direct())),
            abi.encodeCall(escrow.fill, (idOf(order), order.outputs[0], order.fillDeadline, fillerData(address(filler)))),
            abi.encodeCall(escrow.depositFor, (stranger, address(usd), 1))
        ];
        bytes memory path = abi.encodePacked(address(usd), address(hooked), address(weth));
        for (uint256 i; i < calls.length; ++i) {
            address to = i == 0 ? address(filler) : address(escrow);
            reenterer.set(to, calls[i]);
            bytes memory reason = i == 0
                ? abi.encodeWithSelector(OneForOneFiller.OnlyEscrow.selector, address(reenterer))
                : err(IEscrow.Reentered.selector);
            reenterer.expect(reason);
            through(filler, order, path);
            ok(reenterer.refused(), "refused as it should be");
            holdsNothing(filler);
            order = dexOrder(filler, address(weth), 1);
        }
    }

    function test_gifts_go_to_the_next_recipient() public {
        give(address(weth), address(filler), 5);
        give(address(usd), address(filler), 1e6);
        uint256 gives = expected(address(usd), address(weth), IN + 1e6);
        through(filler, dexOrder(filler, address(weth), gives), direct());
        eq(weth.balanceOf(recipient), 1 + gives + 5, "the gifts too");
        holdsNothing(filler);
        // And one in the escrow's ledger, which the escrow then pays out instead.
        fundLp(address(filler), address(weth), 1e18);
        gives = expected(address(usd), address(weth), IN);
        uint256 before = weth.balanceOf(recipient);
        through(filler, dexOrder(filler, address(weth), gives / 2), direct());
        eq(weth.balanceOf(recipient) - before, gives / 2 + gives, "what the ledger paid, and all of the swap");
        eq(weth.balanceOf(address(filler)), 0, "holds nothing");
    }

    function test_one_input_and_one_output() public {
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        StandardOrder memory two = blank(IN, 2);
        for (uint256 i; i < 2; ++i) {
            two.outputs[i] = output(escrow, HERE, 1 + i, quoteContext(address(filler), two.fillDeadline, 5000, 0, 0));
        }
        refuse(filler, two, direct(), err(OneForOneFiller.OneForOne.selector, 1, 2));
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        order.inputs[1] = [uint256(uint160(address(weth))), 1];
        depositTaker(address(usd), IN);
        depositTaker(address(weth), 1);
        bytes memory funding = byLedger(order);
        vm.expectRevert(err(OneForOneFiller.OneForOne.selector, 2, 1));
        escrow.settleThrough(order, funding, address(filler), direct());
    }

    function test_needs_contracts() public {
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NoCode.selector, stranger));
        new ConstantProductFiller(IEscrow(stranger), address(v2));
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NoCode.selector, stranger));
        new ConstantProductFiller(escrow, stranger);
    }
}
