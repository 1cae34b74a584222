// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevUsd} from "./DevUsd.sol";

/// @title DevGasUsd
/// @notice USDC as it is on Arc, for devnets and tests: its code is put at 0x3600…0000, and what an account shows here is
/// its native balance, so gas and transfers take from one amount.
/// @dev A contract cannot move native balances. A transfer is kept beside them, so a receiver cannot pay gas from what it
/// got here, and a sender keeps the native balance that it has sent away.
contract DevGasUsd is DevUsd {
    /// @dev Base units of six decimals are worth so many wei.
    uint256 private constant WEI_PER_UNIT = 1e12;

    /// @dev Received less sent, in base units.
    mapping(address account => int256) private _moved;

    constructor() DevUsd("USDC") {}

    /// @dev Storage of a constructor stays behind when code is put somewhere.
    function name() public pure override returns (string memory) {
        return "USDC";
    }

    function symbol() public pure override returns (string memory) {
        return "USDC";
    }

    function balanceOf(address account) public view override returns (uint256) {
        int256 units = int256(account.balance / WEI_PER_UNIT) + _moved[account];
        return units > 0 ? uint256(units) : 0;
    }

    function _update(address from, address to, uint256 value) internal override {
        if (from != address(0)) {
            uint256 balance = balanceOf(from);
            require(balance >= value, ERC20InsufficientBalance(from, balance, value));
            _moved[from] -= int256(value);
        }
        if (to != address(0)) _moved[to] += int256(value);
        emit Transfer(from, to, value);
    }
}
