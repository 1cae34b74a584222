// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {IEscrow} from "../interfaces/IEscrow.sol";
import {IPsm} from "../interfaces/IIssuers.sol";
import {TokenLib} from "../libraries/TokenLib.sol";
import {OneForOneFiller} from "./OneForOneFiller.sol";

/// @title PegFiller
/// @notice Fills through the peg-stability module named at deployment: `gem` for `dai` or `dai` for `gem`, at par less its fee.
///
/// A module sells whole units of `gem`. What is left of the `dai` then, less than the price of one unit, goes back to the order's
/// user. The path is empty: the two tokens decide the direction. Both directions revert while the module has halted them.
/// Unaudited.
contract PegFiller is OneForOneFiller {
    using SafeERC20 for IERC20;
    using TokenLib for address;

    /// @notice The module does not trade these two tokens.
    error OtherTokens(address tokenIn, address tokenOut);

    uint256 private constant WAD = 1e18;

    IPsm public immutable PSM;

    constructor(IEscrow escrow, IPsm psm) OneForOneFiller(escrow) {
        if (address(psm).code.length == 0) revert IEscrow.NoCode(address(psm));
        PSM = psm;
    }

    function _convert(address tokenIn, uint256 amount, address tokenOut, bytes calldata path)
        internal
        override
        returns (uint256)
    {
        if (path.length != 0) revert InvalidPath(path);
        (address gem, address dai) = (PSM.gem(), PSM.dai());
        IERC20(tokenIn).forceApprove(address(PSM), amount);
        if (tokenIn == gem && tokenOut == dai) {
            PSM.sellGem(address(this), amount);
        } else if (tokenIn == dai && tokenOut == gem) {
            PSM.buyGem(address(this), _bought(amount));
        } else {
            revert OtherTokens(tokenIn, tokenOut);
        }
        _revoke(tokenIn, address(PSM));
        return tokenIn.holding(address(this));
    }

    /// @dev The most `gem` whose price, par and the fee rounded down, is at most `amount`.
    function _bought(uint256 amount) private view returns (uint256) {
        return ((amount + 1) * WAD - 1) / (PSM.to18ConversionFactor() * (WAD + PSM.tout()));
    }
}
