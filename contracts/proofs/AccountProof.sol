// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DayLimit, DayLimitLib} from "../src/libraries/DayLimitLib.sol";

/// @notice In a day an account's sums keep to their limit. `_limit` holds anything, so each step holds after any history.
contract AccountProof {
    using DayLimitLib for DayLimit;

    DayLimit private _limit;

    function aRequestIsCountedWithinTheLimit(address token, uint256 amount) external {
        bool again = _limit.day == uint128(block.timestamp / 1 days);
        uint256 requested = again ? _limit.requested : 0;
        uint256 sent = again ? _limit.sent : 0;
        DayLimit storage limit = _limit.today(block.timestamp);
        limit.requested = DayLimitLib.counted(token, limit.most, limit.requested, amount);
        assert(limit.requested == requested + amount);
        assert(amount == 0 || limit.requested <= limit.most);
        assert(limit.sent == sent);
    }

    function whatIsSentIsCountedWithinTheLimit(address token, uint256 amount) external {
        bool again = _limit.day == uint128(block.timestamp / 1 days);
        uint256 requested = again ? _limit.requested : 0;
        uint256 sent = again ? _limit.sent : 0;
        DayLimit storage limit = _limit.today(block.timestamp);
        limit.sent = DayLimitLib.counted(token, limit.most, limit.sent, amount);
        assert(limit.sent == sent + amount);
        assert(amount == 0 || limit.sent <= limit.most);
        assert(limit.requested == requested);
    }
}
