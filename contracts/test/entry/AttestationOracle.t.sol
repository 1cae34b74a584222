// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAttestationOracle} from "../../src/interfaces/IAttestationOracle.sol";
import {IInputOracle} from "../../src/interfaces/IInputOracle.sol";
import {IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Base} from "../support/Base.sol";

interface IOwned {
    function owner() external view returns (address);
    function transferOwnership(address to) external;
    function acceptOwnership() external;
}

contract AttestationOracleTest is Base {
    bytes32 internal constant PAYLOAD = keccak256("payload");

    function one(bytes32 payload) internal pure returns (bytes32[] memory list) {
        list = new bytes32[](1);
        list[0] = payload;
    }

    function application() internal view returns (bytes32) {
        return word(address(remote));
    }

    function submit(bytes[] memory signatures) internal {
        vm.prank(stranger);
        oracle.submit(THERE, application(), one(PAYLOAD), signatures);
    }

    function refuse(bytes[] memory signatures, bytes memory reason) internal {
        bytes32 app = application();
        vm.prank(stranger);
        vm.expectRevert(reason);
        oracle.submit(THERE, app, one(PAYLOAD), signatures);
    }

    function proven() internal view returns (bool) {
        return oracle.isProven(THERE, 0, application(), PAYLOAD);
    }

    /* submit */

    function test_submit_by_anyone() public {
        bytes[] memory signatures = attestations(THERE, address(remote), PAYLOAD, 2);
        vm.expectEmit(true, true, true, true, address(oracle));
        emit IInputOracle.OutputProven(THERE, word(address(oracle)), application(), PAYLOAD);
        submit(signatures);
        ok(proven(), "proven");
    }

    function test_submit_more_than_the_threshold() public {
        submit(attestations(THERE, address(remote), PAYLOAD, 3));
        ok(proven(), "proven");
    }

    function test_submit_any_two_of_three() public {
        bytes[] memory all = attestations(THERE, address(remote), PAYLOAD, 3);
        bytes[] memory two = new bytes[](2);
        (two[0], two[1]) = (all[0], all[2]);
        submit(two);
        ok(proven(), "proven");
    }

    function test_submit_again_is_harmless() public {
        bytes[] memory signatures = attestations(THERE, address(remote), PAYLOAD, 2);
        submit(signatures);
        vm.recordLogs();
        submit(signatures);
        eq(vm.getRecordedLogs().length, 0, "no second event");
    }

    function test_submit_several_payloads() public {
        bytes32[] memory payloads = new bytes32[](3);
        bytes[] memory signatures = new bytes[](6);
        for (uint256 i; i < 3; ++i) {
            payloads[i] = keccak256(abi.encode(i));
            bytes[] memory two = attestations(THERE, address(remote), payloads[i], 2);
            (signatures[2 * i], signatures[2 * i + 1]) = (two[0], two[1]);
        }
        oracle.submit(THERE, application(), payloads, signatures);
        for (uint256 i; i < 3; ++i) {
            ok(oracle.isProven(THERE, 0, application(), payloads[i]), "proven");
        }
    }

    function test_submit_refuses_counts() public {
        bytes[] memory all = attestations(THERE, address(remote), PAYLOAD, 3);
        refuse(new bytes[](0), err(IAttestationOracle.WrongSignatureCount.selector, 2, 0));
        bytes[] memory list = new bytes[](1);
        list[0] = all[0];
        refuse(list, err(IAttestationOracle.WrongSignatureCount.selector, 2, 1));
        bytes32[] memory payloads = new bytes32[](2);
        bytes32 app = application();
        list = new bytes[](5);
        vm.expectRevert(err(IAttestationOracle.WrongSignatureCount.selector, 4, 5));
        oracle.submit(THERE, app, payloads, list);
        vm.expectRevert(err(IAttestationOracle.NothingToProve.selector));
        oracle.submit(THERE, app, new bytes32[](0), new bytes[](0));
    }

    function test_submit_refuses_one_signer_twice() public {
        bytes[] memory list = attestations(THERE, address(remote), PAYLOAD, 2);
        list[1] = list[0];
        refuse(list, bad(1, vm.addr(signerKeys()[0])));
    }

    function bad(uint256 index, address signer) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IAttestationOracle.InvalidAttestation.selector, index, signer);
    }

    function test_submit_refuses_signers_out_of_order() public {
        bytes[] memory list = attestations(THERE, address(remote), PAYLOAD, 2);
        (list[0], list[1]) = (list[1], list[0]);
        refuse(list, bad(1, vm.addr(signerKeys()[0])));
    }

    function test_submit_refuses_strangers_and_garbage() public {
        bytes[] memory list = attestations(THERE, address(remote), PAYLOAD, 3);
        bytes[] memory more = new bytes[](3);
        (more[0], more[1], more[2]) = (list[0], list[1], sign(STRANGER, keccak256("x")));
        bytes32 app = application();
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submit(THERE, app, one(PAYLOAD), more);
        more[2] = "";
        refuse(more, bad(2, address(0)));
        more[2] = new bytes(65);
        refuse(more, bad(2, address(0)));
    }

    function test_submit_refuses_signatures_for_something_else() public {
        bytes32 app = application();
        bytes[] memory list = attestations(THERE, address(remote), PAYLOAD, 2);
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submit(HERE, app, one(PAYLOAD), list);
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submit(THERE, word(address(escrow)), one(PAYLOAD), list);
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submit(THERE, app, one(keccak256("other")), list);
        vm.chainId(THERE);
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submit(THERE, app, one(PAYLOAD), list);
    }

    /* proofs */

    /* submitAndFinalise */

    function filled(uint256 n) internal returns (StandardOrder[] memory list, bytes32[] memory payloads) {
        (list, payloads) = (new StandardOrder[](n), new bytes32[](n));
        for (uint256 i; i < n; ++i) {
            list[i] = cross();
            bytes32 orderId = openOrder(list[i]);
            vm.chainId(THERE);
            vm.prank(operator(0));
            remote.fill(orderId, list[i].outputs[0], list[i].fillDeadline, fillerData(lp(0)));
            vm.chainId(HERE);
            payloads[i] = hashes.payloadHash(word(lp(0)), orderId, uint32(block.timestamp), list[i].outputs[0]);
        }
    }

    function finalisation(StandardOrder memory order) internal view returns (bytes memory) {
        return abi.encodeCall(IEscrow.finalise, (order, solves(lp(0), block.timestamp), bytes32(0), ""));
    }

    function finalisations(StandardOrder[] memory list) internal view returns (bytes[] memory calls) {
        calls = new bytes[](list.length);
        for (uint256 i; i < list.length; ++i) {
            calls[i] = finalisation(list[i]);
        }
    }

    function finaliseAll(bytes32[] memory payloads, bytes[] memory signatures, bytes[] memory calls)
        internal
        returns (uint256)
    {
        vm.prank(stranger);
        return oracle.submitAndFinalise(THERE, application(), payloads, signatures, address(escrow), calls);
    }

    function refuseAll(
        bytes32[] memory payloads,
        bytes[] memory signatures,
        bytes[] memory calls,
        bytes memory reason
    ) internal {
        bytes32 app = application();
        vm.prank(stranger);
        vm.expectRevert(reason);
        oracle.submitAndFinalise(THERE, app, payloads, signatures, address(escrow), calls);
    }

    function test_submitAndFinalise_one_order_by_what_submit_takes() public {
        (StandardOrder[] memory list, bytes32[] memory payloads) = filled(1);
        bytes[] memory signatures = attestations(THERE, address(remote), payloads[0], 2);
        uint256 before = escrow.balanceOf(lp(0), address(usd));
        vm.expectEmit(true, true, true, true, address(oracle));
        emit IInputOracle.OutputProven(THERE, word(address(oracle)), application(), payloads[0]);
        eq(finaliseAll(payloads, signatures, finalisations(list)), 0, "none failed");
        eq(status(idOf(list[0])), 2, "claimed");
        eq(escrow.balanceOf(lp(0), address(usd)) - before, IN - feeOf(IN, RELAY), "paid");
    }

    function test_submitAndFinalise_several_orders_by_one_list() public {
        (StandardOrder[] memory list, bytes32[] memory payloads) = filled(3);
        bytes[] memory signatures = compact(listAttestations(address(remote), payloads));
        for (uint256 i; i < 3; ++i) {
            vm.expectEmit(true, true, true, true, address(oracle));
            emit IInputOracle.OutputProven(THERE, word(address(oracle)), application(), payloads[i]);
        }
        eq(finaliseAll(payloads, signatures, finalisations(list)), 0, "none failed");
        for (uint256 i; i < 3; ++i) {
            eq(status(idOf(list[i])), 2, "claimed");
        }
    }

    function test_submitAndFinalise_proves_for_one_transaction() public {
        (, bytes32[] memory payloads) = filled(1);
        bytes[] memory signatures = attestations(THERE, address(remote), payloads[0], 2);
        this.proveWithin(payloads, signatures);
    }

    /// forge-config: default.isolate = true
    function test_submitAndFinalise_leaves_no_proof_behind() public {
        (, bytes32[] memory payloads) = filled(1);
        finaliseAll(payloads, attestations(THERE, address(remote), payloads[0], 2), new bytes[](0));
        ok(!oracle.isProven(THERE, 0, application(), payloads[0]), "gone with its transaction");
    }

    function proveWithin(bytes32[] memory payloads, bytes[] memory signatures) external {
        finaliseAll(payloads, signatures, new bytes[](0));
        ok(oracle.isProven(THERE, 0, application(), payloads[0]), "until the transaction ends");
        ok(!oracle.isProven(HERE, 0, application(), payloads[0]), "of that chain");
        ok(!oracle.isProven(THERE, 0, word(address(escrow)), payloads[0]), "of that application");
    }

    function test_submitAndFinalise_one_of_several_that_fails_leaves_the_others() public {
        (StandardOrder[] memory list, bytes32[] memory payloads) = filled(3);
        bytes[] memory signatures = listAttestations(address(remote), payloads);
        bytes[] memory calls = finalisations(list);
        vm.warp(uint256(list[1].expires) + 1);
        escrow.refund(list[1]);
        vm.expectEmit(true, true, true, true, address(oracle));
        emit IAttestationOracle.Failed(2);
        eq(finaliseAll(payloads, signatures, calls), 2, "the second");
        eq(status(idOf(list[0])), 2, "claimed");
        eq(status(idOf(list[1])), 3, "refunded");
        eq(status(idOf(list[2])), 2, "claimed");
    }

    function test_submitAndFinalise_one_alone_says_why_it_fails() public {
        (StandardOrder[] memory list, bytes32[] memory payloads) = filled(1);
        bytes[] memory signatures = attestations(THERE, address(remote), payloads[0], 2);
        bytes[] memory calls = finalisations(list);
        vm.warp(uint256(list[0].expires) + 1);
        escrow.refund(list[0]);
        refuseAll(payloads, signatures, calls, badStatus(idOf(list[0]), OrderStatus.Refunded));
    }

    function test_submitAndFinalise_proves_only_what_the_list_says() public {
        (StandardOrder[] memory list, bytes32[] memory payloads) = filled(3);
        bytes[] memory signatures = listAttestations(address(remote), payloads);
        bytes[] memory calls = finalisations(list);
        (payloads[0], payloads[1]) = (payloads[1], payloads[0]);
        bytes32 app = application();
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submitAndFinalise(THERE, app, payloads, signatures, address(escrow), calls);
        // A list is no attestation of one of its payloads, and the other way round.
        bytes32[] memory first = one(payloads[0]);
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submitAndFinalise(THERE, app, first, signatures, address(escrow), calls);
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submit(THERE, app, first, signatures);
        // An order whose payload is not in the list is not finalised by it.
        bytes32[] memory two = new bytes32[](2);
        (two[0], two[1]) = (payloads[0], payloads[1]);
        signatures = listAttestations(address(remote), two);
        eq(finaliseAll(two, signatures, calls), 4, "the third");
    }

    /// @dev P31: the chain is part of what is signed, of a list as of one payload.
    function test_a_list_of_one_chain_proves_no_other() public {
        (StandardOrder[] memory list, bytes32[] memory payloads) = filled(2);
        bytes[] memory calls = finalisations(list);
        bytes[] memory signatures = listAttestations(HERE, address(remote), payloads);
        bytes32 app = application();
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submitAndFinalise(THERE, app, payloads, signatures, address(escrow), calls);
        // It does prove the chain that it says.
        eq(oracle.submitAndFinalise(HERE, app, payloads, signatures, address(escrow), calls), 3, "none is of that chain");
        signatures = listAttestations(address(remote), payloads);
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submitAndFinalise(HERE, app, payloads, signatures, address(escrow), calls);
        eq(finaliseAll(payloads, signatures, calls), 0, "its own");
    }

    function test_submitAndFinalise_refuses() public {
        (StandardOrder[] memory list, bytes32[] memory payloads) = filled(1);
        bytes[] memory signatures = attestations(THERE, address(remote), payloads[0], 1);
        bytes[] memory calls = finalisations(list);
        refuseAll(payloads, signatures, calls, err(IAttestationOracle.WrongSignatureCount.selector, 2, 1));
        signatures = attestations(THERE, address(remote), payloads[0], 2);
        refuseAll(new bytes32[](0), signatures, calls, err(IAttestationOracle.NothingToProve.selector));
        signatures[1] = signatures[0];
        bytes memory twice =
            abi.encodeWithSelector(IAttestationOracle.InvalidAttestation.selector, 1, vm.addr(signerKeys()[0]));
        refuseAll(payloads, signatures, calls, twice);
        signatures = attestations(THERE, address(remote), payloads[0], 2);
        calls[0] = abi.encodeCall(IEscrow.refund, (list[0]));
        refuseAll(payloads, signatures, calls, err(IAttestationOracle.NotAFinalisation.selector, 0));
        calls[0] = hex"00";
        refuseAll(payloads, signatures, calls, err(IAttestationOracle.NotAFinalisation.selector, 0));
    }

    function test_submitAndFinalise_says_of_each_of_256_whether_it_failed() public {
        (StandardOrder[] memory list, bytes32[] memory payloads) = filled(1);
        bytes[] memory signatures = attestations(THERE, address(remote), payloads[0], 2);
        StandardOrder[] memory again = new StandardOrder[](257);
        for (uint256 i; i < again.length; ++i) {
            again[i] = list[0];
        }
        bytes[] memory calls = finalisations(again);
        bytes memory reason = err(IAttestationOracle.TooManyFinalisations.selector, 257);
        refuseAll(payloads, signatures, calls, reason);
        assembly {
            mstore(calls, 256)
        }
        eq(finaliseAll(payloads, signatures, calls), type(uint256).max - 1, "only the first is left to finalise");
    }

    /* isProven */

    function test_isProven_is_of_one_chain_application_and_payload() public {
        submit(attestations(THERE, address(remote), PAYLOAD, 2));
        ok(oracle.isProven(THERE, keccak256("any"), application(), PAYLOAD), "whatever remote oracle");
        ok(!oracle.isProven(HERE, 0, application(), PAYLOAD), "chain");
        ok(!oracle.isProven(THERE, 0, word(address(escrow)), PAYLOAD), "application");
        ok(!oracle.isProven(THERE, 0, application(), keccak256("other")), "payload");
    }

    function test_efficientRequireProven() public {
        bytes32 app = application();
        bytes memory item = abi.encode(THERE, word(address(oracle)), app, PAYLOAD);
        bytes memory reason =
            abi.encodeWithSelector(IAttestationOracle.NotProven.selector, THERE, app, PAYLOAD);
        vm.expectRevert(reason);
        oracle.efficientRequireProven(item);
        submit(attestations(THERE, address(remote), PAYLOAD, 2));
        oracle.efficientRequireProven(item);
        oracle.efficientRequireProven(abi.encodePacked(item, item));
        bytes memory other = abi.encode(THERE, word(address(oracle)), app, keccak256("other"));
        vm.expectPartialRevert(IAttestationOracle.NotProven.selector);
        oracle.efficientRequireProven(abi.encodePacked(item, other));
        vm.expectPartialRevert(IAttestationOracle.NotProven.selector);
        oracle.efficientRequireProven(abi.encodePacked(other, item));
    }

    function test_efficientRequireProven_refuses_no_and_broken_series() public {
        vm.expectRevert(IAttestationOracle.NothingToProve.selector);
        oracle.efficientRequireProven("");
        vm.expectRevert(IAttestationOracle.NothingToProve.selector);
        oracle.efficientRequireProven(new bytes(127));
        vm.expectRevert(IAttestationOracle.NothingToProve.selector);
        oracle.efficientRequireProven(new bytes(129));
    }

    /* signers */

    function next(uint256 n) internal pure returns (address[] memory list) {
        list = new address[](n);
        for (uint256 i; i < n; ++i) {
            list[i] = address(uint160(1000 + i));
        }
    }

    function test_signers() public view {
        eq(oracle.signers().length, 3, "signers");
        eq(oracle.threshold(), 2, "threshold");
        eq(oracle.ROTATION_DELAY(), ROTATION, "delay");
        (address[] memory list, uint256 threshold, uint256 activeFrom) = oracle.scheduledSigners();
        ok(list.length == 0 && threshold == 0 && activeFrom == 0, "none");
    }

    function test_scheduleSigners_takes_effect_after_the_delay() public {
        vm.expectEmit(true, true, true, true, address(oracle));
        emit IAttestationOracle.SignersScheduled(next(2), 2, START + ROTATION);
        oracle.scheduleSigners(next(2), 2);
        (address[] memory list, uint256 threshold, uint256 activeFrom) = oracle.scheduledSigners();
        ok(list.length == 2 && threshold == 2 && activeFrom == START + ROTATION, "scheduled");

        bytes[] memory old = attestations(THERE, address(remote), PAYLOAD, 2);
        vm.warp(START + ROTATION - 1);
        eq(oracle.signers().length, 3, "the old ones to the last second");
        submit(old);
        vm.warp(START + ROTATION);
        eq(oracle.signers().length, 2, "the new ones");
        (list,,) = oracle.scheduledSigners();
        eq(list.length, 0, "nothing to come");
        ok(proven(), "proofs stay");
        vm.expectPartialRevert(IAttestationOracle.InvalidAttestation.selector);
        oracle.submit(THERE, word(address(remote)), one(keccak256("later")), old);
    }

    function test_scheduleSigners_replaces_what_is_to_come_only() public {
        oracle.scheduleSigners(next(2), 1);
        vm.warp(START + ROTATION - 1);
        oracle.scheduleSigners(next(4), 3);
        vm.warp(START + ROTATION);
        eq(oracle.signers().length, 3, "the first change is off");
        vm.warp(START + 2 * ROTATION - 1);
        eq(oracle.signers().length, 4, "the second is on");
        oracle.scheduleSigners(next(5), 1);
        eq(oracle.signers().length, 4, "and stays while the third waits");
        eq(oracle.threshold(), 3, "with its threshold");
        vm.warp(START + 3 * ROTATION);
        eq(oracle.signers().length, 5, "the third");
    }

    function test_scheduleSigners_refuses() public {
        vm.expectRevert(err(IAttestationOracle.InvalidThreshold.selector, 0, 2));
        oracle.scheduleSigners(next(2), 0);
        vm.expectRevert(err(IAttestationOracle.InvalidThreshold.selector, 3, 2));
        oracle.scheduleSigners(next(2), 3);
        vm.expectRevert(err(IAttestationOracle.InvalidThreshold.selector, 1, 0));
        oracle.scheduleSigners(next(0), 1);
        address[] memory list = next(2);
        list[0] = address(0);
        vm.expectRevert(
            abi.encodeWithSelector(IAttestationOracle.UnsortedSigners.selector, address(0), address(0))
        );
        oracle.scheduleSigners(list, 1);
        list[0] = list[1];
        vm.expectRevert(abi.encodeWithSelector(IAttestationOracle.UnsortedSigners.selector, list[1], list[1]));
        oracle.scheduleSigners(list, 1);
        list = next(3);
        (list[1], list[2]) = (list[2], list[1]);
        vm.expectRevert(abi.encodeWithSelector(IAttestationOracle.UnsortedSigners.selector, list[1], list[2]));
        oracle.scheduleSigners(list, 1);
        vm.expectRevert(err(IAttestationOracle.TooManySigners.selector, 501));
        oracle.scheduleSigners(next(501), 1);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSignature("OwnableUnauthorizedAccount(address)", stranger));
        oracle.scheduleSigners(next(2), 1);
    }

    function test_scheduleSigners_takes_as_many_as_fit() public {
        oracle.scheduleSigners(next(500), 400);
        vm.warp(block.timestamp + ROTATION);
        eq(oracle.signers().length, 500, "signers");
        eq(oracle.threshold(), 400, "threshold");
    }

    function test_ownership_moves_in_two_steps() public {
        IOwned owned = IOwned(address(oracle));
        owned.transferOwnership(stranger);
        eq(owned.owner(), address(this), "not yet");
        vm.prank(stranger);
        owned.acceptOwnership();
        eq(owned.owner(), stranger, "now");
    }

    function deploy(address[] memory signers, uint256 threshold, uint256 delay) internal returns (address place) {
        bytes memory code = abi.encodePacked(
            vm.getCode("AttestationOracle.sol:AttestationOracle"),
            abi.encode(address(this), signers, threshold, delay)
        );
        assembly ("memory-safe") {
            place := create(0, add(code, 0x20), mload(code))
        }
    }

    function test_constructor_refuses() public {
        eq(deploy(next(2), 1, 0), address(0), "no delay");
        eq(deploy(next(2), 1, 1 << 32), address(0), "no seconds");
        eq(deploy(next(2), 0, 1), address(0), "no threshold");
        eq(deploy(next(2), 3, 1), address(0), "threshold");
        eq(deploy(new address[](0), 1, 1), address(0), "no signers");
        ok(deploy(next(1), 1, 1) != address(0), "one of one");
    }
}
