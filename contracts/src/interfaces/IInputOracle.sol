// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IInputOracle
/// @notice What the escrow of the origin chain asks of the oracle that an order names: was this payload attested by that
/// application on that chain? (The Open Intents Framework's interface.)
interface IInputOracle {
    /// @notice A payload is now proven.
    event OutputProven(uint256 chainid, bytes32 remoteIdentifier, bytes32 application, bytes32 payloadHash);

    /// @notice Whether the payload is proven.
    function isProven(uint256 remoteChainId, bytes32 remoteOracle, bytes32 application, bytes32 dataHash)
        external
        view
        returns (bool);

    /// @notice Reverts unless every item of the series is proven.
    /// @param proofSeries Items of 128 bytes: remoteChainId, remoteOracle, application, dataHash.
    function efficientRequireProven(bytes calldata proofSeries) external view;
}
