// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {IEscrow} from "../interfaces/IEscrow.sol";

/// @title TokenLib
/// @notice What OpenZeppelin's SafeERC20 leaves out: reading a balance cheaply and from something that exists, and a transfer
/// that may fail for the token's reasons alone.
library TokenLib {
    /// @dev Ten times what a transfer by a token behind a proxy, with a first write for the recipient, takes.
    uint256 private constant PUSH_GAS = 600_000;

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

    /// @notice Transfers with a fixed amount of gas. Whether it did is the token's doing alone: a call that has less gas left
    /// than the transfer is promised reverts.
    /// @return done False when the token refused, used more gas than that, or is not there.
    function push(address token, address to, uint256 amount) internal returns (bool done) {
        // EIP-150: a call gets at most 63 of 64 parts of what is left.
        if (gasleft() * 63 / 64 < PUSH_GAS + 3_000) revert IEscrow.NotEnoughGas(PUSH_GAS);
        bytes4 selector = IERC20.transfer.selector;
        assembly ("memory-safe") {
            let p := mload(0x40)
            mstore(p, selector)
            mstore(add(p, 0x04), and(to, shr(96, not(0))))
            mstore(add(p, 0x24), amount)
            mstore(0x00, 0)
            done := call(PUSH_GAS, token, 0, p, 0x44, 0x00, 0x20)
            // No answer counts when there is a token, an answer has to be true.
            switch returndatasize()
            case 0 { done := and(done, gt(extcodesize(token), 0)) }
            default { done := and(done, and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1))) }
        }
    }
}
