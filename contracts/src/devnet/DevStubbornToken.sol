// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "./DevToken.sol";

/// @title DevStubbornToken
/// @notice A token for devnets and tests whose allowances are as odd as those of two large ones: they change only from or
/// to zero (USDT), and are at most a uint96, or without limit (UNI).
contract DevStubbornToken is DevToken {
    error AllowanceIsNotZero();
    error TooLarge();

    constructor(string memory name_, string memory symbol_, uint8 decimals_) DevToken(name_, symbol_, decimals_) {}

    function approve(address spender, uint256 amount) public override returns (bool) {
        require(amount == 0 || allowance(msg.sender, spender) == 0, AllowanceIsNotZero());
        require(amount <= type(uint96).max || amount == type(uint256).max, TooLarge());
        return super.approve(spender, amount);
    }
}
