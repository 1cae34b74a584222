// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice Implemented by a recipient whose output carries callbackData.
interface IOutputCallback {
    /// @notice The output has been delivered. Reverting undoes the delivery.
    function outputFilled(bytes32 token, uint256 amount, bytes calldata executionData) external;
}

/// @notice Implemented by the destination of a plain order that is finalised with a call.
interface IInputCallback {
    /// @notice The inputs have been paid to this contract. Reverting undoes the payment.
    function orderFinalised(uint256[2][] calldata inputs, bytes calldata executionData) external;
}

/// @notice Implemented by periphery that fills an order with liquidity it does not own yet, through `settleThrough`.
interface IFiller {
    /// @notice The inputs, less fees, are here. Fill every output of `order` on the calling escrow before returning.
    /// @param orderId The order's id on the calling escrow.
    /// @param order abi.encode(StandardOrder).
    /// @param amounts What was handed over of each input, base units, in the order of `order.inputs`.
    /// @param data What the caller of `settleThrough` passed on. Untrusted: anyone may have called it.
    function fillThrough(bytes32 orderId, bytes calldata order, uint256[] calldata amounts, bytes calldata data)
        external;
}
