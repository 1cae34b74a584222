// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {BondLib} from "../src/libraries/BondLib.sol";

/// @notice What a broken promise costs is paid and forfeited, and is at most the bond.
contract BondProof {
    function paidAndForfeitedAreTheCost(uint128 bond, uint256 promised, uint256 shareBps) external pure {
        require(shareBps <= BondLib.BPS);
        (uint256 paid, uint256 forfeited) = BondLib.cost(bond, promised, shareBps);
        assert(paid + forfeited <= bond);
        assert(paid == forfeited || paid == forfeited + 1);
    }

    function theCostIsTwiceTheShareWhereTheBondHasIt(uint128 bond, uint128 promised, uint256 shareBps) external pure {
        require(shareBps <= BondLib.BPS);
        (uint256 paid, uint256 forfeited) = BondLib.cost(bond, promised, shareBps);
        uint256 share = promised * shareBps / BondLib.BPS;
        assert(paid <= share);
        assert(paid + forfeited == (2 * share < bond ? 2 * share : bond));
    }
}
