// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAttestationOracle} from "../../src/interfaces/IAttestationOracle.sol";
import {Approval, IEscrow, SolveParams, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Filler} from "../mocks/Filler.sol";
import {Puppet} from "../mocks/Puppet.sol";
import {Attack} from "./Attack.sol";

/// @notice Groups 9 to 13: reentrancy, the oracle, time, splits, native currency and upgrades.
contract MachineAttacksTest is Attack {
    /* 9. REENTRANCY */

    AwkwardToken private hooked;
    Puppet private puppet;
    uint256 private planned;

    /// @dev Every entry that moves balances, each with arguments that would get somewhere if there were no lock.
    function conspire() private {
        hooked = new AwkwardToken(18);
        puppet = new Puppet();
        hooked.mint(address(puppet), 1e24);
        hooked.mint(address(this), 1e24);
        hooked.approve(address(escrow), type(uint256).max);
        puppet.act(address(hooked), abi.encodeCall(hooked.approve, (address(escrow), type(uint256).max)));
        escrow.depositFor(address(puppet), address(hooked), 1000e18);
        escrow.depositFor(lp(0), address(hooked), 1000e18);
        StandardOrder memory o = toOpen(simple());
        openOrder(o);
        StandardOrder memory p = simple();
        Approval[] memory approvals = new Approval[](1);
        approvals[0] = approvalFor(escrow, idOf(o), o.outputs[0], o.fillDeadline, OPERATOR);
        bytes[] memory releases = new bytes[](1);
        releases[0] = releaseSignature(idOf(o), OPERATOR);
        bytes[15] memory calls = [
            abi.encodeCall(escrow.deposit, (address(hooked), 1)),
            abi.encodeCall(escrow.requestWithdrawal, (address(hooked), 1)),
            abi.encodeCall(escrow.withdraw, (address(hooked), address(puppet))),
            abi.encodeCall(escrow.settle, (p, by3009(p), commitments(p))),
            abi.encodeCall(escrow.settleThrough, (p, by3009(p), address(puppet), "")),
            abi.encodeCall(escrow.openFor, (p, taker, by3009(p))),
            abi.encodeCall(escrow.fill, (idOf(o), o.outputs[0], o.fillDeadline, fillerData(lp(0)))),
            abi.encodeCall(escrow.fillOrderOutputs, (idOf(o), o.outputs, o.fillDeadline, fillerData(lp(0)))),
            abi.encodeCall(escrow.fillWithApprovals, (idOf(o), o.outputs, o.fillDeadline, approvals)),
            abi.encodeCall(escrow.finalise, (o, solves(lp(0), block.timestamp), 0, "")),
            abi.encodeCall(escrow.release, (o, releases)),
            abi.encodeCall(escrow.finaliseWithSignature, (o, solves(lp(0), block.timestamp), 0, "", "")),
            abi.encodeCall(escrow.withdrawDeferred, (idOf(o), o.outputs[0])),
            abi.encodeCall(escrow.keepDeferred, (idOf(o), o.outputs[0])),
            abi.encodeCall(escrow.collectFees, (lp(0), address(hooked)))
        ];
        planned = calls.length;
        for (uint256 i; i < planned; ++i) {
            puppet.plan(address(escrow), calls[i]);
        }
    }

    /// @dev The callback came, tried everything, and met the lock each time.
    function metTheLock(string memory where) private view {
        bytes4[] memory results = puppet.results();
        ok(puppet.called() != 0 && results.length >= planned, where);
        for (uint256 i; i < results.length; ++i) {
            eq(bytes32(results[i]), bytes32(IEscrow.Reentered.selector), string.concat(where, vm.toString(i)));
        }
    }

    function test_9_fromTokensOnTheWayIn() public {
        conspire();
        hooked.setHook(address(puppet), address(puppet));
        puppet.act(address(escrow), abi.encodeCall(escrow.deposit, (address(hooked), 5e18)));
        metTheLock("deposit ");
        eq(ledger(address(puppet), address(hooked)), 1005e18, "credited once");
        StandardOrder memory order = plain();
        order.user = address(puppet);
        order.inputs[0][0] = uint160(address(hooked));
        puppet.act(address(escrow), abi.encodeCall(escrow.open, (order)));
        metTheLock("open ");
        // And on the way out, by refund and by withdrawal.
        puppet.act(address(escrow), abi.encodeCall(escrow.requestWithdrawal, (address(hooked), 5e18)));
        vm.warp(order.expires + 1);
        escrow.refund(order);
        puppet.act(address(escrow), abi.encodeCall(escrow.withdraw, (address(hooked), address(puppet))));
        metTheLock("refund and withdraw ");
        eq(puppet.called(), 4, "four callbacks");
    }

    function test_9_fromRecipients() public {
        conspire();
        recipient = address(puppet);
        StandardOrder memory order = simple();
        order.outputs[0].callbackData = "x";
        settle(order);
        metTheLock("settle ");
        order = toOpen(simple());
        order.outputs[0].callbackData = "x";
        bytes32 orderId = openOrder(order);
        vm.prank(lp(0));
        escrow.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0)));
        metTheLock("fill ");
        hooked.setHook(address(puppet), address(puppet));
        order = simple();
        deliver(order, address(hooked));
        settle(order);
        metTheLock("a token's hook ");
        eq(puppet.called(), 3, "three callbacks");
    }

    /// @dev Of a token that calls back while it is paid into the ledger, and while it is pushed out.
    function test_9_fromTokensIntoAndOutOfTheLedger() public {
        conspire();
        hooked.setHook(address(puppet), address(puppet));
        StandardOrder memory order = plain();
        deliver(order, address(hooked));
        intoLedger(order, true, address(puppet));
        bytes32 orderId = openOrder(order);
        puppet.act(
            address(escrow),
            abi.encodeCall(escrow.fill, (orderId, order.outputs[0], order.fillDeadline, fillerData(address(puppet))))
        );
        eq(puppet.called(), 0, "from its ledger to its ledger nothing moves");
        eq(ledger(address(puppet), address(hooked)), 1000e18, "nor is anything made");
        orderId = openOrder(order = plainTo(address(hooked), address(puppet)));
        puppet.act(
            address(escrow),
            abi.encodeCall(escrow.fill, (orderId, order.outputs[0], order.fillDeadline, fillerData(stranger)))
        );
        metTheLock("paid into the ledger ");
        eq(ledger(address(puppet), address(hooked)), 1000e18 + OUT, "credited once");
        vm.warp(block.timestamp + DELAY);
        uint256 had = hooked.balanceOf(address(puppet));
        escrow.withdrawDeferred(orderId, order.outputs[0]);
        metTheLock("out of the ledger ");
        eq(puppet.called(), 2, "two callbacks");
        eq(hooked.balanceOf(address(puppet)), had + OUT, "paid once");
        eq(ledger(address(puppet), address(hooked)), 1000e18, "debited once");
    }

    function plainTo(address token, address account) private returns (StandardOrder memory order) {
        order = plain();
        deliver(order, token);
        intoLedger(order, true, account);
    }

    function test_9_fromDestinations() public {
        conspire();
        StandardOrder memory order = plain();
        bytes32 orderId = openOrder(order);
        weth.mint(address(puppet), OUT);
        puppet.act(address(weth), abi.encodeCall(weth.approve, (address(escrow), OUT)));
        puppet.act(
            address(escrow),
            abi.encodeCall(
                escrow.fill, (orderId, order.outputs[0], order.fillDeadline, fillerData(address(puppet)))
            )
        );
        puppet.act(
            address(escrow),
            abi.encodeCall(
                escrow.finalise, (order, solves(address(puppet), block.timestamp), word(address(puppet)), "x")
            )
        );
        metTheLock("finalise ");
        eq(usd.balanceOf(address(puppet)), IN, "paid once");
    }

    /// @dev Two orders with equal outputs cannot share one delivery, however the filler nests them.
    function test_9_doubleExecution() public {
        puppet = new Puppet();
        StandardOrder memory a = through(address(puppet));
        StandardOrder memory b = through(address(puppet));
        weth.mint(address(puppet), OUT);
        puppet.act(address(weth), abi.encodeCall(weth.approve, (address(escrow), type(uint256).max)));
        puppet.plan(
            address(escrow), abi.encodeCall(escrow.settleThrough, (b, by3009(b), address(puppet), ""))
        );
        puppet.plan(
            address(escrow),
            abi.encodeCall(escrow.fill, (idOf(b), b.outputs[0], b.fillDeadline, fillerData(address(puppet))))
        );
        puppet.plan(address(escrow), abi.encodeCall(escrow.refund, (a)));
        puppet.plan(
            address(escrow),
            abi.encodeCall(escrow.finalise, (a, solves(address(puppet), block.timestamp), word(stranger), ""))
        );
        puppet.plan(
            address(escrow),
            abi.encodeCall(escrow.fill, (idOf(a), a.outputs[0], a.fillDeadline, fillerData(address(puppet))))
        );
        escrow.settleThrough(a, by3009(a), address(puppet), "");
        bytes4[] memory results = puppet.results();
        eq(bytes32(results[0]), bytes32(IEscrow.Reentered.selector), "no order inside an order");
        eq(bytes32(results[1]), bytes32(IEscrow.InvalidOrderStatus.selector), "nothing for an order that is not open");
        ok(results[2] != 0 && results[3] != 0, "neither refunded nor claimed meanwhile");
        eq(bytes32(results[4]), 0, "its own fill alone");
        eq(weth.balanceOf(recipient), OUT + 1, "delivered once");
        eq(status(idOf(a)), 2, "claimed");
        eq(status(idOf(b)), 0, "untouched");
    }

    function test_9_fillersThatCheat() public {
        Filler filler = new Filler(escrow);
        weth.mint(address(filler), 10e18);
        for (uint256 i = 1; i < 5; ++i) {
            StandardOrder memory order = blank(IN, 2);
            for (uint256 k; k < 2; ++k) {
                bytes memory context = quoteContext(address(filler), order.fillDeadline, 5_000, FEE, 0);
                order.outputs[k] = output(escrow, HERE, OUT + k, context);
            }
            bytes memory data =
                abi.encodeCall(escrow.settleThrough, (order, by3009(order), address(filler), abi.encode(i)));
            bytes4 why = Filler.Cheat(i) == Filler.Cheat.OtherSolver ? IEscrow.ExclusiveTo.selector : IEscrow.NotFilled.selector;
            refused(stranger, address(escrow), data, why, vm.toString(i));
            eq(status(idOf(order)), 0, "undone");
        }
    }

    /* 10. ORACLE */

    function submit(bytes32 payload, bytes[] memory list) private view returns (bytes memory) {
        bytes32[] memory payloads = new bytes32[](1);
        payloads[0] = payload;
        return abi.encodeCall(oracle.submit, (THERE, word(address(remote)), payloads, list));
    }

    function test_10_quorum() public {
        (,, bytes32 payload) = openedAndFilled();
        bytes[] memory one = attestations(THERE, address(remote), payload, 1);
        bytes4 count = IAttestationOracle.WrongSignatureCount.selector;
        bytes4 bad = IAttestationOracle.InvalidAttestation.selector;
        refused(stranger, address(oracle), submit(payload, one), count, "one of two");
        refused(stranger, address(oracle), submit(payload, new bytes[](0)), count, "none");
        bytes[] memory two = new bytes[](2);
        (two[0], two[1]) = (one[0], one[0]);
        refused(stranger, address(oracle), submit(payload, two), bad, "the same twice");
        bytes[] memory good = attestations(THERE, address(remote), payload, 2);
        (two[0], two[1]) = (good[1], good[0]);
        refused(stranger, address(oracle), submit(payload, two), bad, "out of order");
        (two[0], two[1]) = (good[0], new bytes(65));
        refused(stranger, address(oracle), submit(payload, two), bad, "signed by nobody");
        (two[0], two[1]) = (good[0], sign(STRANGER, payload));
        refused(stranger, address(oracle), submit(payload, two), bad, "signed by a stranger");
        bytes[] memory elsewhere = attestations(HERE, address(remote), payload, 2);
        refused(stranger, address(oracle), submit(payload, elsewhere), bad, "for another chain");
        elsewhere = attestations(THERE, address(escrow), payload, 2);
        refused(stranger, address(oracle), submit(payload, elsewhere), bad, "for another application");
        elsewhere = attestations(THERE, address(remote), keccak256("x"), 2);
        refused(stranger, address(oracle), submit(payload, elsewhere), bad, "for another payload");
    }

    function unproven(StandardOrder memory order, SolveParams[] memory params, bytes4 why, string memory what)
        private
    {
        refused(stranger, address(escrow), abi.encodeCall(escrow.finalise, (order, params, 0, "")), why, what);
    }

    function test_10_oneProofOneOrder() public {
        (StandardOrder memory order,, bytes32 payload) = openedAndFilled();
        StandardOrder memory other = cross();
        openOrder(other);
        attest(payload);
        SolveParams[] memory params = solves(lp(0), block.timestamp);
        bytes4 no = IAttestationOracle.NotProven.selector;
        unproven(other, params, no, "another order");
        unproven(order, solves(lp(0), block.timestamp - 1), no, "another time");
        unproven(order, solves(lp(1), block.timestamp), IEscrow.ExclusiveTo.selector, "another solver");
        unproven(order, new SolveParams[](0), IEscrow.LengthMismatch.selector, "no solvers");
        escrow.finalise(order, params, 0, "");
        unproven(order, params, IEscrow.InvalidOrderStatus.selector, "twice");
        attest(payload);
        eq(status(idOf(order)), 2, "a replayed proof changes nothing");
    }

    function test_10_lateFillsDoNotCount() public {
        StandardOrder memory order = cross();
        bytes32 orderId = openOrder(order);
        uint32 late = order.fillDeadline + 1;
        attest(hashes.payloadHash(word(lp(0)), orderId, late, order.outputs[0]));
        unproven(order, solves(lp(0), late), IEscrow.FilledTooLate.selector, "signed, but after the deadline");
    }

    function test_10_emptySeriesProveNothing() public {
        bytes4 why = IAttestationOracle.NothingToProve.selector;
        bytes memory data = abi.encodeCall(oracle.efficientRequireProven, (""));
        refused(stranger, address(oracle), data, why, "empty");
        data = abi.encodeCall(oracle.efficientRequireProven, (new bytes(127)));
        refused(stranger, address(oracle), data, why, "not whole");
        data = abi.encodeCall(oracle.submit, (THERE, 0, new bytes32[](0), new bytes[](0)));
        refused(stranger, address(oracle), data, why, "nothing submitted");
        ok(!escrow.hasAttested(new bytes[](0)), "an escrow attests nothing to nobody");
    }

    function test_10_committees() public {
        bytes memory args = abi.encode(address(this), new address[](0), 0, ROTATION);
        vm.expectRevert();
        vm.deployCode("AttestationOracle.sol:AttestationOracle", args);
        bytes4 why = IAttestationOracle.InvalidThreshold.selector;
        address[] memory list = sortedSigners();
        bytes memory data = abi.encodeCall(oracle.scheduleSigners, (list, 0));
        refused(address(this), address(oracle), data, why, "threshold zero");
        data = abi.encodeCall(oracle.scheduleSigners, (list, 4));
        refused(address(this), address(oracle), data, why, "more than there are");
        list[1] = list[0];
        data = abi.encodeCall(oracle.scheduleSigners, (list, 2));
        refused(address(this), address(oracle), data, IAttestationOracle.UnsortedSigners.selector, "one counted twice");
        list[0] = address(0);
        data = abi.encodeCall(oracle.scheduleSigners, (list, 2));
        refused(address(this), address(oracle), data, IAttestationOracle.UnsortedSigners.selector, "address zero");
        refused(stranger, address(oracle), data, bytes4(keccak256("OwnableUnauthorizedAccount(address)")), "owner");
    }

    /// @dev Removed signers count until the change takes effect and not a second longer; what they proved stays.
    function test_10_signerRemovedMidFlight() public {
        (StandardOrder memory order,, bytes32 payload) = openedAndFilled();
        SolveParams[] memory params = solves(lp(0), block.timestamp);
        address[] memory list = new address[](1);
        list[0] = stranger;
        oracle.scheduleSigners(list, 1);
        bytes[] memory old = attestations(THERE, address(remote), payload, 2);
        bytes[] memory early = new bytes[](2);
        (early[0], early[1]) = (sign(STRANGER, payload), old[1]);
        refused(stranger, address(oracle), submit(payload, early), IAttestationOracle.InvalidAttestation.selector, "not yet");
        vm.warp(block.timestamp + ROTATION - 1);
        attest(payload);
        vm.warp(block.timestamp + 1);
        bytes32 next = keccak256("next");
        bytes[] memory late = attestations(THERE, address(remote), next, 2);
        refused(stranger, address(oracle), submit(next, late), IAttestationOracle.InvalidAttestation.selector, "no more");
        escrow.finalise(order, params, 0, "");
        eq(status(idOf(order)), 2, "proven stays proven");
    }

    /* 11. TIME */

    function test_11_edges() public {
        StandardOrder memory order = toOpen(simple());
        bytes memory funding = by3009(order);
        bytes memory opening = abi.encodeCall(escrow.openFor, (order, taker, funding));
        vm.warp(order.fillDeadline);
        refused(stranger, address(escrow), opening, IEscrow.DeadlinePassed.selector, "open in the last second");
        vm.warp(order.fillDeadline - 1);
        (bool success,) = address(escrow).call(opening);
        ok(success, "open just before");
        bytes memory filling =
            abi.encodeCall(escrow.fill, (idOf(order), order.outputs[0], order.fillDeadline, fillerData(lp(0))));
        vm.warp(order.fillDeadline + 1);
        refused(lp(0), address(escrow), filling, IEscrow.DeadlinePassed.selector, "fill too late");
        bytes memory later =
            abi.encodeCall(escrow.fill, (idOf(order), order.outputs[0], order.fillDeadline + 1, fillerData(lp(0))));
        refused(lp(0), address(escrow), later, IEscrow.WrongStartTime.selector, "nor with another deadline");
        vm.warp(order.fillDeadline);
        vm.prank(lp(0));
        (success,) = address(escrow).call(filling);
        ok(success, "fill in the last second");
        SolveParams[] memory params = solves(lp(0), order.fillDeadline);
        bytes memory refunding = abi.encodeCall(escrow.refund, (order));
        vm.warp(order.expires);
        refused(taker, address(escrow), refunding, IEscrow.TooEarly.selector, "refund in the second of expiry");
        vm.warp(order.expires + 1);
        escrow.finalise(order, params, 0, "");
        eq(status(idOf(order)), 2, "claimed after expiry as nobody refunded");
        refused(taker, address(escrow), refunding, IEscrow.InvalidOrderStatus.selector, "and not refunded then");
    }

    function test_11_proofWindow() public {
        StandardOrder memory order = toOpen(simple());
        order.expires = uint32(order.fillDeadline + PROOF - 1);
        refusedOpen(order, taker, by3009(order), IEscrow.ProofWindowTooShort.selector, "a second short");
        order.expires = uint32(order.fillDeadline + PROOF);
        openOrder(order);
        order = simple();
        order.expires = order.fillDeadline - 1;
        refusedSettle(order, by3009(order), IEscrow.ProofWindowTooShort.selector, "expires before its deadline");
    }

    /// @dev Members wider than their type are refused, not cut: one order has one encoding.
    function test_11_wideNumbers() public {
        StandardOrder memory order = simple();
        bytes memory data = abi.encodeCall(escrow.settle, (order, by3009(order), commitments(order)));
        // Selector, three offsets, then user, nonce, originChainId, expires, fillDeadline, inputOracle.
        uint256[4] memory members = [uint256(0), 3, 4, 5];
        uint256[4] memory bits = [uint256(160), 32, 32, 160];
        for (uint256 i; i < 4; ++i) {
            bytes memory wide = bytes.concat(data);
            uint256 at_ = 32 + 4 + 96 + 32 * members[i];
            uint256 dirt = uint256(1) << bits[i];
            assembly ("memory-safe") {
                mstore(add(wide, at_), or(mload(add(wide, at_)), dirt))
            }
            refused(stranger, address(escrow), wide, 0, "dirty upper bits");
        }
        order.inputs[0][0] |= uint256(1) << 160;
        refusedSettle(order, by3009(order), IEscrow.NotAnAddress.selector, "token");
        order = simple();
        order.outputs[0].recipient |= bytes32(uint256(1) << 160);
        refusedSettle(order, by3009(order), IEscrow.NotAnAddress.selector, "recipient");
        order = simple();
        order.fillDeadline = type(uint32).max;
        order.expires = type(uint32).max;
        refusedSettle(order, "", IEscrow.WrongStartTime.selector, "the end of time");
    }

    /* 12. SPLITS */

    /// @dev However an input is cut, what the LPs and the fee recipient get is the input, and each gets its slice.
    function test_12_noDust(uint256 amount, uint256 a, uint256 b) public {
        amount = bound(amount, 1e6, 900_000e6);
        uint16[3] memory portions;
        portions[0] = uint16(bound(a, 1000, 8000));
        portions[1] = uint16(bound(b, 500, 9500 - portions[0]));
        portions[2] = 10_000 - portions[0] - portions[1];
        StandardOrder memory order = blank(amount, 3);
        uint256[4] memory had;
        had[3] = feesAt(escrow, address(usd));
        for (uint256 i; i < 3; ++i) {
            had[i] = ledger(lp(i), address(usd));
            order.outputs[i] = output(
                escrow, HERE, OUT + i, quoteContext(lp(i), order.fillDeadline, portions[i], FEE, i == 0 ? RELAY : 0)
            );
        }
        settle(order);
        uint256 sum = feesAt(escrow, address(usd)) - had[3];
        for (uint256 i; i < 3; ++i) {
            uint256 got = ledger(lp(i), address(usd)) - had[i];
            uint256 slice = amount * portions[i] / 10_000;
            vm.assertGe(got + feeOf(slice, i == 0 ? RELAY : 0) + 1, slice, "its slice");
            vm.assertLe(got + feeOf(slice, i == 0 ? RELAY : 0), slice + 3, "not more than its slice and the dust");
            sum += got;
        }
        eq(sum, amount, "all of it");
    }

    function test_12_badPortions() public {
        StandardOrder memory order = split(IN, OUT);
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 0, FEE, 0);
        refusedSettle(order, by3009(order), IEscrow.InvalidPortions.selector, "a slice of nothing");
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 5001, FEE, 0);
        refusedSettle(order, by3009(order), IEscrow.InvalidPortions.selector, "more than all");
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 4999, FEE, 0);
        refusedSettle(order, by3009(order), IEscrow.InvalidPortions.selector, "less than all");
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 5000, FEE + 1, 0);
        refusedSettle(order, by3009(order), IEscrow.InvalidFee.selector, "unequal fees");
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 5000, FEE, uint128(IN));
        refusedSettle(order, by3009(order), IEscrow.FeesExceedSlice.selector, "a fee above its slice");
        order.outputs[0].context = "";
        refusedOpen(order, taker, by3009(order), IEscrow.MixedContexts.selector, "half a quote");
    }

    /// @dev One LP may have several slices: it pays and is paid for each. The same slice twice is refused.
    function test_12_duplicateLp() public {
        StandardOrder memory order = blank(IN, 2);
        for (uint256 i; i < 2; ++i) {
            order.outputs[i] =
                output(escrow, HERE, OUT, quoteContext(lp(0), order.fillDeadline, 5000, FEE, 0));
        }
        refusedSettle(order, by3009(order), IEscrow.DuplicateOutput.selector, "equal outputs");
        order.outputs[1].amount = OUT + 1;
        uint256 had = ledger(lp(0), address(weth));
        settle(order);
        eq(ledger(lp(0), address(weth)), had - 2 * OUT - 1, "paid both");
        order = blank(IN, 2);
        for (uint256 i; i < 2; ++i) {
            order.outputs[i] =
                output(escrow, HERE, 600e18 + i, quoteContext(lp(0), order.fillDeadline, 5000, FEE, 0));
        }
        refusedSettle(order, by3009(order), IEscrow.InsufficientBalance.selector, "not the same balance twice");
    }

    function test_12_hundredSlices() public {
        StandardOrder memory order = blank(IN, 100);
        for (uint256 i; i < 100; ++i) {
            order.outputs[i] =
                output(escrow, HERE, 1e15 + i, quoteContext(lp(i % 3), order.fillDeadline, 100, FEE, 0));
        }
        bytes memory data = abi.encodeCall(escrow.settle, (order, by3009(order), commitments(order)));
        uint256 before = gasleft();
        (bool success,) = address(escrow).call(data);
        ok(success, "settled");
        vm.assertLe(before - gasleft(), 1 << 24, "within the gas a transaction may have");
    }

    /* 13. NATIVE CURRENCY, UPGRADES */

    function test_13_forcedEther() public {
        (bool success,) = address(escrow).call{value: 1}("");
        ok(!success, "none is taken");
        address bomb = address(0xb0b);
        vm.etch(bomb, abi.encodePacked(hex"73", address(escrow), hex"ff"));
        vm.deal(bomb, 1 ether);
        (success,) = bomb.call("");
        eq(address(escrow).balance, 1 ether, "forced in");
        settle(simple());
        StandardOrder memory order = toOpen(simple());
        openOrder(order);
        vm.warp(order.expires + 1);
        escrow.refund(order);
        eq(address(escrow).balance, 1 ether, "and of no consequence");
    }

    /// @dev No code but its own and that of its extension ever runs in its place: it made the extension when it was deployed,
    /// that has nothing to run another's code by, and neither can be replaced.
    function test_13_noUpgrade() public view {
        address extension = escrow.EXTENSION();
        address made = address(uint160(uint256(keccak256(abi.encodePacked(hex"d694", address(escrow), hex"01")))));
        eq(extension, made, "the first contract that the escrow made");
        eq(callsOfOthers(address(escrow)), 1, "DELEGATECALL or its like");
        eq(callsOfOthers(extension), 0, "DELEGATECALL or its like in the extension");
        ok(extension.codehash == remote.EXTENSION().codehash, "two escrows of the same parameters have the same");
    }

    /// @dev Instructions that could replace the code or run another's in this contract's place. What follows a STOP, JUMP,
    /// RETURN, REVERT or INVALID runs only from a JUMPDEST on that something pushes: the compiler puts constants there.
    function callsOfOthers(address place) private view returns (uint256 count) {
        bytes memory code = place.code;
        bool[] memory isTarget = new bool[](code.length);
        for (uint256 i; i + 2 < code.length; ++i) {
            // PUSH1 and PUSH2, wherever they may be; too many targets make the test stricter.
            if (code[i] == 0x60) isTarget[uint8(code[i + 1])] = true;
            uint256 target = uint256(uint8(code[i + 1])) << 8 | uint8(code[i + 2]);
            if (code[i] == 0x61 && target < code.length) isTarget[target] = true;
        }
        bool reached = true;
        for (uint256 i; i < code.length; ++i) {
            uint8 op = uint8(code[i]);
            if (op == 0x5b && isTarget[i]) reached = true;
            if (!reached) continue;
            reached = op != 0x00 && op != 0x56 && op != 0xf3 && op != 0xfd && op != 0xfe;
            if (op == 0xf4 || op == 0xf2 || op == 0xff || op == 0xf0 || op == 0xf5) ++count;
            if (op >= 0x60 && op <= 0x7f) i += op - 0x5f;
        }
    }

    function test_13_noOwnerNoInitializer() public {
        string[9] memory names = [
            "initialize()",
            "initialize(address)",
            "init()",
            "owner()",
            "transferOwnership(address)",
            "pause()",
            "upgradeTo(address)",
            "upgradeToAndCall(address,bytes)",
            "sweep(address)"
        ];
        for (uint256 i; i < names.length; ++i) {
            refused(
                address(this),
                address(escrow),
                abi.encodePacked(bytes4(keccak256(bytes(names[i]))), new bytes(128)),
                0,
                names[i]
            );
        }
        bytes32 implementation = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
        eq(vm.load(address(escrow), implementation), 0, "no implementation behind it");
    }
}
