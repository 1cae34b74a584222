// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {IPsm} from "../interfaces/IIssuers.sol";

/// @title DevPsm
/// @notice A peg-stability module for devnets and tests, to the outside like Maker's LitePSM. It pays from its own balances, which
/// anyone may add to. Anyone sets its fees.
contract DevPsm is IPsm {
    using SafeERC20 for IERC20;

    error Halted();

    uint256 private constant WAD = 1e18;
    /// @notice A fee that stops its direction.
    uint256 public constant HALTED = type(uint256).max;

    address public immutable gem;
    address public immutable dai;
    uint256 public immutable to18ConversionFactor;
    uint256 public tin;
    uint256 public tout;

    constructor(address gem_, address dai_) {
        (gem, dai, to18ConversionFactor) = (gem_, dai_, 10 ** (18 - IERC20Metadata(gem_).decimals()));
    }

    function setFees(uint256 tin_, uint256 tout_) external {
        (tin, tout) = (tin_, tout_);
    }

    /// @notice Who holds the gems.
    function pocket() external view returns (address) {
        return address(this);
    }

    function sellGem(address usr, uint256 gemAmt) external {
        if (tin == HALTED) revert Halted();
        uint256 par = gemAmt * to18ConversionFactor;
        IERC20(gem).safeTransferFrom(msg.sender, address(this), gemAmt);
        IERC20(dai).safeTransfer(usr, par - par * tin / WAD);
    }

    function buyGem(address usr, uint256 gemAmt) external {
        if (tout == HALTED) revert Halted();
        uint256 par = gemAmt * to18ConversionFactor;
        IERC20(dai).safeTransferFrom(msg.sender, address(this), par + par * tout / WAD);
        IERC20(gem).safeTransfer(usr, gemAmt);
    }
}
