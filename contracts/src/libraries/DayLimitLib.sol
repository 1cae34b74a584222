// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ILpAccount} from "../interfaces/ILpAccount.sol";

/// @notice A limit per day (UTC), and two sums that keep to it. They are those of `day`, the last in which something was
/// counted.
struct DayLimit {
    uint128 most;
    uint128 day;
    uint128 requested;
    uint128 sent;
}

/// @title DayLimitLib
/// @notice The counters of what software may do with an account's money in a day.
library DayLimitLib {
    /// @notice Begins the sums of the day of a time, unless they have begun.
    function today(DayLimit storage limit, uint256 timestamp) internal returns (DayLimit storage) {
        uint128 day = uint128(timestamp / 1 days);
        if (limit.day != day) {
            limit.day = day;
            limit.requested = 0;
            limit.sent = 0;
        }
        return limit;
    }

    /// @notice Adds an amount to a sum that keeps to `most`. A limit that was lowered may be below the sum.
    function counted(address token, uint256 most, uint256 sum, uint256 amount) internal pure returns (uint128) {
        uint256 left = most > sum ? most - sum : 0;
        require(amount <= left, ILpAccount.MoverLimitExceeded(token, left, amount));
        return uint128(sum + amount);
    }
}
