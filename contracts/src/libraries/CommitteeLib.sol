// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title CommitteeLib
/// @notice How signers are found among the members of a committee.
library CommitteeLib {
    /// @notice Looks for a member at `from` or behind it. The members ascend.
    /// @return The place behind the member's, which is never zero; zero when `signer` is not among them.
    function behind(address[] memory members, uint256 from, address signer) internal pure returns (uint256) {
        unchecked {
            while (from < members.length && members[from] < signer) ++from;
            return from < members.length && members[from] == signer ? from + 1 : 0;
        }
    }
}
