// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IEscrow} from "../interfaces/IEscrow.sol";
import {IV3Factory, IV3Pool} from "../interfaces/IUniswap.sol";
import {DexFiller} from "./DexFiller.sol";

/// @title ConcentratedFiller
/// @notice Fills through Uniswap v3 pools. A path is as Uniswap packs it: a token, then a fee (3 bytes) and a token (20 bytes) for
/// every pool.
contract ConcentratedFiller is DexFiller {
    using SafeCast for uint256;
    using SafeERC20 for IERC20;

    /// @notice Only the pool that is swapping asks for its due, and once.
    error OnlyPool(address caller);
    /// @notice The pool ran out of liquidity before it had taken everything.
    error PartlySwapped(address pool, uint256 offered, uint256 taken);

    uint256 private constant TOKEN = 20;
    uint256 private constant HOP = 23;
    /// @dev The ends of the price range, one inside: a swap stops where the liquidity does, nowhere else.
    uint160 private constant LOWEST_PRICE = 4295128740;
    uint160 private constant HIGHEST_PRICE = 1461446703485210103287273052203988822378723970341;

    /// @dev The pool that may ask for its due now, and in which token.
    address private transient _pool;
    address private transient _due;

    constructor(IEscrow escrow, address factory) DexFiller(escrow, factory) {}

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        if (msg.sender != _pool) revert OnlyPool(msg.sender);
        _pool = address(0);
        IERC20(_due).safeTransfer(msg.sender, uint256(amount0 > 0 ? amount0 : amount1));
    }

    function _swap(address tokenIn, uint256 amount, bytes calldata path) internal override returns (address tokenOut) {
        uint256 end = path.length;
        if (end < TOKEN + HOP || (end - TOKEN) % HOP != 0 || _tokenAt(path, 0) != tokenIn) revert InvalidPath(path);
        for (uint256 i = TOKEN; i < end; i += HOP) {
            tokenOut = _tokenAt(path, i + 3);
            amount = _swapPool(tokenIn, uint24(bytes3(path[i:i + 3])), tokenOut, amount);
            tokenIn = tokenOut;
        }
    }

    function _swapPool(address tokenIn, uint24 fee, address tokenOut, uint256 amountIn)
        private
        returns (uint256 amountOut)
    {
        address pool = IV3Factory(FACTORY).getPool(tokenIn, tokenOut, fee);
        if (pool == address(0)) revert NoPool(tokenIn, tokenOut);
        (_pool, _due) = (pool, tokenIn);
        bool zeroForOne = tokenIn < tokenOut;
        (int256 taken, int256 given) =
            IV3Pool(pool).swap(address(this), zeroForOne, amountIn.toInt256(), zeroForOne ? LOWEST_PRICE : HIGHEST_PRICE, "");
        if (!zeroForOne) (taken, given) = (given, taken);
        if (uint256(taken) != amountIn) revert PartlySwapped(pool, amountIn, uint256(taken));
        amountOut = uint256(-given);
    }
}
