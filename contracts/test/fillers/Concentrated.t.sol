// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IPool} from "../../src/devnet/DevPoolTrader.sol";
import {DevToken} from "../../src/devnet/DevToken.sol";
import {ConcentratedFiller} from "../../src/fillers/ConcentratedFiller.sol";
import {DexFiller} from "../../src/fillers/DexFiller.sol";
import {OneForOneFiller} from "../../src/fillers/OneForOneFiller.sol";
import {IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {IV3Pool} from "../../src/interfaces/IUniswap.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Reenterer} from "../mocks/Reenterer.sol";
import {DexBase, IV3PoolAdmin} from "./DexBase.sol";

interface IQuoterV2 {
    function quoteExactInput(bytes calldata path, uint256 amountIn)
        external
        returns (uint256 amountOut, uint160[] memory, uint32[] memory, uint256);
}

/// @notice Factory and pool in one, and it asks for its due in two halves.
contract GreedyPool {
    function getPool(address, address, uint24) external view returns (address) {
        return address(this);
    }

    function swap(address, bool zeroForOne, int256 amount, uint160, bytes calldata) external returns (int256, int256) {
        for (uint256 i; i < 2; ++i) {
            ConcentratedFiller(msg.sender).uniswapV3SwapCallback(zeroForOne ? amount / 2 : -1, zeroForOne ? -1 : amount / 2, "");
        }
        return (amount, amount);
    }
}

contract ConcentratedFillerTest is DexBase {
    ConcentratedFiller internal filler;
    IQuoterV2 internal quoter;

    function setUp() public override {
        super.setUp();
        filler = new ConcentratedFiller(escrow, address(v3));
        quoter = IQuoterV2(
            deployNpm(
                "@uniswap/v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json",
                abi.encode(address(v3), address(weth))
            )
        );
    }

    function expected(bytes memory path, uint256 amountIn) internal returns (uint256 gives) {
        (gives,,,) = quoter.quoteExactInput(path, amountIn);
    }

    function direct() internal view returns (bytes memory) {
        return abi.encodePacked(address(usd), POOL_FEE, address(weth));
    }

    function place() internal view returns (IV3PoolAdmin) {
        return IV3PoolAdmin(v3.getPool(address(usd), address(weth), POOL_FEE));
    }

    function test_fills_and_gives_the_rest_to_the_recipient() public {
        uint256 gives = expected(direct(), IN);
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
        uint256 gives = expected(direct(), IN);
        refuse(filler, dexOrder(filler, address(weth), gives + 1), direct(), belowFloor(address(weth), gives + 1, gives));
        through(filler, dexOrder(filler, address(weth), gives), direct());
        eq(weth.balanceOf(recipient), 1 + gives, "exactly");
        holdsNothing(filler);
    }

    function test_through_several_pools() public {
        bytes memory path = abi.encodePacked(direct(), POOL_FEE, address(dai));
        uint256 gives = expected(path, IN);
        through(filler, dexOrder(filler, address(dai), gives), path);
        eq(dai.balanceOf(recipient), gives, "exactly");
        holdsNothing(filler);
    }

    function testFuzz_amounts(uint256 amount, uint256 slack) public {
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        order.inputs[0][1] = bound(amount, 1e3, 1_000_000e6);
        uint256 gives = expected(direct(), order.inputs[0][1]);
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
    }

    function test_nobody_asks_for_a_pools_due() public {
        give(address(usd), address(filler), 1e6);
        address[2] memory callers = [stranger, address(place())];
        for (uint256 i; i < callers.length; ++i) {
            vm.prank(callers[i]);
            vm.expectRevert(abi.encodeWithSelector(ConcentratedFiller.OnlyPool.selector, callers[i]));
            filler.uniswapV3SwapCallback(1e6, -1, "");
        }
        eq(usd.balanceOf(address(filler)), 1e6, "untouched");
    }

    function test_a_pool_is_paid_once() public {
        GreedyPool greedy = new GreedyPool();
        filler = new ConcentratedFiller(escrow, address(greedy));
        bytes memory twice = abi.encodeWithSelector(ConcentratedFiller.OnlyPool.selector, address(greedy));
        refuse(filler, dexOrder(filler, address(weth), 1), direct(), twice);
    }

    function test_a_pool_that_moved_reverts_the_whole() public {
        uint256 gives = expected(direct(), IN);
        StandardOrder memory order = dexOrder(filler, address(weth), gives);
        give(address(usd), address(trader), 1e12);
        give(address(weth), address(trader), 1000e18);
        bool up = address(usd) < address(weth);
        uint256 bought = weth.balanceOf(address(trader));
        trader.swap(IPool(address(place())), up, 50_000e6, up ? 4295128740 : 1461446703485210103287273052203988822378723970341);
        bought = weth.balanceOf(address(trader)) - bought;
        uint256 less = expected(direct(), IN);
        ok(less < gives, "worse now");
        refuse(filler, order, direct(), belowFloor(address(weth), gives, less));
        // When somebody sells again, the order has its chance again.
        trader.swap(
            IPool(address(place())), !up, int256(2 * bought), up ? 1461446703485210103287273052203988822378723970341 : 4295128740
        );
        through(filler, order, direct());
        holdsNothing(filler);
    }

    function test_a_pool_that_runs_dry() public {
        // Another tier, whose liquidity ends near the price.
        address made = v3.createPool(address(usd), address(weth), 500);
        uint160 price = sqrtPriceOf(place());
        IV3PoolAdmin(made).initialize(price);
        int24 tick = tickOf(place()) / 10 * 10;
        give(address(usd), address(trader), 1e12);
        give(address(weth), address(trader), 1000e18);
        trader.mint(IPool(made), tick - 100, tick + 100, 1e12);
        bytes memory path = abi.encodePacked(address(usd), uint24(500), address(weth));
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        order.inputs[0][1] = 1_000_000e6;
        bytes memory funding = by3009(order);
        vm.expectPartialRevert(ConcentratedFiller.PartlySwapped.selector);
        escrow.settleThrough(order, funding, address(filler), path);
        holdsNothing(filler);
    }

    function test_pools_of_nobody() public {
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        bytes memory path = abi.encodePacked(address(usd), uint24(100), address(weth));
        refuse(filler, order, path, abi.encodeWithSelector(DexFiller.NoPool.selector, address(usd), address(weth)));
        path = abi.encodePacked(address(usd), POOL_FEE, stranger, POOL_FEE, address(weth));
        refuse(filler, order, path, abi.encodeWithSelector(DexFiller.NoPool.selector, address(usd), stranger));
    }

    function test_paths_that_are_none() public {
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        bytes[6] memory paths = [
            bytes(""),
            abi.encodePacked(address(usd)),
            abi.encodePacked(direct(), uint8(0)),
            abi.encodePacked(address(weth), POOL_FEE, address(usd)),
            abi.encodePacked(direct(), POOL_FEE, address(dai)),
            abi.encodePacked(address(dai), POOL_FEE, address(weth))
        ];
        for (uint256 i; i < paths.length; ++i) {
            refuse(filler, order, paths[i], abi.encodeWithSelector(OneForOneFiller.InvalidPath.selector, paths[i]));
        }
    }

    /// @dev A token on the path runs the attacker's code while a pool waits for its due.
    function test_reentrance_from_a_token_on_the_path() public {
        Reenterer reenterer = new Reenterer();
        AwkwardToken hooked = new AwkwardToken(18);
        pool(address(usd), 1_000_000e6, address(hooked), 1_000_000e18);
        address second = pool(address(hooked), 1_000_000e18, address(weth), 1000e18);
        hooked.setHook(address(filler), address(reenterer));
        bytes memory path = abi.encodePacked(address(usd), POOL_FEE, address(hooked), POOL_FEE, address(weth));
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        uint256[] memory amounts = new uint256[](1);
        address[4] memory to = [address(filler), address(filler), address(escrow), second];
        bytes[4] memory calls = [
            abi.encodeCall(filler.fillThrough, (idOf(order), abi.encode(order), amounts, direct())),
            abi.encodeCall(filler.uniswapV3SwapCallback, (1e18, 1e18, "")),
            abi.encodeCall(escrow.depositFor, (stranger, address(usd), 1)),
            abi.encodeCall(IV3Pool.swap, (address(filler), true, 1, 4295128740, ""))
        ];
        bytes[4] memory reasons = [
            abi.encodeWithSelector(OneForOneFiller.OnlyEscrow.selector, address(reenterer)),
            abi.encodeWithSelector(ConcentratedFiller.OnlyPool.selector, address(reenterer)),
            err(IEscrow.Reentered.selector),
            abi.encodeWithSignature("Error(string)", "LOK")
        ];
        for (uint256 i; i < calls.length; ++i) {
            reenterer.set(to[i], calls[i]);
            reenterer.expect(reasons[i]);
            order = dexOrder(filler, address(weth), 1);
            through(filler, order, path);
            ok(reenterer.refused(), "refused as it should be");
            holdsNothing(filler);
        }
    }

    function test_tokens_that_take_a_fee_on_their_way() public {
        AwkwardToken taxed = new AwkwardToken(18);
        pool(address(usd), 1_000_000e6, address(taxed), 1_000_000e18);
        pool(address(taxed), 1_000_000e18, address(weth), 1000e18);
        taxed.setFee(100);
        bytes memory funding;
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        funding = by3009(order);
        // The second pool is offered more than arrived here.
        vm.expectRevert();
        escrow.settleThrough(
            order,
            funding,
            address(filler),
            abi.encodePacked(address(usd), POOL_FEE, address(taxed), POOL_FEE, address(weth))
        );
        eq(usd.balanceOf(taker), 1_000_000e6, "the taker keeps the input");
        holdsNothing(filler);
    }

    function test_gifts_go_to_the_next_recipient() public {
        give(address(weth), address(filler), 5);
        give(address(usd), address(filler), 1e6);
        uint256 gives = expected(direct(), IN + 1e6);
        through(filler, dexOrder(filler, address(weth), gives), direct());
        eq(weth.balanceOf(recipient), 1 + gives + 5, "the gifts too");
        holdsNothing(filler);
    }

    function test_more_than_a_pool_can_count() public {
        DevToken huge = new DevToken("Huge", "HUGE", 18);
        pool(address(huge), 1e24, address(weth), 1e21);
        huge.mint(address(filler), 1 << 255);
        StandardOrder memory order = dexOrder(filler, address(weth), 1);
        order.inputs[0] = [uint256(uint160(address(huge))), 1e18];
        huge.mint(taker, 1e18);
        vm.startPrank(taker);
        huge.approve(address(escrow), 1e18);
        vm.expectRevert(abi.encodeWithSignature("SafeCastOverflowedUintToInt(uint256)", (1 << 255) + 1e18));
        escrow.settleThrough(
            order, hex"ff", address(filler), abi.encodePacked(address(huge), POOL_FEE, address(weth))
        );
        vm.stopPrank();
    }

    function sqrtPriceOf(IV3PoolAdmin pool_) private view returns (uint160 price) {
        (, bytes memory answer) = address(pool_).staticcall(abi.encodeWithSignature("slot0()"));
        (price,) = abi.decode(answer, (uint160, int24));
    }

    function tickOf(IV3PoolAdmin pool_) private view returns (int24 tick) {
        (, bytes memory answer) = address(pool_).staticcall(abi.encodeWithSignature("slot0()"));
        (, tick) = abi.decode(answer, (uint160, int24));
    }
}
