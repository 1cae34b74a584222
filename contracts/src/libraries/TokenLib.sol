// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {IEscrow} from "../interfaces/IEscrow.sol";

/// @title TokenLib
/// @notice What OpenZeppelin's SafeERC20 leaves out: reading a balance cheaply, and from something that exists.
library TokenLib {
    /// @notice The token's balanceOf(account). Nothing but an answer of a word counts as one.
    function holding(address token, address account) internal view returns (uint256 amount) {
        bytes4 selector = IERC20.balanceOf.selector;
        bool answered;
        assembly ("memory-safe") {
            mstore(0x00, selector)
            mstore(0x04, and(account, shr(96, not(0))))
            answered := staticcall(gas(), token, 0x00, 0x24, 0x00, 0x20)
            answered := and(answered, gt(returndatasize(), 0x1f))
            amount := mload(0x00)
        }
        if (!answered) revert IEscrow.NotAToken(token);
    }

    /// @notice Reverts unless `account` now has at least `amount` more than `before`.
    function requireReceived(address token, address account, uint256 before, uint256 amount) internal view {
        uint256 now_ = holding(token, account);
        unchecked {
            uint256 received = now_ < before ? 0 : now_ - before;
            if (received < amount) revert IEscrow.ShortTransfer(token, amount, received);
        }
    }
}
