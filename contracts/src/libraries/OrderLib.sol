// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {IEscrow, MandateOutput, StandardOrder} from "../interfaces/IEscrow.sol";

/// @notice What a 0xe2 context says.
/// @param packed startTime, portionBps, feeBps, relayFee: 32, 16, 16 and 128 bits.
struct Terms {
    bytes32 exclusiveFor;
    uint256 packed;
}

/// @title OrderLib
/// @notice Ids, hashes and contexts of orders: pure functions of their bytes.
library OrderLib {
    bytes32 internal constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 internal constant MANDATE_OUTPUT_TYPEHASH = keccak256(
        "MandateOutput(bytes32 oracle,bytes32 settler,uint256 chainId,bytes32 token,uint256 amount,bytes32 recipient,bytes callbackData,bytes context)"
    );
    bytes32 internal constant STANDARD_ORDER_TYPEHASH = keccak256(
        "StandardOrder(address user,uint256 nonce,uint256 originChainId,uint32 expires,uint32 fillDeadline,address inputOracle,uint256[2][] inputs,MandateOutput[] outputs)MandateOutput(bytes32 oracle,bytes32 settler,uint256 chainId,bytes32 token,uint256 amount,bytes32 recipient,bytes callbackData,bytes context)"
    );
    bytes32 internal constant PERMIT2_WITNESS_TYPEHASH = keccak256(
        "Permit2Witness(address user,uint32 expires,address inputOracle,MandateOutput[] outputs)MandateOutput(bytes32 oracle,bytes32 settler,uint256 chainId,bytes32 token,uint256 amount,bytes32 recipient,bytes callbackData,bytes context)"
    );
    /// @dev What Permit2 appends to its own stub: the witness member, then the types it refers to in alphabetical order.
    string internal constant PERMIT2_WITNESS_TYPESTRING =
        "Permit2Witness witness)MandateOutput(bytes32 oracle,bytes32 settler,uint256 chainId,bytes32 token,uint256 amount,bytes32 recipient,bytes callbackData,bytes context)Permit2Witness(address user,uint32 expires,address inputOracle,MandateOutput[] outputs)TokenPermissions(address token,uint256 amount)";
    bytes32 internal constant ALLOW_OPEN_TYPEHASH =
        keccak256("AllowOpen(bytes32 orderId,bytes32 destination,bytes call)");
    bytes32 internal constant QUOTE_COMMITMENT_TYPEHASH =
        keccak256("QuoteCommitment(bytes32 orderId,bytes32 quoteId,address lp,uint32 deadline)");
    bytes32 internal constant QUOTE_TREE_TYPEHASH = keccak256("QuoteTree(bytes32 root)");
    bytes32 internal constant FILL_APPROVAL_TYPEHASH =
        keccak256("FillApproval(bytes32 orderId,bytes32 outputHash,uint32 deadline)");
    bytes32 internal constant RELEASE_TYPEHASH = keccak256("Release(bytes32 orderId)");

    bytes1 internal constant LIMIT = 0x00;
    bytes1 internal constant EXCLUSIVE_LIMIT = 0xe0;
    bytes1 internal constant QUOTE = 0xe2;

    /// @notice The EIP-712 domain that everything is signed in.
    function domainSeparator() internal view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN_TYPEHASH, keccak256("EscrowV0"), keccak256("1"), block.chainid, address(this)));
    }

    /// @notice The order's id on this contract and chain. originChainId is not part of it: check it apart.
    function id(StandardOrder calldata order) internal view returns (bytes32 orderId) {
        (orderId,) = idAndEncoding(order);
    }

    /// @notice The id, and abi.encode(order), of which it hashes the end and Open logs the whole.
    /// @dev The id is keccak256(abi.encodePacked(block.chainid, address(this), user, nonce, expires, fillDeadline, inputOracle,
    /// keccak256(abi.encodePacked(inputs)), abi.encode(outputs))). Members are read by the compiler's rules, which refuse
    /// dirty upper bits and lengths beyond the calldata; only the copying is done by hand, at a third of the gas.
    function idAndEncoding(StandardOrder calldata order) internal view returns (bytes32 orderId, bytes memory data) {
        data = encode(order);
        (address user, uint256 nonce, address inputOracle) = (order.user, order.nonce, order.inputOracle);
        (uint256 expires, uint256 fillDeadline) = (order.expires, order.fillDeadline);
        assembly ("memory-safe") {
            // data: length, 0x20, eight words of head, count of inputs, inputs, outputs as abi.encode(outputs) from its second word.
            let inputs := mload(add(data, 0x140))
            let rows := add(data, 0x160)
            let outputs := add(rows, shl(6, inputs))
            let size := sub(add(add(data, 0x20), mload(data)), outputs)
            let p := mload(0x40)
            mstore(p, chainid())
            mstore(add(p, 0x20), shl(96, address()))
            mstore(add(p, 0x34), shl(96, user))
            mstore(add(p, 0x48), nonce)
            mstore(add(p, 0x68), shl(224, expires))
            mstore(add(p, 0x6c), shl(224, fillDeadline))
            mstore(add(p, 0x70), shl(96, inputOracle))
            mstore(add(p, 0x84), keccak256(rows, shl(6, inputs)))
            mstore(add(p, 0xa4), 0x20)
            mcopy(add(p, 0xc4), outputs, size)
            orderId := keccak256(p, add(0xc4, size))
        }
    }

    /// @notice abi.encode(order).
    function encode(StandardOrder calldata order) internal pure returns (bytes memory data) {
        uint256[2][] calldata inputs = order.inputs;
        MandateOutput[] calldata outputs = order.outputs;
        uint256 offsets;
        assembly ("memory-safe") {
            data := mload(0x40)
            let head := add(data, 0x40)
            let p := add(head, 0x100)
            mstore(add(data, 0x20), 0x20)
            calldatacopy(head, order, 0xc0) // user to inputOracle
            mstore(add(head, 0xc0), 0x100)
            mstore(p, inputs.length)
            calldatacopy(add(p, 0x20), inputs.offset, shl(6, inputs.length))
            p := add(add(p, 0x20), shl(6, inputs.length))
            mstore(add(head, 0xe0), sub(p, head))
            mstore(p, outputs.length)
            offsets := add(p, 0x20)
            mstore(0x40, add(offsets, shl(5, outputs.length)))
        }
        for (uint256 i; i < outputs.length; ++i) {
            assembly ("memory-safe") {
                mstore(add(offsets, shl(5, i)), sub(mload(0x40), offsets))
            }
            append(outputs[i]);
        }
        assembly ("memory-safe") {
            mstore(data, sub(mload(0x40), add(data, 0x20)))
        }
    }

    /// @notice Writes the output as abi.encode would from the free memory on, and moves the free memory behind it.
    /// @return data The output's callbackData.
    function append(MandateOutput calldata output) internal pure returns (bytes calldata data) {
        data = output.callbackData;
        if (data.length > type(uint16).max) revert IEscrow.TooLong(data.length);
        bytes calldata context = output.context;
        assembly ("memory-safe") {
            function appendBytes(p, start, length) -> end {
                end := add(p, and(add(length, 0x3f), not(0x1f)))
                mstore(sub(end, 0x20), 0) // pads the last word
                mstore(p, length)
                calldatacopy(add(p, 0x20), start, length)
            }
            let p := mload(0x40)
            calldatacopy(p, output, 0xc0) // oracle to recipient
            mstore(add(p, 0xc0), 0x100)
            let end := appendBytes(add(p, 0x100), data.offset, data.length)
            mstore(add(p, 0xe0), sub(end, p))
            end := appendBytes(end, context.offset, context.length)
            mstore(0x40, end)
        }
    }

    /// @notice EIP-712 struct hash of an order that `id` has read.
    function structHash(StandardOrder calldata order) internal pure returns (bytes32 hash) {
        bytes32 inputs = inputsStructHash(order.inputs);
        bytes32 outputs = outputsStructHash(order.outputs);
        bytes32 typehash = STANDARD_ORDER_TYPEHASH;
        assembly ("memory-safe") {
            let p := mload(0x40)
            mstore(p, typehash)
            calldatacopy(add(p, 0x20), order, 0xc0) // user to inputOracle
            mstore(add(p, 0xe0), inputs)
            mstore(add(p, 0x100), outputs)
            hash := keccak256(p, 0x120)
        }
    }

    /// @notice EIP-712 struct hash of the witness that a Permit2 signature carries.
    function witnessHash(StandardOrder calldata order) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                PERMIT2_WITNESS_TYPEHASH,
                order.user,
                order.expires,
                order.inputOracle,
                outputsStructHash(order.outputs)
            )
        );
    }

    function inputsStructHash(uint256[2][] calldata inputs) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            let rows := mload(0x40)
            for { let i := 0 } lt(i, inputs.length) { i := add(i, 1) } {
                calldatacopy(0x00, add(inputs.offset, shl(6, i)), 0x40)
                mstore(add(rows, shl(5, i)), keccak256(0x00, 0x40))
            }
            hash := keccak256(rows, shl(5, inputs.length))
        }
    }

    function outputsStructHash(MandateOutput[] calldata outputs) private pure returns (bytes32 hash) {
        uint256 rows;
        assembly ("memory-safe") {
            rows := mload(0x40)
            mstore(0x40, add(rows, shl(5, outputs.length)))
        }
        for (uint256 i; i < outputs.length; ++i) {
            bytes32 row = outputStructHash(outputs[i]);
            assembly ("memory-safe") {
                mstore(add(rows, shl(5, i)), row)
            }
        }
        assembly ("memory-safe") {
            hash := keccak256(rows, shl(5, outputs.length))
        }
    }

    function outputStructHash(MandateOutput calldata output) private pure returns (bytes32 hash) {
        bytes calldata data = output.callbackData;
        bytes calldata context = output.context;
        bytes32 typehash = MANDATE_OUTPUT_TYPEHASH;
        assembly ("memory-safe") {
            function hashBytes(p, start, length) -> h {
                calldatacopy(p, start, length)
                h := keccak256(p, length)
            }
            let p := mload(0x40)
            let dataHash := hashBytes(p, data.offset, data.length)
            mstore(add(p, 0x100), hashBytes(p, context.offset, context.length))
            mstore(p, typehash)
            calldatacopy(add(p, 0x20), output, 0xc0) // oracle to recipient, each a whole word
            mstore(add(p, 0xe0), dataHash)
            hash := keccak256(p, 0x120)
        }
    }

    /// @notice What fill records are kept under: keccak256(abi.encode(output)).
    function outputHash(MandateOutput calldata output) internal pure returns (bytes32) {
        return hashWith(output, output.oracle);
    }

    /// @notice The same for outputs that one fill proves: a FillDescription does not say which oracle asked for it.
    function fillHash(MandateOutput calldata output) internal pure returns (bytes32) {
        return hashWith(output, 0);
    }

    function hashWith(MandateOutput calldata output, bytes32 oracle) private pure returns (bytes32 hash) {
        uint256 p;
        assembly ("memory-safe") {
            p := mload(0x40)
            mstore(p, 0x20)
            mstore(0x40, add(p, 0x20))
        }
        append(output);
        assembly ("memory-safe") {
            mstore(add(p, 0x20), oracle)
            hash := keccak256(p, sub(mload(0x40), p))
            mstore(0x40, p)
        }
    }

    /// @notice Hash of the FillDescription that an oracle has to prove. Both lengths take two bytes: `append` has refused
    /// longer callbackData and `isQuote` longer contexts.
    function payloadHash(bytes32 solver, bytes32 orderId, uint32 timestamp, MandateOutput calldata output)
        internal
        pure
        returns (bytes32)
    {
        return keccak256(
            abi.encodePacked(
                solver,
                orderId,
                timestamp,
                output.token,
                output.amount,
                output.recipient,
                uint16(output.callbackData.length),
                output.callbackData,
                uint16(output.context.length),
                output.context
            )
        );
    }

    /// @notice What a FillDescription says: who filled which order when, and the outputHash it was recorded under if the output
    /// names `oracle`, this contract and this chain.
    function readPayload(bytes calldata payload, bytes32 oracle)
        internal
        view
        returns (bytes32 solver, bytes32 orderId, uint32 timestamp, bytes32 hash)
    {
        if (payload.length < 168) revert IEscrow.InvalidPayload();
        solver = bytes32(payload[:32]);
        orderId = bytes32(payload[32:64]);
        timestamp = uint32(bytes4(payload[64:68]));
        MandateOutput memory output;
        output.oracle = oracle;
        output.settler = toWord(address(this));
        output.chainId = block.chainid;
        output.token = bytes32(payload[68:100]);
        output.amount = uint256(bytes32(payload[100:132]));
        output.recipient = bytes32(payload[132:164]);
        payload = payload[164:];
        (output.callbackData, payload) = shift(payload);
        (output.context, payload) = shift(payload);
        if (payload.length != 0) revert IEscrow.InvalidPayload();
        hash = keccak256(abi.encode(output));
    }

    /// @dev Cuts bytes off that stand behind their length.
    function shift(bytes calldata payload) private pure returns (bytes calldata head, bytes calldata rest) {
        if (payload.length < 2) revert IEscrow.InvalidPayload();
        uint256 end = 2 + uint256(uint16(bytes2(payload)));
        if (payload.length < end) revert IEscrow.InvalidPayload();
        return (payload[2:end], payload[end:]);
    }

    /// @notice EIP-712 struct hash of an LP's commitment to an order.
    function commitmentHash(bytes32 orderId, bytes32 quoteId, address lp, uint32 deadline)
        internal
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(QUOTE_COMMITMENT_TYPEHASH, orderId, quoteId, lp, deadline));
    }

    /// @notice EIP-712 struct hash of a Merkle tree of digests, which an LP signs at once.
    function treeHash(bytes32 root) internal pure returns (bytes32) {
        return Hashes.efficientKeccak256(QUOTE_TREE_TYPEHASH, root);
    }

    /// @notice What is stored of a fill. Never zero.
    function record(bytes32 solver, uint32 timestamp) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(solver, timestamp));
    }

    /// @notice Whether the context is that of a quote. Reverts on contexts that are none of the known.
    function isQuote(bytes calldata context) internal pure returns (bool) {
        uint256 length = context.length;
        bytes1 kind;
        assembly ("memory-safe") {
            kind := and(calldataload(context.offset), shl(248, 0xff))
        }
        if (length == 57 && kind == QUOTE) return true;
        if (length == 0 || (length == 1 && kind == LIMIT) || (length == 37 && kind == EXCLUSIVE_LIMIT)) return false;
        revert IEscrow.InvalidContext(context);
    }

    /// @notice Reads a context that `isQuote`.
    function terms(bytes calldata context) internal pure returns (Terms memory t) {
        assembly ("memory-safe") {
            mstore(t, calldataload(add(context.offset, 1)))
            mstore(add(t, 0x20), shr(64, calldataload(add(context.offset, 33)))) // the last 24 of the 57 bytes
        }
    }

    function startTime(Terms memory t) internal pure returns (uint256) {
        return t.packed >> 160;
    }

    function portionBps(Terms memory t) internal pure returns (uint256) {
        return uint16(t.packed >> 144);
    }

    function feeBps(Terms memory t) internal pure returns (uint256) {
        return uint16(t.packed >> 128);
    }

    function relayFee(Terms memory t) internal pure returns (uint256) {
        return uint128(t.packed);
    }

    /// @notice The account a word stands for. Zero and dirty upper bits revert, so an account has one spelling.
    function toAddress(bytes32 word) internal pure returns (address account) {
        account = address(uint160(uint256(word)));
        if (toWord(account) != word || account == address(0)) revert IEscrow.NotAnAddress(word);
    }

    function toWord(address account) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }
}
