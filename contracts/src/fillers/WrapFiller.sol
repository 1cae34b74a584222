// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEscrow} from "../interfaces/IEscrow.sol";
import {INativeWrapper} from "../interfaces/IIssuers.sol";
import {TokenLib} from "../libraries/TokenLib.sol";
import {OneForOneFiller} from "./OneForOneFiller.sol";

/// @title WrapFiller
/// @notice Fills one token of the native currency (WETH9 and its like) with another: the input is unwrapped, what comes out is
/// wrapped into the output. Orders are in ERC-20 tokens, so native currency is in between only.
///
/// Both wrappers are the order's own tokens, and the path is empty: the caller of `settleThrough` has nothing to choose. Native
/// currency is taken from the input's wrapper alone, while it is unwrapped. Unaudited.
contract WrapFiller is OneForOneFiller {
    using TokenLib for address;

    /// @notice Native currency comes from the wrapper that is being unwrapped, and from nobody else.
    error OnlyWrapper(address sender);

    /// @dev The wrapper that is being unwrapped.
    address private transient _unwrapping;

    constructor(IEscrow escrow) OneForOneFiller(escrow) {}

    /// @dev WETH9 sends with 2,300 gas.
    receive() external payable {
        if (msg.sender != _unwrapping) revert OnlyWrapper(msg.sender);
    }

    function _convert(address tokenIn, uint256 amount, address tokenOut, bytes calldata path)
        internal
        override
        returns (uint256 left)
    {
        if (path.length != 0) revert InvalidPath(path);
        _unwrapping = tokenIn;
        INativeWrapper(tokenIn).withdraw(amount);
        _unwrapping = address(0);
        left = tokenIn.holding(address(this));
        // All that is here, so that nothing is left.
        INativeWrapper(tokenOut).deposit{value: address(this).balance}();
    }
}
