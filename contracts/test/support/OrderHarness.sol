// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {OrderLib} from "../../src/libraries/OrderLib.sol";

/// @notice Every hash that the escrow makes of an order, on the escrow's domain: TypeScript is held to these.
contract OrderHarness is EIP712("EscrowV0", "1") {
    function hashes(StandardOrder calldata order)
        external
        view
        returns (bytes32 orderId, bytes32 digest, bytes32[] memory outputHashes)
    {
        outputHashes = new bytes32[](order.outputs.length);
        for (uint256 i; i < outputHashes.length; ++i) {
            outputHashes[i] = OrderLib.outputHash(order.outputs[i]);
        }
        return (OrderLib.id(order), _hashTypedDataV4(OrderLib.structHash(order)), outputHashes);
    }
}
