// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";

import {IEscrow} from "../interfaces/IEscrow.sol";

/// @title SignatureLib
/// @notice One rule for every signature: ECDSA of 65 or 64 bytes with low s, else ERC-1271 where there is code.
library SignatureLib {
    /// @dev Room for multisigs and for P-256 without a precompile. A caller who forwards less only makes its own call fail.
    uint256 internal constant ERC1271_GAS = 500_000;

    /// @notice The ECDSA signer, or zero when the bytes are no acceptable signature.
    function recover(bytes32 digest, bytes calldata signature) internal pure returns (address signer) {
        if (signature.length == 65) {
            (signer,,) = ECDSA.tryRecoverCalldata(digest, signature);
        } else if (signature.length == 64) {
            bytes32 r;
            bytes32 vs;
            assembly ("memory-safe") {
                r := calldataload(signature.offset)
                vs := calldataload(add(signature.offset, 0x20))
            }
            (signer,,) = ECDSA.tryRecover(digest, r, vs);
        }
    }

    /// @notice Whether the signature is one of a Merkle root: 65 bytes, and 32 for each step from the leaf.
    /// @dev Such lengths mean nothing else to `recover`. An ERC-1271 account may have signatures that long, and is
    /// asked about them as they are.
    function isOfTree(bytes calldata signature) internal pure returns (bool) {
        return signature.length > 65 && signature.length % 32 == 65 % 32;
    }

    /// @notice The root above `leaf`, and the signature without the proof; pairs are hashed in ascending order.
    /// @dev A leaf is the hash of 66 bytes and an inner node of 64, so that neither passes for the other.
    function climb(bytes32 leaf, bytes calldata signature) internal pure returns (bytes32 root, bytes calldata head) {
        root = leaf;
        unchecked {
            for (uint256 i = 65; i < signature.length; i += 32) {
                root = Hashes.commutativeKeccak256(root, bytes32(signature[i:]));
            }
        }
        head = signature[:65];
    }

    /// @notice Whether the contract `account` accepts the signature, at bounded cost whatever it answers.
    function accepts(address account, bytes32 digest, bytes calldata signature) internal view returns (bool ok) {
        if (account.code.length == 0) return false;
        bytes memory data = abi.encodeCall(IERC1271.isValidSignature, (digest, signature));
        bytes32 magic = bytes32(IERC1271.isValidSignature.selector);
        assembly ("memory-safe") {
            ok := staticcall(ERC1271_GAS, account, add(data, 0x20), mload(data), 0x00, 0x20)
            ok := and(ok, and(gt(returndatasize(), 0x1f), eq(mload(0x00), magic)))
        }
    }

    /// @notice The `bytes` that word `i` of ABI-encoded `data` points to, if it lies within.
    function item(bytes calldata data, uint256 i) internal pure returns (bytes calldata result) {
        unchecked {
            uint256 start = uint256(bytes32(data[32 * i:]));
            if (data.length < 32 * i + 32 || start > data.length - 32) revert IEscrow.InvalidPayload();
            result = data[start:];
            uint256 length = uint256(bytes32(result));
            if (length > result.length - 32) revert IEscrow.InvalidPayload();
            return result[32:32 + length];
        }
    }

    /// @notice Whether `account` itself signed.
    function signed(address account, bytes32 digest, bytes calldata signature) internal view returns (bool) {
        return (account != address(0) && recover(digest, signature) == account) || accepts(account, digest, signature);
    }
}
