// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEscrow} from "./interfaces/IEscrow.sol";

/// @title Batch
/// @notice Several steps of orders at one escrow in one transaction, each on its own: what one of them does wrong, the others do
/// not feel. It makes only calls that mean the same whoever sends them: settle, settleThrough, openFor, fillWithApprovals and
/// finalise. It holds nothing, is nobody's operator and has no owner. Unaudited.
/// @dev What was done, the escrow's own events say. Here is only said what was not.
contract Batch {
    struct Call {
        /// @dev What the call may use at most; it gets all of it or the transaction ends.
        uint256 gas;
        /// @dev With the selector.
        bytes data;
    }

    /// @dev Calls to an address without code succeed and do nothing.
    error NoCode(address escrow);
    error Reentered();
    error TooMany(uint256 calls);
    /// @dev Call `index` is none of those that this contract makes.
    error NotAnyones(uint256 index);
    /// @dev The sender gave less gas than the limits of the calls come to.
    error NotEnoughGas(uint256 index);

    /// @param calls Bit i is set when call i reverted. Not emitted when none did.
    event Failed(uint256 calls);

    /// @dev Between reading the gas and the call: 2,600 for a cold account (EIP-2929) and some instructions. The test of want of
    /// gas finds a value that is too small.
    uint256 private constant CALL_GAS = 3_000;

    address public immutable ESCROW;

    bool private transient _running;

    constructor(address escrow) {
        if (escrow.code.length == 0) revert NoCode(escrow);
        ESCROW = escrow;
    }

    /// @notice Makes the calls in their order. One that reverts changes nothing and uses no more than its limit.
    /// @return failed Bit i is set when call i reverted.
    /// @return used Gas that each call took, before refunds.
    function run(Call[] calldata calls) external returns (uint256 failed, uint256[] memory used) {
        // What is called back from within would make its own event, and nobody could tell whose it is.
        if (_running) revert Reentered();
        _running = true;
        if (calls.length > 256) revert TooMany(calls.length);
        used = new uint256[](calls.length);
        address to = ESCROW;
        for (uint256 i; i < calls.length; ++i) {
            uint256 limit = calls[i].gas;
            bytes calldata data = calls[i].data;
            bytes4 selector = bytes4(data);
            if (!_isAnyones(selector)) revert NotAnyones(i);
            (bool enough, bool success, uint256 before) = (false, false, 0);
            assembly ("memory-safe") {
                // One after the other at the same place: memory grows with the longest call and not with their sum.
                let place := mload(0x40)
                calldatacopy(place, data.offset, data.length)
                before := gas()
                // A call never gets more than 63/64 of what is left, and silently less than was asked for: a settlement that
                // would have worked would fail for want of gas, and look as if it had been refused.
                if gt(before, CALL_GAS) { enough := iszero(lt(mul(div(sub(before, CALL_GAS), 64), 63), limit)) }
                // Nothing that comes back is copied, however long it is.
                if enough { success := call(limit, to, 0, place, data.length, 0, 0) }
            }
            if (!enough) revert NotEnoughGas(i);
            used[i] = before - gasleft();
            if (!success) failed |= 1 << i;
        }
        _running = false;
        if (failed != 0) emit Failed(failed);
    }

    /// @dev What means the same whoever sends it: takers and LPs have signed for it, or the chain has proven it.
    function _isAnyones(bytes4 selector) private pure returns (bool) {
        return selector == IEscrow.settle.selector || selector == IEscrow.settleThrough.selector
            || selector == IEscrow.openFor.selector || selector == IEscrow.fillWithApprovals.selector
            || selector == IEscrow.finalise.selector;
    }
}
