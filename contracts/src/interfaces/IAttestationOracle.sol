// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IInputOracle} from "./IInputOracle.sol";

/// @title IAttestationOracle
/// @notice Fills on other chains, proven by m of n signers who watched them. UNAUDITED.
///
/// A signer signs `Attestation(uint256 remoteChainId,bytes32 application,bytes32 payloadHash)` in the EIP-712 domain
/// "AttestationOracle", "1", this chain, this address: "on remoteChainId the contract `application` (left-padded) recorded a
/// fill whose FillDescription has this hash, and that block is final for me". A payload holds the orderId, which holds the
/// origin chain and escrow, so a proof serves one output of one order. Proofs are never taken back.
///
/// `remoteOracle` in isProven and efficientRequireProven is not looked at: signers vouch for the fill itself, whatever
/// oracle address its output names on its own chain.
///
/// The owner changes signers, with a delay and nothing else. The delay should outlast every open order: then nobody's order can
/// be decided by signers that were not announced when it was opened. m signers together can steal every open input that
/// names this oracle.
interface IAttestationOracle is IInputOracle {
    /// @notice A threshold is zero or above the number of signers.
    error InvalidThreshold(uint256 threshold, uint256 signers);
    /// @notice Signers have to ascend, from above zero.
    error UnsortedSigners(address previous, address next);
    /// @notice More than 500 signers.
    error TooManySigners(uint256 signers);
    /// @notice The delay is zero or not in seconds.
    error InvalidDelay(uint256 delay);
    /// @notice An empty list or a series that is not made of whole items.
    error NothingToProve();
    /// @notice Each payload needs the same number of signatures, at least the threshold.
    error WrongSignatureCount(uint256 expected, uint256 actual);
    /// @notice Signature number `index` is by `signer` (zero: by nobody), who is no signer, or out of order, or there twice.
    error InvalidAttestation(uint256 index, address signer);
    /// @notice The payload is not proven.
    error NotProven(uint256 remoteChainId, bytes32 application, bytes32 payloadHash);

    /// @notice Entry number `index` is not a call of finalise.
    error NotAFinalisation(uint256 index);
    /// @notice More than 256 calls of finalise.
    error TooManyFinalisations(uint256 finalisations);

    /// @param finalisations Bit i is set when entry i reverted. Not emitted when none did.
    event Failed(uint256 finalisations);
    /// @notice These signers decide from `activeFrom` (Unix seconds) on.
    event SignersScheduled(address[] signers, uint256 threshold, uint256 activeFrom);

    /// @notice Seconds between a change of signers and its effect.
    function ROTATION_DELAY() external view returns (uint256);
    /// @notice Who signs now, ascending.
    function signers() external view returns (address[] memory);
    /// @notice How many of them have to.
    function threshold() external view returns (uint256);
    /// @notice The change to come; empty and zero when there is none.
    function scheduledSigners()
        external
        view
        returns (address[] memory signers, uint256 threshold, uint256 activeFrom);

    /// @notice Owner only: replaces the signers after the delay, and any change still to come at once.
    function scheduleSigners(address[] calldata signers, uint256 threshold) external;

    /// @notice Proves payloads. Anyone may call. Proven ones may come again.
    /// @param remoteChainId The chain of the fills.
    /// @param application The escrow there, left-padded.
    /// @param payloadHashes Hashes of FillDescriptions.
    /// @param signatures For each payload in turn the same number of signatures, their signers ascending. 65 or 64 bytes.
    function submit(
        uint256 remoteChainId,
        bytes32 application,
        bytes32[] calldata payloadHashes,
        bytes[] calldata signatures
    ) external;
    /// @notice Proves payloads for this transaction alone, and finalises orders with them: what is proven this way, isProven says only
    /// until the transaction ends. Anyone may call.
    /// @param payloadHashes Hashes of FillDescriptions of one chain and application.
    /// @param signatures Once for all: over `Attestation` of a single payload, over
    /// `AttestationList(uint256 remoteChainId,bytes32 application,bytes32[] payloadHashes)` of several. Signers ascend.
    /// @param escrow Gets the calls. It need not be this oracle's: whoever is called decides what the proofs are worth.
    /// @param finalisations Calls of `IEscrow.finalise`, with the selector. A single one that reverts takes everything with it; of
    /// several each stands on its own.
    /// @return failed Bit i is set when entry i reverted.
    function submitAndFinalise(
        uint256 remoteChainId,
        bytes32 application,
        bytes32[] calldata payloadHashes,
        bytes[] calldata signatures,
        address escrow,
        bytes[] calldata finalisations
    ) external returns (uint256 failed);
}
