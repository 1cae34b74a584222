// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {IEscrow} from "../interfaces/IEscrow.sol";
import {TokenLib} from "../libraries/TokenLib.sol";
import {OneForOneFiller} from "./OneForOneFiller.sol";

/// @title VaultFiller
/// @notice Fills through an ERC-4626 vault: the asset is deposited for shares, or shares are redeemed for the asset.
///
/// The vault is one of the order's two tokens, so its taker has signed it and the caller of `settleThrough` has nothing to choose:
/// the path is empty, and the two tokens decide the direction. A hostile vault cheats only those who ask for its own shares or
/// hold them, and even they get the order's amount or keep the input. Nothing of others is here for it to take, and its allowance
/// ends with the fill.
/// @dev Vaults whose share is a token apart (ERC-7575) or that pay later (ERC-7540) are not supported. Unaudited.
contract VaultFiller is OneForOneFiller {
    using SafeERC20 for IERC20;
    using TokenLib for address;

    /// @notice Neither of the order's tokens is a vault of the other.
    error NoVault(address tokenIn, address tokenOut);

    constructor(IEscrow escrow) OneForOneFiller(escrow) {}

    function _convert(address tokenIn, uint256 amount, address tokenOut, bytes calldata path)
        internal
        override
        returns (uint256)
    {
        if (path.length != 0) revert InvalidPath(path);
        if (_isVaultOf(tokenOut, tokenIn)) {
            IERC20(tokenIn).forceApprove(tokenOut, amount);
            IERC4626(tokenOut).deposit(amount, address(this));
            _revoke(tokenIn, tokenOut);
        } else if (_isVaultOf(tokenIn, tokenOut)) {
            IERC4626(tokenIn).redeem(amount, address(this), address(this));
        } else {
            revert NoVault(tokenIn, tokenOut);
        }
        return tokenIn.holding(address(this));
    }

    /// @dev Plain tokens have no `asset`. They may answer anything to it, so a word that is no address is no asset either.
    function _isVaultOf(address vault, address token) private view returns (bool) {
        bytes4 selector = IERC4626.asset.selector;
        bool answered;
        uint256 asset;
        assembly ("memory-safe") {
            mstore(0x00, selector)
            answered := staticcall(gas(), vault, 0x00, 0x04, 0x00, 0x20)
            answered := and(answered, gt(returndatasize(), 0x1f))
            asset := mload(0x00)
        }
        return answered && asset == uint160(token);
    }
}
