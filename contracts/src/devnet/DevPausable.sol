// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title DevPausable
/// @notice A pause for contracts of devnets, as issuers of tokens have one. Anyone sets it.
abstract contract DevPausable {
    bool public paused;

    error EnforcedPause();

    modifier whenRunning() {
        if (paused) revert EnforcedPause();
        _;
    }

    function setPaused(bool paused_) external {
        paused = paused_;
    }
}
