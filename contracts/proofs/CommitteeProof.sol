// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {CommitteeLib} from "../src/libraries/CommitteeLib.sol";

/// @notice Signers that the oracle accepts one after another are as many distinct members.
contract CommitteeProof {
    /// @dev Three signatures and at most four members, which ascend as the oracle's constructor demands.
    function acceptedSignersAreDistinctMembers(address[] memory members, address a, address b, address c)
        external
        pure
    {
        require(members.length <= 4);
        for (uint256 i = 1; i < members.length; ++i) {
            require(members[i - 1] < members[i]);
        }
        uint256 first = CommitteeLib.behind(members, 0, a);
        require(first != 0);
        uint256 second = CommitteeLib.behind(members, first, b);
        require(second != 0);
        uint256 third = CommitteeLib.behind(members, second, c);
        require(third != 0);
        assert(members[first - 1] == a && members[second - 1] == b && members[third - 1] == c);
        assert(a != b && a != c && b != c);
    }
}

/// @notice The step of it, for a committee of any size: each signature is found behind the one before it.
contract CommitteeStepProof {
    function aMemberIsFoundBehindTheLast(address[] memory members, uint256 from, address signer) external pure {
        uint256 behind = CommitteeLib.behind(members, from, signer);
        require(behind != 0);
        assert(behind > from);
        assert(behind <= members.length);
        assert(members[behind - 1] == signer);
    }
}
