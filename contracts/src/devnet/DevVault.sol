// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title DevVault
/// @notice OpenZeppelin's ERC-4626 vault for devnets and tests, with caps. Its asset sent here is yield for all shares; `lose`
/// is a loss. Anyone sets the caps and makes it lose.
contract DevVault is ERC4626 {
    using SafeERC20 for IERC20;

    /// @notice The most assets that it holds for its shares.
    uint256 public cap = type(uint256).max;
    /// @notice The most assets that one call takes out, as if the rest were lent.
    uint256 public liquid = type(uint256).max;

    constructor(IERC20 asset_, string memory name_, string memory symbol_) ERC20(name_, symbol_) ERC4626(asset_) {}

    function limit(uint256 cap_, uint256 liquid_) external {
        (cap, liquid) = (cap_, liquid_);
    }

    function lose(uint256 assets) external {
        IERC20(asset()).safeTransfer(address(0xdead), assets);
    }

    function maxDeposit(address) public view override returns (uint256) {
        if (cap == type(uint256).max) return cap;
        return Math.saturatingSub(cap, totalAssets());
    }

    function maxMint(address receiver) public view override returns (uint256) {
        if (cap == type(uint256).max) return cap;
        return convertToShares(maxDeposit(receiver));
    }

    function maxWithdraw(address owner) public view override returns (uint256) {
        return Math.min(super.maxWithdraw(owner), liquid);
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        if (liquid == type(uint256).max) return balanceOf(owner);
        return Math.min(balanceOf(owner), convertToShares(liquid));
    }
}
