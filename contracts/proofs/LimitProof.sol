// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LimitLib} from "../src/libraries/LimitLib.sol";

/// @notice The word of an operator's limit equals four counters, and a spend keeps to `most` within a window. `word` is any
/// word, so each step holds after any history.
contract LimitProof {
    using LimitLib for uint256;

    function theWordIsItsFields(uint256 word) external pure {
        assert(
            word == word.most() * 2 ** 160 + word.window() * 2 ** 128 + word.since() * 2 ** 96 + word.spent()
        );
    }

    function aRuleLeavesWhatIsCounted(uint256 word, uint96 most, uint32 window) external pure {
        uint256 next = word.ruled(most, window);
        assert(next.most() == most);
        assert(next.window() == window);
        assert(next.since() == word.since());
        assert(next.spent() == word.spent());
    }

    function aWindowLeavesTheRule(uint256 word, uint32 timestamp) external pure {
        uint256 next = word.current(timestamp);
        assert(next.most() == word.most());
        assert(next.window() == word.window());
        if (timestamp < word.since() + word.window()) {
            assert(next == word);
        } else {
            assert(next.since() == timestamp);
            assert(next.spent() == 0);
        }
    }

    function aSpendIsCountedAndNothingElse(uint256 word, uint256 amount) external pure {
        require(amount <= word.left());
        uint256 next = word.plus(amount);
        assert(next.spent() == word.spent() + amount);
        assert(next.since() == word.since());
        assert(next.window() == word.window());
        assert(next.most() == word.most());
    }

    function aSpendIsNeverAboveMost(uint256 word, uint256 amount) external pure {
        require(amount != 0 && amount <= word.left());
        assert(word.plus(amount).spent() <= word.most());
    }
}
