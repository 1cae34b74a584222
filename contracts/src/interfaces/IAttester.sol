// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IAttester
/// @notice What an oracle asks of the contract where fills happen. The oracle is the caller: only payloads of outputs that
/// name it count.
interface IAttester {
    /// @notice Whether every payload (a FillDescription) describes a fill made here. False for no payloads.
    function hasAttested(bytes[] calldata payloads) external view returns (bool);
}
