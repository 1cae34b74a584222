// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MandateOutput, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {OrderLib, Terms} from "../../src/libraries/OrderLib.sol";
import {SignatureLib} from "../../src/libraries/SignatureLib.sol";

/// @notice OrderLib and SignatureLib for callers with structs in memory. That it computes the right things is for Golden.t.sol.
contract Hashes {
    function structHash(StandardOrder calldata order) external pure returns (bytes32) {
        return OrderLib.structHash(order);
    }

    function witnessHash(StandardOrder calldata order) external pure returns (bytes32) {
        return OrderLib.witnessHash(order);
    }

    function outputHash(MandateOutput calldata output) external pure returns (bytes32) {
        return OrderLib.outputHash(output);
    }

    function fillHash(MandateOutput calldata output) external pure returns (bytes32) {
        return OrderLib.fillHash(output);
    }

    function payloadHash(bytes32 solver, bytes32 orderId, uint32 timestamp, MandateOutput calldata output)
        external
        pure
        returns (bytes32)
    {
        return OrderLib.payloadHash(solver, orderId, timestamp, output);
    }

    function payload(bytes32 solver, bytes32 orderId, uint32 timestamp, MandateOutput calldata output)
        external
        pure
        returns (bytes memory)
    {
        return abi.encodePacked(
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
        );
    }

    function terms(bytes calldata context) external pure returns (Terms memory) {
        return OrderLib.terms(context);
    }

    function recover(bytes32 digest, bytes calldata signature) external pure returns (address) {
        return SignatureLib.recover(digest, signature);
    }
}
