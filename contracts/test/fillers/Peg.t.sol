// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevPsm} from "../../src/devnet/DevPsm.sol";
import {DevToken} from "../../src/devnet/DevToken.sol";
import {OneForOneFiller} from "../../src/fillers/OneForOneFiller.sol";
import {PegFiller} from "../../src/fillers/PegFiller.sol";
import {IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {IPsm} from "../../src/interfaces/IIssuers.sol";
import {FillerBase} from "./FillerBase.sol";

contract PegFillerTest is FillerBase {
    uint256 internal constant WAD = 1e18;

    PegFiller internal filler;
    DevPsm internal psm;
    DevToken internal dai;

    function setUp() public override {
        super.setUp();
        dai = new DevToken("Dai", "DAI", 18);
        psm = new DevPsm(address(usd), address(dai));
        filler = new PegFiller(escrow, IPsm(address(psm)));
        usd.mint(address(psm), 100_000e6);
        dai.mint(address(psm), 100_000e18);
        dai.mint(taker, 1_000_000e18);
        allow(address(dai));
        watched = [address(usd), address(dai)];
    }

    function sale(uint256 floor) internal returns (StandardOrder memory) {
        return orderFor(filler, address(usd), IN, address(dai), floor);
    }

    function purchase(uint256 amount, uint256 floor) internal returns (StandardOrder memory) {
        return orderFor(filler, address(dai), amount, address(usd), floor);
    }

    function test_sells_and_buys_at_par() public {
        StandardOrder memory order = sale(IN * 1e12);
        through(filler, order, "");
        eq(dai.balanceOf(recipient), IN * 1e12, "par");
        eq(status(idOf(order)), uint256(OrderStatus.Claimed), "claimed");
        holdsNothing(filler);
        through(filler, purchase(IN * 1e12, IN), "");
        eq(usd.balanceOf(recipient), IN, "par");
        holdsNothing(filler);
        eq(dai.allowance(address(filler), address(psm)), 0, "allows the module nothing");
        eq(usd.allowance(address(filler), address(psm)), 0, "allows the module nothing");
    }

    function test_the_fee_of_each_direction() public {
        psm.setFees(0.001e18, 0.002e18);
        uint256 gives = IN * 1e12 * 999 / 1000;
        refuse(filler, sale(gives + 1), "", belowFloor(address(dai), gives + 1, gives));
        StandardOrder memory order = sale(gives - 7);
        bytes32 orderId = idOf(order);
        vm.expectEmit(true, true, true, true, address(filler));
        emit OneForOneFiller.Surplus(orderId, recipient, address(dai), 7);
        through(filler, order, "");
        eq(dai.balanceOf(recipient), gives, "less tin");
        // 1,002 dai buy 1,000 usd.
        refuse(filler, purchase(1_002e18, 1_000e6 + 1), "", belowFloor(address(usd), 1_000e6 + 1, 1_000e6));
        through(filler, purchase(1_002e18, 1_000e6), "");
        eq(usd.balanceOf(recipient), 1_000e6, "tout on top");
        holdsNothing(filler);
    }

    /// @dev One unit of gem more would cost more than there was.
    function testFuzz_buys_the_most_and_returns_the_rest(uint256 amount, uint256 tout) public {
        amount = bound(amount, 2e12, 90_000e18);
        tout = bound(tout, 0, WAD);
        psm.setFees(0, tout);
        uint256 held = dai.balanceOf(taker);
        through(filler, purchase(amount, 1), "");
        uint256 bought = usd.balanceOf(recipient);
        uint256 paid = held - dai.balanceOf(taker);
        eq(paid, priceOf(bought, tout), "paid what the module asks for");
        ok(paid <= amount && priceOf(bought + 1, tout) > amount, "and not one unit less");
        eq(usd.allowance(address(filler), address(psm)), 0, "allows the module nothing");
        eq(dai.allowance(address(filler), address(psm)), 0, "allows the module nothing");
        holdsNothing(filler);
    }

    function priceOf(uint256 gems, uint256 tout) private pure returns (uint256) {
        uint256 par = gems * 1e12;
        return par + par * tout / WAD;
    }

    function testFuzz_sells(uint256 amount, uint256 tin) public {
        amount = bound(amount, 1, 100_000e6);
        tin = bound(tin, 0, WAD - 1e10);
        psm.setFees(tin, 0);
        uint256 par = amount * 1e12;
        StandardOrder memory order = orderFor(filler, address(usd), amount, address(dai), par - par * tin / WAD);
        through(filler, order, "");
        eq(dai.balanceOf(recipient), order.outputs[0].amount, "to the unit");
        holdsNothing(filler);
    }

    /* LIMITS */

    function test_an_empty_module_reverts_the_whole() public {
        StandardOrder memory order = purchase(200_000e18, 1);
        refuse(
            filler,
            order,
            "",
            abi.encodeWithSignature(
                "ERC20InsufficientBalance(address,uint256,uint256)", address(psm), 100_000e6, 200_000e6
            )
        );
        usd.mint(address(psm), 100_000e6);
        through(filler, order, "");
        holdsNothing(filler);
    }

    function test_a_halted_module_reverts_the_whole() public {
        psm.setFees(type(uint256).max, type(uint256).max);
        StandardOrder memory order = sale(1);
        refuse(filler, order, "", err(DevPsm.Halted.selector));
        StandardOrder memory back = purchase(IN * 1e12, 1);
        refuse(filler, back, "", abi.encodeWithSignature("Panic(uint256)", 0x11));
        psm.setFees(0, 0);
        through(filler, order, "");
        through(filler, back, "");
    }

    /* ATTACKS */

    function test_only_the_escrow_calls() public {
        StandardOrder memory order = sale(1);
        uint256[] memory amounts = new uint256[](1);
        give(address(usd), address(filler), 1e6);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(OneForOneFiller.OnlyEscrow.selector, stranger));
        filler.fillThrough(bytes32(0), abi.encode(order), amounts, "");
    }

    function test_the_caller_chooses_nothing() public {
        bytes memory path = abi.encodePacked(stranger);
        refuse(filler, sale(1), path, abi.encodeWithSelector(OneForOneFiller.InvalidPath.selector, path));
    }

    function test_other_tokens() public {
        address[2][4] memory pairs = [
            [address(usd), address(weth)],
            [address(dai), address(weth)],
            [address(weth), address(usd)],
            [address(weth), address(dai)]
        ];
        allow(address(weth));
        for (uint256 i; i < pairs.length; ++i) {
            StandardOrder memory order = orderFor(filler, pairs[i][0], 1e6, pairs[i][1], 1);
            bytes memory reason = abi.encodeWithSelector(PegFiller.OtherTokens.selector, pairs[i][0], pairs[i][1]);
            refuse(filler, order, "", reason);
        }
    }

    function test_a_fee_that_rose_reverts_the_whole() public {
        StandardOrder memory order = sale(IN * 1e12);
        psm.setFees(1, 0);
        refuse(filler, order, "", belowFloor(address(dai), IN * 1e12, IN * 1e12 - IN / 1e6));
    }

    function test_gifts_go_to_the_next_recipient() public {
        give(address(usd), address(filler), 1e6);
        give(address(dai), address(filler), 5);
        through(filler, sale(IN * 1e12), "");
        eq(dai.balanceOf(recipient), (IN + 1e6) * 1e12 + 5, "the gifts too");
        holdsNothing(filler);
    }

    function test_needs_contracts() public {
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NoCode.selector, stranger));
        new PegFiller(IEscrow(stranger), IPsm(address(psm)));
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NoCode.selector, stranger));
        new PegFiller(escrow, IPsm(stranger));
    }
}
