// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Approval, IEscrow, SolveParams, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Attack} from "../attacks/Attack.sol";
import {Filler} from "../mocks/Filler.sol";

/// @notice S1 to S14, each once on its own. Invariants.t.sol holds them over random histories.
contract PropertiesTest is Attack {
    function test_S1_openInputsStayCovered() public {
        uint256 had = usd.balanceOf(address(escrow));
        openOrder(toOpen(simple()));
        openOrder(cross());
        eq(usd.balanceOf(address(escrow)), had + 2 * IN, "both inputs are held");
        vm.startPrank(lp(0));
        uint256 all = ledger(lp(0), address(usd));
        escrow.requestWithdrawal(address(usd), all);
        vm.warp(block.timestamp + DELAY);
        escrow.withdraw(address(usd), lp(0));
        vm.stopPrank();
        eq(usd.balanceOf(address(escrow)), had + 2 * IN - all, "a withdrawal takes nothing of them");
    }

    function test_S2_noWayBack() public {
        StandardOrder memory claimed = simple();
        settle(claimed);
        StandardOrder memory refunded = toOpen(simple());
        openOrder(refunded);
        vm.warp(refunded.expires + 1);
        escrow.refund(refunded);
        StandardOrder memory never = simple();
        vm.warp(never.expires + 1);
        bytes4 why = IEscrow.InvalidOrderStatus.selector;
        StandardOrder[3] memory list = [claimed, refunded, never];
        for (uint256 i; i < 3; ++i) {
            refused(taker, address(escrow), abi.encodeCall(escrow.refund, (list[i])), why, "refund");
            bytes memory data =
                abi.encodeCall(escrow.finalise, (list[i], solves(lp(0), list[i].fillDeadline), 0, ""));
            refused(taker, address(escrow), data, why, "finalise");
            bytes[] memory releases = new bytes[](1);
            releases[0] = releaseSignature(idOf(list[i]), OPERATOR);
            refused(taker, address(escrow), abi.encodeCall(escrow.release, (list[i], releases)), why, "release");
        }
        eq(status(idOf(claimed)), 2, "claimed");
        eq(status(idOf(refunded)), 3, "refunded");
        eq(status(idOf(never)), 0, "never begun");
    }

    function test_S3_S4_inputsGoToTheLpsAndFees() public {
        uint256 lpHad = ledger(lp(0), address(usd));
        uint256 feeHad = feesAt(escrow, address(usd));
        settle(simple());
        uint256 fee = feeOf(IN, RELAY);
        eq(ledger(lp(0), address(usd)), lpHad + IN - fee, "LP");
        eq(feesAt(escrow, address(usd)), feeHad + fee, "fees");
    }

    function test_S4_aRefundGoesToTheUserAlone() public {
        StandardOrder memory order = toOpen(plain());
        usd.mint(stranger, IN);
        bytes memory funding = byOrder3009(order, STRANGER);
        escrow.openFor(order, stranger, funding);
        uint256 had = usd.balanceOf(taker);
        vm.warp(order.expires + 1);
        vm.prank(stranger);
        escrow.refund(order);
        eq(usd.balanceOf(taker), had + IN, "not to the sponsor, not to the caller");
        eq(usd.balanceOf(stranger), 0, "nothing");
    }

    function test_S5_oneDeliveryPerOutput() public {
        StandardOrder memory order = toOpen(simple());
        bytes32 orderId = openOrder(order);
        vm.prank(lp(0));
        bytes32 first = escrow.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0)));
        bytes32 before = holdings();
        vm.prank(lp(0));
        bytes32 second = escrow.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0)));
        eq(first, second, "the same record");
        eq(holdings(), before, "nothing moved the second time");
        Approval[] memory list = new Approval[](1);
        list[0] = approvalFor(escrow, orderId, order.outputs[0], order.fillDeadline, OPERATOR);
        refused(
            stranger,
            address(escrow),
            abi.encodeCall(escrow.fillWithApprovals, (orderId, order.outputs, order.fillDeadline, list)),
            IEscrow.AlreadyFilled.selector,
            "nor by approval"
        );
    }

    function test_S6_claimsNeedEveryOutput() public {
        StandardOrder memory order = toOpen(split(IN, OUT));
        bytes32 orderId = openOrder(order);
        SolveParams[] memory params = new SolveParams[](3);
        for (uint256 i; i < 3; ++i) {
            params[i] = SolveParams(uint32(block.timestamp), word(lp(i)));
            refused(
                stranger,
                address(escrow),
                abi.encodeCall(escrow.finalise, (order, params, 0, "")),
                IEscrow.NotFilled.selector,
                "not yet"
            );
            vm.prank(lp(i));
            escrow.fill(orderId, order.outputs[i], order.fillDeadline, fillerData(lp(i)));
        }
        escrow.finalise(order, params, 0, "");
        eq(status(orderId), 2, "claimed");
        eq(weth.balanceOf(recipient), 1 + order.outputs[0].amount + order.outputs[1].amount + order.outputs[2].amount, "all");
    }

    function test_S7_refundByAnyone(uint256 who, uint256 later) public {
        StandardOrder memory order = cross();
        openOrder(order);
        vm.warp(uint256(order.expires) + bound(later, 1, 1000 days));
        vm.prank(vm.addr(bound(who, 1, type(uint64).max)));
        escrow.refund(order);
        eq(status(idOf(order)), 3, "refunded");
    }

    /// @dev The taker has approved the escrow for everything, and still only its own word moves its money.
    function test_S8_approvalsAloneMoveNothing() public {
        approveAll(taker, address(usd));
        grant(address(usd), type(uint160).max);
        depositTaker(address(usd), IN);
        approveAll(taker, address(usd));
        StandardOrder memory order = simple();
        bytes memory signature = sign(STRANGER, orderDigest(order));
        refusedSettle(order, "", IEscrow.NotTheUser.selector, "self");
        refusedSettle(order, hex"ff", IEscrow.NotTheUser.selector, "self, spelt out");
        for (uint8 mode = 0x10; mode < 0x14; ++mode) {
            bytes memory funding =
                abi.encodePacked(mode, abi.encode(signature, 0, block.timestamp + 1, bytes32(0), signature));
            refusedSettle(order, funding, IEscrow.InvalidSignature.selector, "a stranger's signature");
        }
        vm.prank(stranger);
        (bool success,) = address(escrow).call(abi.encodeCall(escrow.depositFor, (taker, address(usd), 1)));
        ok(!success, "deposits are the caller's");
    }

    function test_S9_oneSignatureOneOrder() public {
        grant(address(usd), type(uint160).max);
        StandardOrder memory order = toOpen(simple());
        bytes memory funding = byGrant(order);
        escrow.openFor(order, taker, funding);
        refusedOpen(order, taker, funding, IEscrow.InvalidOrderStatus.selector, "twice");
        ++order.outputs[0].amount;
        refusedOpen(order, taker, funding, IEscrow.NonceUsed.selector, "another under the nonce");
        order.nonce += 1;
        refusedOpen(order, taker, funding, IEscrow.InvalidSignature.selector, "another order");
    }

    function test_S10_allSlicesOrNone() public {
        StandardOrder memory order = split(IN, OUT);
        vm.prank(lp(2));
        escrow.setOperator(operator(2), false);
        refusedSettle(order, by3009(order), IEscrow.InvalidSignature.selector, "one signature missing, nothing moved");
        eq(status(idOf(order)), 0, "not begun");
        vm.prank(lp(2));
        escrow.setOperator(operator(2), true);
        settle(order);
        eq(status(idOf(order)), 2, "all of it");
    }

    function test_S11_anLpPaysWhatItSignedOnce() public {
        uint256 had = ledger(lp(0), address(weth));
        StandardOrder memory order = simple();
        settle(order);
        eq(ledger(lp(0), address(weth)), had - OUT, "what it signed");
        refusedSettle(order, by3009(order), IEscrow.InvalidOrderStatus.selector, "once");
        order = toOpen(simple());
        openOrder(order);
        bytes memory data =
            abi.encodeCall(escrow.fill, (idOf(order), order.outputs[0], order.fillDeadline, fillerData(lp(0))));
        // Somebody else may fill in the LP's name, from its own pocket.
        vm.prank(stranger);
        (bool success,) = address(escrow).call(data);
        ok(!success, "the stranger has nothing to pay with");
        eq(ledger(lp(0), address(weth)), had - OUT, "and the LP does not pay for it");
    }

    /// @dev Tokens that the escrow pays itself would be nobody's.
    function test_S11_nothingIsPaidToTheEscrow() public {
        vm.prank(lp(0));
        escrow.requestWithdrawal(address(usd), 1);
        vm.warp(block.timestamp + DELAY);
        bytes4 why = IEscrow.InvalidRecipient.selector;
        address[2] memory nowhere = [address(escrow), address(0)];
        for (uint256 i; i < 2; ++i) {
            bytes memory data = abi.encodeCall(escrow.withdraw, (address(usd), nowhere[i]));
            refused(lp(0), address(escrow), data, why, "withdrawal");
        }
        StandardOrder memory order = simple();
        order.outputs[0].recipient = word(address(escrow));
        refusedSettle(order, by3009(order), why, "output");
        order = simple();
        order.user = address(escrow);
        refusedSettle(order, "", why, "refund");
    }

    function test_S12_noAllowanceNoNative() public {
        Filler filler = new Filler(escrow);
        weth.mint(address(filler), OUT);
        StandardOrder memory order = through(address(filler));
        escrow.settleThrough(order, by3009(order), address(filler), abi.encode(0));
        settle(simple());
        address[5] memory others = [taker, lp(0), address(filler), address(permit2), address(oracle)];
        for (uint256 i; i < others.length; ++i) {
            eq(usd.allowance(address(escrow), others[i]), 0, "usd");
            eq(weth.allowance(address(escrow), others[i]), 0, "weth");
        }
        eq(address(escrow).balance, 0, "native");
    }

    /// @dev The only owner anywhere is the oracle's. It can announce signers, and until they count, orders can end without them.
    function test_S13_theOwnerMovesNothing() public {
        StandardOrder memory order = cross();
        openOrder(order);
        bytes32 before = holdings();
        address[] memory list = new address[](1);
        list[0] = stranger;
        oracle.scheduleSigners(list, 1);
        eq(holdings(), before, "nothing moved");
        vm.assertGe(block.timestamp + ROTATION, uint256(order.expires) + 1, "the delay outlasts the order");
        uint256 had = usd.balanceOf(taker);
        vm.warp(order.expires + 1);
        escrow.refund(order);
        eq(usd.balanceOf(taker), had + IN, "refunded before the new signers count");
    }

    function test_S14_aProofIsForOneFill() public {
        (StandardOrder memory order, bytes32 orderId, bytes32 payload) = openedAndFilled();
        attest(payload);
        bytes32 there = word(address(remote));
        ok(oracle.isProven(THERE, 0, there, payload), "proven");
        ok(!oracle.isProven(HERE, 0, there, payload), "not on another chain");
        ok(!oracle.isProven(THERE, 0, word(address(escrow)), payload), "not of another settler");
        bytes32 other =
            hashes.payloadHash(word(lp(0)), keccak256("other"), uint32(block.timestamp), order.outputs[0]);
        ok(!oracle.isProven(THERE, 0, there, other), "not of another order");
        order.outputs[0].amount += 1;
        other = hashes.payloadHash(word(lp(0)), orderId, uint32(block.timestamp), order.outputs[0]);
        ok(!oracle.isProven(THERE, 0, there, other), "not of another amount");
    }
}
