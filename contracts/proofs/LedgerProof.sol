// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LedgerLib} from "../src/libraries/LedgerLib.sol";

/// @notice An entry of the ledger equals two counters below 2^128. `entry` is any word, so each step holds after any history.
contract LedgerProof {
    using LedgerLib for uint256;

    function anEntryIsItsTwoCounters(uint256 entry, uint128 balance, uint128 fees) external pure {
        assert(entry == LedgerLib.pack(entry.balance(), entry.fees()));
        assert(LedgerLib.pack(balance, fees).balance() == balance);
        assert(LedgerLib.pack(balance, fees).fees() == fees);
    }

    /// @dev The escrow adds with `+=`, which reverts where the fees do not fit.
    function aCreditAddsToBoth(uint256 entry, uint128 balance, uint128 fees) external pure {
        require(entry.balance() + balance < 2 ** 128); // the assumption about tokens
        uint256 next = entry + LedgerLib.pack(balance, fees);
        assert(next.balance() == entry.balance() + balance);
        assert(next.fees() == entry.fees() + fees);
    }

    function aDebitLeavesTheFees(uint256 entry, uint256 amount) external pure {
        require(amount <= entry.balance());
        uint256 next = entry.minus(amount);
        assert(next.balance() == entry.balance() - amount);
        assert(next.fees() == entry.fees());
    }
}
