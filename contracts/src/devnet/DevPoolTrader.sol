// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes calldata data)
        external
        returns (uint256 amount0, uint256 amount1);
    function swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1);
}

interface IPair {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// @title DevPoolTrader
/// @notice Pays what a Uniswap v3 pool asks for in its callbacks, and a v2 pair in advance, out of its own balance: liquidity
///         and trades for devnets and tests. Anyone may make it do so, so it must never hold anything of worth.
contract DevPoolTrader {
    function mint(IPool pool, int24 tickLower, int24 tickUpper, uint128 liquidity) external {
        pool.mint(address(this), tickLower, tickUpper, liquidity, "");
    }

    function swap(IPool pool, bool zeroForOne, int256 amount, uint160 sqrtPriceLimitX96) external {
        pool.swap(address(this), zeroForOne, amount, sqrtPriceLimitX96, "");
    }

    function swapPair(IPair pair, bool zeroForOne, uint256 amountIn, uint256 amountOut) external {
        require(IERC20(zeroForOne ? pair.token0() : pair.token1()).transfer(address(pair), amountIn), "input");
        pair.swap(zeroForOne ? 0 : amountOut, zeroForOne ? amountOut : 0, address(this), "");
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        _pay(IPool(msg.sender), amount0, amount1);
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        _pay(IPool(msg.sender), amount0 > 0 ? uint256(amount0) : 0, amount1 > 0 ? uint256(amount1) : 0);
    }

    function _pay(IPool pool, uint256 amount0, uint256 amount1) private {
        if (amount0 > 0) require(IERC20(pool.token0()).transfer(msg.sender, amount0), "token0");
        if (amount1 > 0) require(IERC20(pool.token1()).transfer(msg.sender, amount1), "token1");
    }
}
