// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IFiller, IInputCallback, IOutputCallback} from "../../src/interfaces/ICallbacks.sol";
import {ITransferHook} from "./AwkwardToken.sol";

/// @notice An account with code that does as it is told, at once or when it is called back, and remembers how each of those
/// calls ended.
contract Puppet is IOutputCallback, IInputCallback, IFiller, ITransferHook {
    struct Step {
        address to;
        bytes data;
    }

    Step[] private _plan;
    /// @dev Per step made: the selector it reverted with, 0xffffffff for an empty revert, zero for success.
    bytes4[] public outcomes;
    uint256 public called;
    bool private _busy;

    /// @notice From now on every callback makes this call too.
    function plan(address to, bytes calldata data) external {
        _plan.push(Step(to, data));
    }

    function forget() external {
        delete _plan;
        delete outcomes;
        called = 0;
    }

    function results() external view returns (bytes4[] memory) {
        return outcomes;
    }

    /// @notice Makes a call as this account.
    function act(address to, bytes calldata data) external returns (bytes memory) {
        (bool success, bytes memory answer) = to.call(data);
        if (!success) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        return answer;
    }

    function outputFilled(bytes32, uint256, bytes calldata) external {
        _play();
    }

    function orderFinalised(uint256[2][] calldata, bytes calldata) external {
        _play();
    }

    function fillThrough(bytes32, bytes calldata, uint256[] calldata, bytes calldata) external {
        _play();
    }

    function onSend(address, uint256) external {
        _play();
    }

    function onReceive(address, uint256) external {
        _play();
    }

    function _play() private {
        if (_busy) return;
        _busy = true;
        ++called;
        for (uint256 i; i < _plan.length; ++i) {
            (bool success, bytes memory answer) = _plan[i].to.call(_plan[i].data);
            outcomes.push(success ? bytes4(0) : answer.length < 4 ? bytes4(0xffffffff) : bytes4(answer));
        }
        _busy = false;
    }
}
