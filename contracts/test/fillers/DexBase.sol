// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevPoolTrader, IPool} from "../../src/devnet/DevPoolTrader.sol";
import {DevToken} from "../../src/devnet/DevToken.sol";
import {DexFiller} from "../../src/fillers/DexFiller.sol";
import {IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {IV2Factory} from "../../src/interfaces/IUniswap.sol";
import {Base} from "../support/Base.sol";

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
abstract contract DexBase is Base {
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

    function deployNpm(string memory path, bytes memory args) internal returns (address deployed) {
        string memory json = vm.readFile(string.concat("node_modules/", path));
        bytes memory creation = bytes.concat(vm.parseJsonBytes(json, ".bytecode"), args);
        assembly ("memory-safe") {
            deployed := create(0, add(creation, 0x20), mload(creation))
        }
        ok(deployed != address(0), path);
    }

    function give(address token, address to, uint256 amount) internal {
        DevToken(token).mint(to, amount);
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

    /// @dev USD for what the path ends in, to be filled by this filler only, without fees.
    function dexOrder(DexFiller filler, address tokenOut, uint256 floor) internal returns (StandardOrder memory order) {
        order = blank(IN, 1);
        order.outputs[0] =
            output(escrow, HERE, floor, quoteContext(address(filler), order.fillDeadline, 10_000, 0, 0));
        order.outputs[0].token = word(tokenOut);
    }

    function through(DexFiller filler, StandardOrder memory order, bytes memory path) internal {
        bytes memory funding = by3009(order);
        vm.prank(stranger);
        escrow.settleThrough(order, funding, address(filler), path);
    }

    /// @dev The whole transaction reverts with `reason`, and the taker still has the input and the nonce.
    function refuse(DexFiller filler, StandardOrder memory order, bytes memory path, bytes memory reason) internal {
        bytes memory funding = by3009(order);
        uint256 held = usd.balanceOf(taker);
        vm.prank(stranger);
        vm.expectRevert(reason);
        escrow.settleThrough(order, funding, address(filler), path);
        eq(usd.balanceOf(taker), held, "the taker keeps the input");
        ok(!escrow.isNonceUsed(order.user, order.nonce), "the order can be tried again");
        eq(status(idOf(order)), uint256(OrderStatus.None), "nothing happened to it");
    }

    function holdsNothing(DexFiller filler) internal view {
        address[3] memory tokens = [address(usd), address(weth), address(dai)];
        for (uint256 i; i < tokens.length; ++i) {
            eq(DevToken(tokens[i]).balanceOf(address(filler)), 0, "holds nothing");
            eq(DevToken(tokens[i]).allowance(address(filler), address(escrow)), 0, "allows nothing");
        }
        eq(address(filler).balance, 0, "no native currency");
    }

    function belowFloor(address token, uint256 floor, uint256 received) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(DexFiller.BelowFloor.selector, token, floor, received);
    }
}
