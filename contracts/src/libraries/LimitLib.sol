// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title LimitLib
/// @notice An operator's limit of one token, in one word. From the top: most (96 bits), window (32), since (32),
/// spent (96). {IEscrow-operatorLimit} says what they are.
/// @dev Divisions and products of powers of two, because `npm run prove` decides those; the compiler makes shifts of them.
/// Unchecked, because no step leaves the word: contracts/proofs/LimitProof.sol.
library LimitLib {
    uint256 private constant MOST = 2 ** 160;
    uint256 private constant WINDOW = 2 ** 128;
    uint256 private constant SINCE = 2 ** 96;

    function most(uint256 limit) internal pure returns (uint256) {
        return limit / MOST;
    }

    function window(uint256 limit) internal pure returns (uint256) {
        return uint32(limit / WINDOW);
    }

    function since(uint256 limit) internal pure returns (uint256) {
        return uint32(limit / SINCE);
    }

    function spent(uint256 limit) internal pure returns (uint256) {
        return uint96(limit);
    }

    /// @notice The limit with another rule. What is counted stays.
    function ruled(uint256 limit, uint96 most_, uint32 window_) internal pure returns (uint256) {
        unchecked {
            return most_ * MOST + window_ * WINDOW + uint128(limit);
        }
    }

    /// @notice The limit as it counts at a time: once its window is over, one with nothing spent since that time.
    function current(uint256 limit, uint256 timestamp) internal pure returns (uint256) {
        unchecked {
            if (timestamp < since(limit) + window(limit)) return limit;
            return limit / WINDOW * WINDOW + uint32(timestamp) * SINCE;
        }
    }

    /// @notice What may still be spent. A limit that was lowered may be below what is spent.
    function left(uint256 limit) internal pure returns (uint256) {
        unchecked {
            return most(limit) < spent(limit) ? 0 : most(limit) - spent(limit);
        }
    }

    /// @notice Counts an amount that is not above `left`.
    function plus(uint256 limit, uint256 amount) internal pure returns (uint256) {
        unchecked {
            return limit + amount;
        }
    }
}
