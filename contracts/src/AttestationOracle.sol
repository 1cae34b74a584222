// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {IAttestationOracle} from "./interfaces/IAttestationOracle.sol";
import {OrderLib} from "./libraries/OrderLib.sol";
import {SignatureLib} from "./libraries/SignatureLib.sol";

/// @title AttestationOracle
/// @notice See {IAttestationOracle}. Unaudited.
contract AttestationOracle is IAttestationOracle, EIP712, Ownable2Step {
    bytes32 private constant ATTESTATION_TYPEHASH =
        keccak256("Attestation(uint256 remoteChainId,bytes32 application,bytes32 payloadHash)");

    struct Committee {
        uint256 activeFrom;
        uint256 threshold;
        address[] signers;
    }

    uint256 public immutable ROTATION_DELAY;

    mapping(uint256 remoteChainId => mapping(bytes32 application => mapping(bytes32 payloadHash => bool))) private
        _proven;
    Committee private _current;
    /// @dev Takes over at its activeFrom; zero there: none is scheduled.
    Committee private _next;

    constructor(address owner_, address[] memory signers_, uint256 threshold_, uint256 rotationDelay)
        EIP712("AttestationOracle", "1")
        Ownable(owner_)
    {
        if (rotationDelay == 0 || rotationDelay >> 32 != 0) revert InvalidDelay(rotationDelay);
        ROTATION_DELAY = rotationDelay;
        _set(_current, signers_, threshold_, block.timestamp);
        emit SignersScheduled(signers_, threshold_, block.timestamp);
    }

    /* COMMITTEE */

    function signers() external view returns (address[] memory) {
        return _active().signers;
    }

    function threshold() external view returns (uint256) {
        return _active().threshold;
    }

    function scheduledSigners() external view returns (address[] memory, uint256, uint256) {
        if (block.timestamp >= _next.activeFrom) return (new address[](0), 0, 0);
        return (_next.signers, _next.threshold, _next.activeFrom);
    }

    function scheduleSigners(address[] calldata signers_, uint256 threshold_) external onlyOwner {
        // What has taken over meanwhile must not be lost with its place.
        if (_next.activeFrom != 0 && block.timestamp >= _next.activeFrom) _current = _next;
        uint256 activeFrom = block.timestamp + ROTATION_DELAY;
        _set(_next, signers_, threshold_, activeFrom);
        emit SignersScheduled(signers_, threshold_, activeFrom);
    }

    function _active() private view returns (Committee storage) {
        return _next.activeFrom != 0 && block.timestamp >= _next.activeFrom ? _next : _current;
    }

    function _set(Committee storage committee, address[] memory signers_, uint256 threshold_, uint256 activeFrom)
        private
    {
        if (threshold_ == 0 || threshold_ > signers_.length) revert InvalidThreshold(threshold_, signers_.length);
        address last;
        for (uint256 i; i < signers_.length; ++i) {
            if (signers_[i] <= last) revert UnsortedSigners(last, signers_[i]);
            last = signers_[i];
        }
        committee.activeFrom = activeFrom;
        committee.threshold = threshold_;
        committee.signers = signers_;
    }

    /* PROOF */

    function submit(
        uint256 remoteChainId,
        bytes32 application,
        bytes32[] calldata payloadHashes,
        bytes[] calldata signatures
    ) external {
        uint256 n = payloadHashes.length;
        if (n == 0) revert NothingToProve();
        uint256 each = signatures.length / n;
        uint256 least = _active().threshold;
        if (each < least || each * n != signatures.length) {
            revert WrongSignatureCount(least * n, signatures.length);
        }
        address[] memory members = _active().signers;
        for (uint256 i; i < n; ++i) {
            bytes32 structHash =
                keccak256(abi.encode(ATTESTATION_TYPEHASH, remoteChainId, application, payloadHashes[i]));
            _checkSignatures(members, _hashTypedDataV4(structHash), signatures, i * each, each);
            _prove(remoteChainId, application, payloadHashes[i]);
        }
    }

    /// @dev Both lists ascend, so a member is passed over once and can count only once.
    function _checkSignatures(
        address[] memory members,
        bytes32 digest,
        bytes[] calldata signatures,
        uint256 first,
        uint256 count
    ) private pure {
        uint256 m;
        for (uint256 k = first; k < first + count; ++k) {
            address signer = SignatureLib.recover(digest, signatures[k]);
            while (m < members.length && members[m] < signer) ++m;
            if (m == members.length || members[m] != signer) revert InvalidAttestation(k, signer);
            ++m;
        }
    }

    function _prove(uint256 remoteChainId, bytes32 application, bytes32 payloadHash) private {
        if (_proven[remoteChainId][application][payloadHash]) return;
        _proven[remoteChainId][application][payloadHash] = true;
        emit OutputProven(remoteChainId, OrderLib.toWord(address(this)), application, payloadHash);
    }

    function isProven(uint256 remoteChainId, bytes32, bytes32 application, bytes32 dataHash)
        external
        view
        returns (bool)
    {
        return _proven[remoteChainId][application][dataHash];
    }

    function efficientRequireProven(bytes calldata proofSeries) external view {
        if (proofSeries.length == 0 || proofSeries.length % 128 != 0) revert NothingToProve();
        for (uint256 from; from < proofSeries.length; from += 128) {
            (uint256 remoteChainId,, bytes32 application, bytes32 payloadHash) =
                abi.decode(proofSeries[from:from + 128], (uint256, bytes32, bytes32, bytes32));
            if (!_proven[remoteChainId][application][payloadHash]) {
                revert NotProven(remoteChainId, application, payloadHash);
            }
        }
    }
}
