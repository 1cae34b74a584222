// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {IAttestationOracle} from "./interfaces/IAttestationOracle.sol";
import {IEscrow} from "./interfaces/IEscrow.sol";
import {CommitteeLib} from "./libraries/CommitteeLib.sol";
import {OrderLib} from "./libraries/OrderLib.sol";
import {SignatureLib} from "./libraries/SignatureLib.sol";

/// @title AttestationOracle
/// @notice See {IAttestationOracle}. Unaudited.
contract AttestationOracle is IAttestationOracle, EIP712, Ownable2Step {
    bytes32 private constant ATTESTATION_TYPEHASH =
        keccak256("Attestation(uint256 remoteChainId,bytes32 application,bytes32 payloadHash)");
    bytes32 private constant ATTESTATION_LIST_TYPEHASH =
        keccak256("AttestationList(uint256 remoteChainId,bytes32 application,bytes32[] payloadHashes)");

    /// @dev One slot, so that a proof reads one. Signers are kept as the code of a contract: a word of storage for each would
    /// cost four times as much to read.
    struct Committee {
        address members;
        uint16 threshold;
        /// @dev From when `_next` takes this one's place; zero: nothing is scheduled.
        uint40 replacedFrom;
    }

    /// @dev As many fit into a contract's code.
    uint256 private constant MOST_SIGNERS = 500;

    uint256 public immutable ROTATION_DELAY;

    mapping(uint256 remoteChainId => mapping(bytes32 application => mapping(bytes32 payloadHash => bool))) private
        _proven;
    Committee private _current;
    Committee private _next;

    constructor(address owner_, address[] memory signers_, uint256 threshold_, uint256 rotationDelay)
        EIP712("AttestationOracle", "1")
        Ownable(owner_)
    {
        if (rotationDelay == 0 || rotationDelay >> 32 != 0) revert InvalidDelay(rotationDelay);
        ROTATION_DELAY = rotationDelay;
        _current = _made(signers_, threshold_);
        emit SignersScheduled(signers_, threshold_, block.timestamp);
    }

    /* COMMITTEE */

    function signers() external view returns (address[] memory) {
        return _signersOf(_active());
    }

    function threshold() external view returns (uint256) {
        return _active().threshold;
    }

    function scheduledSigners() external view returns (address[] memory, uint256, uint256) {
        uint256 activeFrom = _current.replacedFrom;
        if (block.timestamp >= activeFrom) return (new address[](0), 0, 0);
        return (_signersOf(_next), _next.threshold, activeFrom);
    }

    function scheduleSigners(address[] calldata signers_, uint256 threshold_) external onlyOwner {
        uint256 activeFrom = block.timestamp + ROTATION_DELAY;
        Committee memory current = _active();
        current.replacedFrom = uint40(activeFrom);
        _current = current;
        _next = _made(signers_, threshold_);
        emit SignersScheduled(signers_, threshold_, activeFrom);
    }

    function _active() private view returns (Committee memory committee) {
        committee = _current;
        if (committee.replacedFrom != 0 && block.timestamp >= committee.replacedFrom) committee = _next;
    }

    /// @dev A contract whose code is a STOP and the signers.
    function _made(address[] memory signers_, uint256 threshold_) private returns (Committee memory committee) {
        uint256 n = signers_.length;
        if (threshold_ == 0 || threshold_ > n) revert InvalidThreshold(threshold_, n);
        if (n > MOST_SIGNERS) revert TooManySigners(n);
        address last;
        for (uint256 i; i < n; ++i) {
            if (signers_[i] <= last) revert UnsortedSigners(last, signers_[i]);
            last = signers_[i];
        }
        // Returns what follows its own 11 bytes.
        bytes memory creation = abi.encodePacked(hex"600b5981380380925939f300", signers_);
        address members;
        assembly ("memory-safe") {
            members := create(0, add(creation, 0x20), mload(creation))
        }
        if (members == address(0)) revert TooManySigners(n);
        committee.members = members;
        committee.threshold = uint16(threshold_);
    }

    function _signersOf(Committee memory committee) private view returns (address[] memory list) {
        address members = committee.members;
        assembly ("memory-safe") {
            let size := sub(extcodesize(members), 1)
            list := mload(0x40)
            mstore(list, shr(5, size))
            extcodecopy(members, add(list, 0x20), 1, size)
            mstore(0x40, add(add(list, 0x20), size))
        }
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
        Committee memory committee = _active();
        uint256 least = committee.threshold;
        if (each < least || each * n != signatures.length) {
            revert WrongSignatureCount(least * n, signatures.length);
        }
        address[] memory members = _signersOf(committee);
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
            m = CommitteeLib.behind(members, m, signer);
            if (m == 0) revert InvalidAttestation(k, signer);
        }
    }

    function _prove(uint256 remoteChainId, bytes32 application, bytes32 payloadHash) private {
        if (_proven[remoteChainId][application][payloadHash]) return;
        _proven[remoteChainId][application][payloadHash] = true;
        emit OutputProven(remoteChainId, OrderLib.toWord(address(this)), application, payloadHash);
    }

    /* PROOF FOR ONE TRANSACTION */

    function submitAndFinalise(
        uint256 remoteChainId,
        bytes32 application,
        bytes32[] calldata payloadHashes,
        bytes[] calldata signatures,
        address escrow,
        bytes[] calldata finalisations
    ) external returns (uint256 failed) {
        bytes32 structHash = payloadHashes.length == 1
            ? keccak256(abi.encode(ATTESTATION_TYPEHASH, remoteChainId, application, payloadHashes[0]))
            : keccak256(
                abi.encode(
                    ATTESTATION_LIST_TYPEHASH,
                    remoteChainId,
                    application,
                    keccak256(abi.encodePacked(payloadHashes))
                )
            );
        if (payloadHashes.length == 0) revert NothingToProve();
        // The answer has a bit for each.
        if (finalisations.length > 256) revert TooManyFinalisations(finalisations.length);
        Committee memory committee = _active();
        if (signatures.length < committee.threshold) {
            revert WrongSignatureCount(committee.threshold, signatures.length);
        }
        _checkSignatures(_signersOf(committee), _hashTypedDataV4(structHash), signatures, 0, signatures.length);
        for (uint256 i; i < payloadHashes.length; ++i) {
            bytes32 slot = _slotOf(remoteChainId, application, payloadHashes[i]);
            assembly ("memory-safe") {
                tstore(slot, 1)
            }
            emit OutputProven(remoteChainId, OrderLib.toWord(address(this)), application, payloadHashes[i]);
        }
        for (uint256 i; i < finalisations.length; ++i) {
            bytes calldata data = finalisations[i];
            if (bytes4(data) != IEscrow.finalise.selector) revert NotAFinalisation(i);
            bool success;
            assembly ("memory-safe") {
                let place := mload(0x40)
                calldatacopy(place, data.offset, data.length)
                // Nothing that comes back is copied, however long it is.
                success := call(gas(), escrow, 0, place, data.length, 0, 0)
            }
            if (!success) {
                // Alone it takes the proof with it, so that whoever sent it sees why.
                if (finalisations.length == 1) {
                    assembly ("memory-safe") {
                        returndatacopy(0, 0, returndatasize())
                        revert(0, returndatasize())
                    }
                }
                failed |= 1 << i;
            }
        }
        if (failed != 0) emit Failed(failed);
    }

    /// @dev keccak256(abi.encode(remoteChainId, application, payloadHash))
    function _slotOf(uint256 remoteChainId, bytes32 application, bytes32 payloadHash)
        private
        pure
        returns (bytes32 slot)
    {
        assembly ("memory-safe") {
            let p := mload(0x40)
            mstore(p, remoteChainId)
            mstore(add(p, 0x20), application)
            mstore(add(p, 0x40), payloadHash)
            slot := keccak256(p, 0x60)
        }
    }

    function _isProven(uint256 remoteChainId, bytes32 application, bytes32 payloadHash)
        private
        view
        returns (bool proven)
    {
        bytes32 slot = _slotOf(remoteChainId, application, payloadHash);
        assembly ("memory-safe") {
            proven := tload(slot)
        }
        if (!proven) proven = _proven[remoteChainId][application][payloadHash];
    }

    function isProven(uint256 remoteChainId, bytes32, bytes32 application, bytes32 dataHash)
        external
        view
        returns (bool)
    {
        return _isProven(remoteChainId, application, dataHash);
    }

    function efficientRequireProven(bytes calldata proofSeries) external view {
        if (proofSeries.length == 0 || proofSeries.length % 128 != 0) revert NothingToProve();
        for (uint256 from; from < proofSeries.length; from += 128) {
            (uint256 remoteChainId, bytes32 application, bytes32 payloadHash) = (0, 0, 0);
            // Within the series: its length is a multiple of an item's.
            assembly ("memory-safe") {
                let item := add(proofSeries.offset, from)
                remoteChainId := calldataload(item)
                application := calldataload(add(item, 0x40))
                payloadHash := calldataload(add(item, 0x60))
            }
            if (!_isProven(remoteChainId, application, payloadHash)) {
                revert NotProven(remoteChainId, application, payloadHash);
            }
        }
    }
}
