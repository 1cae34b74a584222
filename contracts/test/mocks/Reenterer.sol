// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ITransferHook} from "./AwkwardToken.sol";

/// @notice Told of a transfer, tries a call and notes whether it was refused in the words expected.
contract Reenterer is ITransferHook {
    address private _to;
    bytes private _call;
    bytes32 private _reason;
    bool public refused;

    function set(address to, bytes calldata call) external {
        (_to, _call, refused) = (to, call, false);
    }

    function expect(bytes calldata reason) external {
        _reason = keccak256(reason);
    }

    function onSend(address, uint256) external {
        (bool success, bytes memory reason) = _to.call(_call);
        refused = !success && keccak256(reason) == _reason;
    }

    function onReceive(address, uint256) external {}
}
