// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice What the fillers need of Uniswap v2: its pools are known to their factory by their two tokens.
interface IV2Factory {
    function getPair(address tokenA, address tokenB) external view returns (address);
}

interface IV2Pair {
    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 updatedAt);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// @notice What the fillers need of Uniswap v3: its pools are known to their factory by two tokens and a fee.
interface IV3Factory {
    function getPool(address tokenA, address tokenB, uint24 fee) external view returns (address);
}

interface IV3Pool {
    /// @return amount0 What the pool takes of token0, or gives when negative.
    /// @return amount1 The same of token1.
    function swap(address to, bool zeroForOne, int256 amount, uint160 sqrtPriceLimitX96, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1);
}
