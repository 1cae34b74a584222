// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAttester} from "../src/interfaces/IAttester.sol";
import {Commitment, IEscrow, IEscrowBase, MandateOutput, SolveParams, StandardOrder} from "../src/interfaces/IEscrow.sol";
import {IInputOracle} from "../src/interfaces/IInputOracle.sol";
import {OrderLib} from "../src/libraries/OrderLib.sol";
import {Base} from "./support/Base.sol";

/// @notice OrderLib behind calldata, at an address of our choice: ids and domains hold the contract's own.
contract Encoder {
    function id(StandardOrder calldata order) external view returns (bytes32) {
        return OrderLib.id(order);
    }

    function encode(StandardOrder calldata order) external pure returns (bytes memory) {
        return OrderLib.encode(order);
    }

    function idByTheBook(StandardOrder calldata order) external view returns (bytes32) {
        return keccak256(
            abi.encodePacked(
                block.chainid,
                address(this),
                order.user,
                order.nonce,
                order.expires,
                order.fillDeadline,
                order.inputOracle,
                keccak256(abi.encodePacked(order.inputs)),
                abi.encode(order.outputs)
            )
        );
    }
}

/// @notice test/vectors/orders.json, shared with TypeScript, where viem and ethers computed it.
contract GoldenTest is Base {
    string private json;

    function setUp() public override {
        super.setUp();
        json = vm.readFile("test/vectors/orders.json");
    }

    function text(string memory a, string memory b) internal pure returns (string memory) {
        return string.concat(a, b);
    }

    function golden(string memory key) internal view returns (bytes32) {
        return vm.parseJsonBytes32(json, key);
    }

    function test_typehashes() public view {
        eq(OrderLib.MANDATE_OUTPUT_TYPEHASH, golden(".typehashes.MandateOutput"), "MandateOutput");
        eq(OrderLib.STANDARD_ORDER_TYPEHASH, golden(".typehashes.StandardOrder"), "StandardOrder");
        eq(OrderLib.PERMIT2_WITNESS_TYPEHASH, golden(".typehashes.Permit2Witness"), "Permit2Witness");
        eq(OrderLib.ALLOW_OPEN_TYPEHASH, golden(".typehashes.AllowOpen"), "AllowOpen");
        eq(OrderLib.QUOTE_COMMITMENT_TYPEHASH, golden(".typehashes.QuoteCommitment"), "QuoteCommitment");
        eq(OrderLib.QUOTE_TREE_TYPEHASH, golden(".typehashes.QuoteTree"), "QuoteTree");
        eq(OrderLib.FILL_APPROVAL_TYPEHASH, golden(".typehashes.FillApproval"), "FillApproval");
        eq(OrderLib.RELEASE_TYPEHASH, golden(".typehashes.Release"), "Release");
    }

    function test_topics() public view {
        eq(IEscrow.Open.selector, golden(".topics.Open"), "Open");
        eq(IEscrow.Finalised.selector, golden(".topics.Finalised"), "Finalised");
        eq(IEscrow.Refunded.selector, golden(".topics.Refunded"), "Refunded");
        eq(IEscrow.OutputFilled.selector, golden(".topics.OutputFilled"), "OutputFilled");
        eq(IInputOracle.OutputProven.selector, golden(".topics.OutputProven"), "OutputProven");
    }

    function selector(string memory key, bytes4 ours) internal view {
        vm.assertEq(vm.parseJsonBytes(json, text(".selectors.", key)), abi.encodePacked(ours), key);
    }

    function test_selectors() public view {
        selector("open", IEscrow.open.selector);
        selector("openFor", IEscrow.openFor.selector);
        selector("finalise", IEscrow.finalise.selector);
        selector("finaliseWithSignature", IEscrow.finaliseWithSignature.selector);
        selector("refund", IEscrow.refund.selector);
        selector("orderIdentifier", IEscrow.orderIdentifier.selector);
        selector("orderStatus", IEscrowBase.orderStatus.selector);
        selector("fill", IEscrow.fill.selector);
        selector("fillOrderOutputs", IEscrow.fillOrderOutputs.selector);
        selector("hasAttested", IAttester.hasAttested.selector);
        selector("isProven", IInputOracle.isProven.selector);
        selector("efficientRequireProven", IInputOracle.efficientRequireProven.selector);
    }

    function readOutput(string memory at_) internal view returns (MandateOutput memory o) {
        o.oracle = golden(text(at_, ".oracle"));
        o.settler = golden(text(at_, ".settler"));
        o.chainId = vm.parseJsonUint(json, text(at_, ".chainId"));
        o.token = golden(text(at_, ".token"));
        o.amount = vm.parseJsonUint(json, text(at_, ".amount"));
        o.recipient = golden(text(at_, ".recipient"));
        o.callbackData = vm.parseJsonBytes(json, text(at_, ".callbackData"));
        o.context = vm.parseJsonBytes(json, text(at_, ".context"));
    }

    function readOrder(string memory at_) internal view returns (StandardOrder memory order) {
        order.user = vm.parseJsonAddress(json, text(at_, ".user"));
        order.nonce = vm.parseJsonUint(json, text(at_, ".nonce"));
        order.originChainId = vm.parseJsonUint(json, text(at_, ".originChainId"));
        order.expires = uint32(vm.parseJsonUint(json, text(at_, ".expires")));
        order.fillDeadline = uint32(vm.parseJsonUint(json, text(at_, ".fillDeadline")));
        order.inputOracle = vm.parseJsonAddress(json, text(at_, ".inputOracle"));
        uint256 n = count(text(at_, ".inputs"));
        order.inputs = new uint256[2][](n);
        for (uint256 i; i < n; ++i) {
            string memory row = string.concat(at_, ".inputs[", vm.toString(i), "]");
            order.inputs[i] = [vm.parseJsonUint(json, text(row, "[0]")), vm.parseJsonUint(json, text(row, "[1]"))];
        }
        n = count(text(at_, ".outputs"));
        order.outputs = new MandateOutput[](n);
        for (uint256 i; i < n; ++i) {
            order.outputs[i] = readOutput(string.concat(at_, ".outputs[", vm.toString(i), "]"));
        }
    }

    function count(string memory array) internal view returns (uint256 n) {
        while (vm.keyExistsJson(json, string.concat(array, "[", vm.toString(n), "]"))) ++n;
    }

    /// @dev The escrow of the vectors' domain, with the deployed code.
    function vectorEscrow() internal returns (IEscrow place) {
        address where = vm.parseJsonAddress(json, ".domain.verifyingContract");
        vm.chainId(vm.parseJsonUint(json, ".domain.chainId"));
        // Deployed on another chain, so that the domain is the one of here and now and not the constructor's.
        vm.etch(where, address(escrow).code);
        return IEscrow(where);
    }

    function test_orders() public {
        IEscrow place = vectorEscrow();
        uint256 n = count(".orders");
        ok(n >= 4, "orders");
        for (uint256 i; i < n; ++i) {
            checkOrder(place, string.concat(".orders[", vm.toString(i), "]"));
        }
    }

    function checkOrder(IEscrow place, string memory at_) internal view {
        StandardOrder memory order = readOrder(text(at_, ".order"));
        bytes32 orderId = golden(text(at_, ".orderId"));
        eq(place.orderIdentifier(order), orderId, "orderId");
        eq(hashes.structHash(order), golden(text(at_, ".structHash")), "structHash");
        bytes32 digest = vectorDigest(address(place), hashes.structHash(order));
        eq(digest, golden(text(at_, ".digest")), "digest");
        eq(
            hashes.recover(digest, vm.parseJsonBytes(json, text(at_, ".takerSignature"))),
            vm.parseJsonAddress(json, ".taker"),
            "taker"
        );
        for (uint256 k; k < order.outputs.length; ++k) {
            bytes32 expected = golden(string.concat(at_, ".outputHashes[", vm.toString(k), "]"));
            eq(hashes.outputHash(order.outputs[k]), expected, "outputHash");
        }
        checkCommitment(place, text(at_, ".commitment"), orderId);
    }

    function checkCommitment(IEscrow place, string memory at_, bytes32 orderId) internal view {
        bytes32 structHash = keccak256(
            abi.encode(
                OrderLib.QUOTE_COMMITMENT_TYPEHASH,
                orderId,
                golden(text(at_, ".quoteId")),
                vm.parseJsonAddress(json, text(at_, ".lp")),
                vm.parseJsonUint(json, text(at_, ".deadline"))
            )
        );
        bytes32 digest = vectorDigest(address(place), structHash);
        eq(digest, golden(text(at_, ".digest")), "commitment digest");
        eq(
            hashes.recover(digest, vm.parseJsonBytes(json, text(at_, ".signature"))),
            vm.parseJsonAddress(json, ".lp"),
            "commitment signer"
        );
    }

    function vectorDigest(address place, bytes32 structHash) internal pure returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                OrderLib.DOMAIN_TYPEHASH, keccak256("EscrowV0"), keccak256("1"), uint256(31337), place
            )
        );
        return keccak256(abi.encodePacked("\x19\x01", domain, structHash));
    }

    function test_eip5267() public view {
        typedDomainMatches(address(escrow), "EscrowV0");
        typedDomainMatches(address(oracle), "AttestationOracle");
    }

    function typedDomainMatches(address verifier, string memory expected) internal view {
        (bytes1 fields, string memory name, string memory version, uint256 chainId, address place, bytes32 salt,) =
            D(verifier).eip712Domain();
        ok(fields == hex"0f" && salt == 0, "fields");
        vm.assertEq(name, expected, "name");
        vm.assertEq(version, "1", "version");
        eq(chainId, block.chainid, "chain");
        eq(place, verifier, "address");
    }

    /* The hand-written encoders against the compiler's, on orders of every shape. */

    function shape(uint256 seed) internal pure returns (StandardOrder memory order) {
        order.user = address(uint160(uint256(keccak256(abi.encode(seed, "user")))));
        order.nonce = uint256(keccak256(abi.encode(seed, "nonce")));
        order.originChainId = seed;
        order.expires = uint32(seed >> 8);
        order.fillDeadline = uint32(seed >> 40);
        order.inputOracle = address(uint160(seed >> 72));
        order.inputs = new uint256[2][](seed % 4);
        for (uint256 i; i < order.inputs.length; ++i) {
            order.inputs[i] = [uint256(keccak256(abi.encode(seed, i))), seed ^ i];
        }
        order.outputs = new MandateOutput[]((seed >> 2) % 4);
        for (uint256 i; i < order.outputs.length; ++i) {
            bytes32 h = keccak256(abi.encode(seed, "output", i));
            order.outputs[i] = MandateOutput(
                h, ~h, uint256(h) >> 9, h ^ bytes32(seed), uint256(h) >> i, h << 3, fill(h, 71), fill(~h, 90)
            );
        }
    }

    function fill(bytes32 seed, uint256 below) internal pure returns (bytes memory data) {
        data = new bytes(uint256(keccak256(abi.encode(seed))) % below);
        for (uint256 i; i < data.length; ++i) {
            data[i] = seed[i % 32] | 0x01;
        }
    }

    function test_fuzz_encoding(uint256 seed) public {
        Encoder encoder = new Encoder();
        StandardOrder memory order = shape(seed);
        vm.assertEq(encoder.encode(order), abi.encode(order), "abi.encode");
        eq(encoder.id(order), encoder.idByTheBook(order), "id");
        eq(hashes.structHash(order), structHashByTheBook(order), "struct hash");
        for (uint256 i; i < order.outputs.length; ++i) {
            MandateOutput memory o = order.outputs[i];
            eq(hashes.outputHash(o), outputHashByTheBook(o), "output hash");
            bytes memory payload = hashes.payload(bytes32(seed), ~bytes32(seed), uint32(seed), o);
            eq(hashes.payloadHash(bytes32(seed), ~bytes32(seed), uint32(seed), o), keccak256(payload), "payload");
        }
    }

    function structHashByTheBook(StandardOrder memory order) internal pure returns (bytes32) {
        bytes32[] memory rows = new bytes32[](order.inputs.length);
        for (uint256 i; i < rows.length; ++i) {
            rows[i] = keccak256(abi.encodePacked(order.inputs[i][0], order.inputs[i][1]));
        }
        bytes32[] memory outs = new bytes32[](order.outputs.length);
        for (uint256 i; i < outs.length; ++i) {
            MandateOutput memory o = order.outputs[i];
            bytes memory head = abi.encode(
                OrderLib.MANDATE_OUTPUT_TYPEHASH, o.oracle, o.settler, o.chainId, o.token, o.amount, o.recipient
            );
            outs[i] = keccak256(abi.encodePacked(head, keccak256(o.callbackData), keccak256(o.context)));
        }
        bytes memory first = abi.encode(
            OrderLib.STANDARD_ORDER_TYPEHASH,
            order.user,
            order.nonce,
            order.originChainId,
            order.expires,
            order.fillDeadline,
            order.inputOracle
        );
        return keccak256(
            abi.encodePacked(first, keccak256(abi.encodePacked(rows)), keccak256(abi.encodePacked(outs)))
        );
    }

    function outputHashByTheBook(MandateOutput memory o) internal pure returns (bytes32) {
        return keccak256(abi.encode(o));
    }
}

interface D {
    function eip712Domain()
        external
        view
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory);
}
