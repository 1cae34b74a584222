// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice The cheat codes that these tests use.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    struct Gas {
        uint64 gasLimit;
        uint64 gasTotalUsed;
        uint64 gasMemoryUsed;
        int64 gasRefunded;
        uint64 gasRemaining;
    }

    function lastCallGas() external view returns (Gas memory);
    function addr(uint256 key) external pure returns (address);
    function sign(uint256 key, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function warp(uint256 timestamp) external;
    function chainId(uint256 id) external;
    function prank(address sender) external;
    function startPrank(address sender) external;
    function stopPrank() external;
    function deal(address account, uint256 balance) external;
    function mockCall(address callee, bytes calldata data, bytes calldata answer) external;
    function mockCallRevert(address callee, bytes calldata data, bytes calldata reason) external;
    function etch(address account, bytes calldata code) external;
    function label(address account, string calldata name) external;
    function deployCode(string calldata artifact, bytes calldata args) external returns (address);
    function getCode(string calldata artifact) external view returns (bytes memory);
    function expectRevert() external;
    function expectRevert(bytes4 selector) external;
    function expectRevert(bytes calldata data) external;
    function expectPartialRevert(bytes4 selector) external;
    function expectEmit(bool topic1, bool topic2, bool topic3, bool data, address emitter) external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
    function assume(bool condition) external pure;
    function load(address account, bytes32 slot) external view returns (bytes32);
    function readFile(string calldata path) external view returns (string memory);
    function readFileBinary(string calldata path) external view returns (bytes memory);
    function parseJsonBytes(string calldata json, string calldata key) external pure returns (bytes memory);
    function parseJsonBytes32(string calldata json, string calldata key) external pure returns (bytes32);
    function parseJsonUint(string calldata json, string calldata key) external pure returns (uint256);
    function parseJsonAddress(string calldata json, string calldata key) external pure returns (address);
    function keyExistsJson(string calldata json, string calldata key) external view returns (bool);
    function toString(uint256 value) external pure returns (string memory);
    function snapshotValue(string calldata name, uint256 value) external;
    function snapshotValue(string calldata group, string calldata name, uint256 value) external;
    function cool(address target) external;
    function snapshotState() external returns (uint256 id);
    function revertToState(uint256 id) external returns (bool);
    function signAndAttachDelegation(address implementation, uint256 key) external;

    function assertTrue(bool condition, string calldata message) external pure;
    function assertEq(uint256 a, uint256 b, string calldata message) external pure;
    function assertEq(address a, address b, string calldata message) external pure;
    function assertEq(bytes32 a, bytes32 b, string calldata message) external pure;
    function assertEq(bytes calldata a, bytes calldata b, string calldata message) external pure;
    function assertEq(string calldata a, string calldata b, string calldata message) external pure;
    function assertLe(uint256 a, uint256 b, string calldata message) external pure;
    function assertGe(uint256 a, uint256 b, string calldata message) external pure;
}
