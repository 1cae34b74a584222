// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {IPool} from "../../src/devnet/DevPoolTrader.sol";
import {ConcentratedFiller} from "../../src/fillers/ConcentratedFiller.sol";
import {ConstantProductFiller} from "../../src/fillers/ConstantProductFiller.sol";
import {DexFiller} from "../../src/fillers/DexFiller.sol";
import {StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {DexBase, IV2PairMint} from "./DexBase.sol";

/// @notice Whatever is traded, moved and thrown at them in whatever order: fillers hold nothing after any fill, the taker pays the
/// input once per delivery, and the recipient has at least the sum of the floors.
contract FillersHoldNothingTest is DexBase {
    ConstantProductFiller internal pairs;
    ConcentratedFiller internal pools;
    uint256 internal paid;
    uint256 internal gifts;
    uint256 internal filled;
    uint256 internal reverted;

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function setUp() public override {
        super.setUp();
        pairs = new ConstantProductFiller(escrow, address(v2));
        pools = new ConcentratedFiller(escrow, address(v3));
    }

    function targetContracts() external view returns (address[] memory list) {
        list = new address[](1);
        list[0] = address(this);
    }

    function targetSelectors() external view returns (FuzzSelector[] memory list) {
        list = new FuzzSelector[](1);
        bytes4[] memory selectors = new bytes4[](5);
        selectors[0] = this.fill.selector;
        selectors[1] = this.movePair.selector;
        selectors[2] = this.movePool.selector;
        selectors[3] = this.gift.selector;
        selectors[4] = this.giftToTheLedger.selector;
        list[0] = FuzzSelector(address(this), selectors);
    }

    /// @dev Some ask for more than there is, so that reverts are among them.
    function fill(uint256 amount, uint256 floor, bool concentrated, bool twoHops) external {
        DexFiller filler = concentrated ? DexFiller(pools) : DexFiller(pairs);
        address out = twoHops ? address(dai) : address(weth);
        StandardOrder memory order = dexOrder(filler, out, 1);
        order.inputs[0][1] = bound(amount, 1, 20_000e6);
        // About what it is worth, give or take three times.
        uint256 worth = order.inputs[0][1] * (twoHops ? 1e12 : 4e8);
        order.outputs[0].amount = bound(floor, 1, worth * 3 / 2 + 1);
        bytes memory path;
        if (concentrated) path = abi.encodePacked(address(usd), POOL_FEE, address(weth));
        else path = abi.encodePacked(address(usd), address(weth));
        if (twoHops) path = concentrated ? abi.encodePacked(path, POOL_FEE, out) : abi.encodePacked(path, out);
        bytes memory funding = by3009(order);
        uint256 before = DevToken(out).balanceOf(recipient);
        try escrow.settleThrough(order, funding, address(filler), path) {
            paid += order.inputs[0][1];
            ok(DevToken(out).balanceOf(recipient) - before >= order.outputs[0].amount, "the floor");
            eq(usd.balanceOf(address(filler)), 0, "no input");
            eq(DevToken(out).balanceOf(address(filler)), 0, "no output");
            if (twoHops) ok(weth.balanceOf(address(filler)) <= gifts, "nothing in between");
            ++filled;
        } catch {
            eq(DevToken(out).balanceOf(recipient), before, "nothing or all");
            ++reverted;
        }
    }

    function movePair(uint256 amount, bool up) external {
        address made = v2.getPair(address(usd), address(weth));
        if (up) give(address(usd), made, bound(amount, 1, 10_000e6));
        else give(address(weth), made, bound(amount, 1, 4e18));
        IV2PairMint(made).sync();
    }

    function movePool(uint256 amount, bool zeroForOne) external {
        address made = v3.getPool(address(usd), address(weth), POOL_FEE);
        bool usdIn = (address(usd) < address(weth)) == zeroForOne;
        uint256 size = bound(amount, 1, usdIn ? 10_000e6 : 4e18);
        give(usdIn ? address(usd) : address(weth), address(trader), size);
        trader.swap(
            IPool(made),
            zeroForOne,
            int256(size),
            zeroForOne ? 4295128740 : 1461446703485210103287273052203988822378723970341
        );
    }

    function test_the_handler_sees_both_ends() external {
        for (uint256 i; i < 4; ++i) {
            (uint256 amount, uint256 rate) = (1_000e6, i > 1 ? 1e12 : 4e8);
            this.fill(amount, 1, i % 2 == 0, i > 1);
            this.fill(amount, amount * rate * 3 / 2, i % 2 == 0, i > 1);
        }
        eq(filled, 4, "filled");
        eq(reverted, 4, "reverted");
    }

    /// @dev To the wrong address, as people do.
    function gift(uint256 amount, bool concentrated) external {
        uint256 size = bound(amount, 1, 1e15);
        gifts += size;
        give(address(weth), concentrated ? address(pools) : address(pairs), size);
    }

    /// @dev Into the filler's own ledger balance, from which its next fill is paid.
    function giftToTheLedger(uint256 amount, bool concentrated, bool dollars) external {
        address token = dollars ? address(dai) : address(weth);
        give(token, address(this), amount = bound(amount, 1, 1e18));
        DevToken(token).approve(address(escrow), amount);
        escrow.depositFor(concentrated ? address(pools) : address(pairs), token, amount);
    }

    // solhint-disable-next-line func-name-mixedcase
    function invariant_nobody_can_take_from_fillers() external view {
        DevToken[3] memory tokens = [DevToken(address(usd)), dai, weth];
        for (uint256 i; i < 3; ++i) {
            eq(tokens[i].allowance(address(pairs), address(escrow)), 0, "of the pairs' filler");
            eq(tokens[i].allowance(address(pools), address(escrow)), 0, "of the pools' filler");
        }
    }

    // solhint-disable-next-line func-name-mixedcase
    function invariant_fillers_hold_nothing_and_takers_pay_once() external view {
        eq(usd.balanceOf(address(pairs)) + usd.balanceOf(address(pools)), 0, "USD");
        eq(dai.balanceOf(address(pairs)) + dai.balanceOf(address(pools)), 0, "DAI");
        // Of a gift nobody has traded yet there may be some; of swaps there is nothing.
        ok(weth.balanceOf(address(pairs)) + weth.balanceOf(address(pools)) <= gifts, "WETH");
        eq(usd.balanceOf(taker), 1_000_000e6 - paid, "each fill is paid once, a revert not at all");
    }
}
