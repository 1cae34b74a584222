// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEscrow} from "../interfaces/IEscrow.sol";
import {OneForOneFiller} from "./OneForOneFiller.sol";

/// @title DexFiller
/// @notice Fills an order with what pools give for its input, swapped along a path.
///
/// The path is the choice of whoever calls `settleThrough`, which may be anybody: it can only lead through pools of the factory
/// named at deployment, and a bad one gives less surplus or nothing at all, never less than the order's amount. So quotes keep
/// little between the amount and what the pools give.
///
/// Tokens that charge for their transfer are refused by the pools. Unaudited.
abstract contract DexFiller is OneForOneFiller {
    /// @notice The factory has no such pool.
    error NoPool(address tokenIn, address tokenOut);

    /// @notice Whose pools are swapped through.
    address public immutable FACTORY;

    constructor(IEscrow escrow, address factory) OneForOneFiller(escrow) {
        if (factory.code.length == 0) revert IEscrow.NoCode(factory);
        FACTORY = factory;
    }

    function _convert(address tokenIn, uint256 amount, address tokenOut, bytes calldata path)
        internal
        override
        returns (uint256)
    {
        if (_swap(tokenIn, amount, path) != tokenOut) revert InvalidPath(path);
        return 0;
    }

    /// @dev Swaps all of `amount` along `path`; everything it gives must end here. Returns the path's last token.
    function _swap(address tokenIn, uint256 amount, bytes calldata path) internal virtual returns (address tokenOut);

    function _tokenAt(bytes calldata path, uint256 start) internal pure returns (address) {
        return address(bytes20(path[start:start + 20]));
    }
}
