// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevPoolTrader, IPool} from "../../src/devnet/DevPoolTrader.sol";
import {DevToken} from "../../src/devnet/DevToken.sol";
import {DexFiller} from "../../src/fillers/DexFiller.sol";
import {StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {IV2Factory} from "../../src/interfaces/IUniswap.sol";
import {FillerBase} from "./FillerBase.sol";

interface IV2FactoryAdmin is IV2Factory {
    function createPair(address a, address b) external returns (address);
}

interface IV2PairMint {
    function mint(address to) external returns (uint256);
    function sync() external;
    function getReserves() external view returns (uint112, uint112, uint32);
    function token0() external view returns (address);
}

interface IV3FactoryAdmin {
    function createPool(address a, address b, uint24 fee) external returns (address);
    function getPool(address a, address b, uint24 fee) external view returns (address);
}

interface IV3PoolAdmin is IPool {
    function initialize(uint160 sqrtPriceX96) external;
    function liquidity() external view returns (uint128);
}

/// @notice The real Uniswap v2 and v3 as npm ships them, with pools of USD, WETH and a third token at 2,500 and par.
abstract contract DexBase is FillerBase {
    uint256 internal constant Q96 = 2 ** 96;
    uint24 internal constant POOL_FEE = 3000;
    int24 internal constant EDGE = 887220;

    DevToken internal dai;
    IV2FactoryAdmin internal v2;
    IV3FactoryAdmin internal v3;
    DevPoolTrader internal trader;

    function setUp() public virtual override {
        super.setUp();
        dai = new DevToken("Dai", "DAI", 18);
        watched = [address(usd), address(weth), address(dai)];
        v2 = IV2FactoryAdmin(deployNpm("@uniswap/v2-core/build/UniswapV2Factory.json", abi.encode(address(this))));
        v3 = IV3FactoryAdmin(
            deployNpm("@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json", "")
        );
        trader = new DevPoolTrader();
        pair(address(usd), 2_500_000e6, address(weth), 1000e18);
        pair(address(weth), 1000e18, address(dai), 2_500_000e18);
        pool(address(usd), 2_500_000e6, address(weth), 1000e18);
        pool(address(weth), 1000e18, address(dai), 2_500_000e18);
    }

    function pair(address a, uint256 amountA, address b, uint256 amountB) internal returns (address made) {
        made = v2.getPair(a, b);
        if (made == address(0)) made = v2.createPair(a, b);
        give(a, made, amountA);
        give(b, made, amountB);
        IV2PairMint(made).mint(address(this));
    }

    /// @dev Over the whole range, with what those amounts are worth at their own price.
    function pool(address a, uint256 amountA, address b, uint256 amountB) internal returns (address made) {
        if (a > b) (a, amountA, b, amountB) = (b, amountB, a, amountA);
        made = v3.createPool(a, b, POOL_FEE);
        IV3PoolAdmin(made).initialize(uint160(root(amountB * Q96 / amountA * Q96)));
        give(a, address(trader), amountA + amountA / 10);
        give(b, address(trader), amountB + amountB / 10);
        trader.mint(IPool(made), -EDGE, EDGE, uint128(root(amountA * amountB)));
    }

    function root(uint256 x) internal pure returns (uint256 y) {
        if (x == 0) return 0;
        y = 1 << 128;
        while (true) {
            uint256 z = (y + x / y) / 2;
            if (z >= y) return y;
            y = z;
        }
    }

    /* ORDERS */

    /// @dev USD for what the path ends in.
    function dexOrder(DexFiller filler, address tokenOut, uint256 floor) internal returns (StandardOrder memory) {
        return orderFor(filler, address(usd), IN, tokenOut, floor);
    }
}
