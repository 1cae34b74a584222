// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title DevAggregator
/// @notice A price feed for devnets and tests that answers like a Chainlink aggregator, or like a sequencer's uptime feed
///         (answer 0 is up, 1 is down, startedAt is since when). Anyone sets the round.
contract DevAggregator {
    uint8 public immutable decimals;
    string public description;

    uint80 private _roundId;
    int256 private _answer;
    uint256 private _startedAt;
    uint256 private _updatedAt;
    uint80 private _answeredInRound;

    constructor(string memory description_, uint8 decimals_) {
        description = description_;
        decimals = decimals_;
    }

    /// @notice A complete round, now.
    function push(int256 answer) external {
        setRound(_roundId + 1, answer, block.timestamp, block.timestamp, _roundId + 1);
    }

    /// @notice Any round at all, the ones that no aggregator should give included.
    function setRound(uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound) public {
        _roundId = roundId;
        _answer = answer;
        _startedAt = startedAt;
        _updatedAt = updatedAt;
        _answeredInRound = answeredInRound;
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        return (_roundId, _answer, _startedAt, _updatedAt, _answeredInRound);
    }
}
