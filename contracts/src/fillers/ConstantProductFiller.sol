// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {IEscrow} from "../interfaces/IEscrow.sol";
import {IV2Factory, IV2Pair} from "../interfaces/IUniswap.sol";
import {DexFiller} from "./DexFiller.sol";

/// @title ConstantProductFiller
/// @notice Fills through Uniswap v2 pairs. A path is its tokens, packed: 20 bytes each, at least two.
contract ConstantProductFiller is DexFiller {
    using SafeERC20 for IERC20;

    uint256 private constant TOKEN = 20;

    constructor(IEscrow escrow, address factory) DexFiller(escrow, factory) {}

    function _swap(address tokenIn, uint256 amount, bytes calldata path) internal override returns (address tokenOut) {
        uint256 end = path.length;
        if (end < 2 * TOKEN || end % TOKEN != 0 || _tokenAt(path, 0) != tokenIn) revert InvalidPath(path);
        tokenOut = _tokenAt(path, TOKEN);
        address pair = _pairOf(tokenIn, tokenOut);
        IERC20(tokenIn).safeTransfer(pair, amount);
        for (uint256 i = 2 * TOKEN;; i += TOKEN) {
            bool last = i == end;
            address tokenNext = last ? address(0) : _tokenAt(path, i);
            address to = last ? address(this) : _pairOf(tokenOut, tokenNext);
            amount = _swapPair(pair, tokenIn < tokenOut, amount, to);
            if (last) return tokenOut;
            (tokenIn, tokenOut, pair) = (tokenOut, tokenNext, to);
        }
    }

    /// @dev The most that the pair lets go for what has just been sent to it.
    function _swapPair(address pair, bool zeroForOne, uint256 amountIn, address to) private returns (uint256 amountOut) {
        (uint256 reserveIn, uint256 reserveOut,) = IV2Pair(pair).getReserves();
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        uint256 afterFee = amountIn * 997;
        amountOut = afterFee * reserveOut / (reserveIn * 1000 + afterFee);
        IV2Pair(pair).swap(zeroForOne ? 0 : amountOut, zeroForOne ? amountOut : 0, to, "");
    }

    function _pairOf(address tokenA, address tokenB) private view returns (address pair) {
        pair = IV2Factory(FACTORY).getPair(tokenA, tokenB);
        if (pair == address(0)) revert NoPool(tokenA, tokenB);
    }
}
