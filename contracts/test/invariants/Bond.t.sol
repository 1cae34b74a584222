// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {IQuoteBond} from "../../src/interfaces/IQuoteBond.sol";
import {Test} from "../support/Test.sol";
import {BondHandler} from "./BondHandler.sol";
import {FuzzSelector} from "./Invariants.t.sol";

/// @notice Who keeps its promises is never claimed against; who does not, whenever a promise has failed; and every unit is accounted
/// for.
contract BondInvariantsTest is Test {
    BondHandler private handler;

    function setUp() public {
        handler = new BondHandler();
        handler.setUp();
    }

    function targetContracts() external view returns (address[] memory list) {
        list = new address[](1);
        list[0] = address(handler);
    }

    function targetSelectors() external view returns (FuzzSelector[] memory list) {
        list = new FuzzSelector[](1);
        list[0] = FuzzSelector(address(handler), selectors());
    }

    function selectors() private pure returns (bytes4[] memory s) {
        s = new bytes4[](19);
        s[0] = BondHandler.quote.selector;
        s[1] = BondHandler.quote.selector;
        s[2] = BondHandler.quote.selector;
        s[3] = BondHandler.quoteAcross.selector;
        s[4] = BondHandler.settle.selector;
        s[5] = BondHandler.settle.selector;
        s[6] = BondHandler.settle.selector;
        s[7] = BondHandler.invalidate.selector;
        s[8] = BondHandler.pass.selector;
        s[9] = BondHandler.pass.selector;
        s[10] = BondHandler.pause.selector;
        s[11] = BondHandler.deposit.selector;
        s[12] = BondHandler.push.selector;
        s[13] = BondHandler.withdraw.selector;
        s[14] = BondHandler.move.selector;
        s[15] = BondHandler.rotate.selector;
        s[16] = BondHandler.limit.selector;
        s[17] = BondHandler.takeBack.selector;
        s[18] = BondHandler.sponsor.selector;
    }

    function test_everyStepOfTheBondIsReached() public {
        bytes4[] memory s = selectors();
        for (uint256 i; i < 600; ++i) {
            uint256 seed = uint256(keccak256(abi.encode(i)));
            (bool success,) = address(handler).call(abi.encodeWithSelector(s[seed % s.length], seed));
            ok(success, "a step reverted");
        }
        string[12] memory names = [
            "quote",
            "quoteAcross",
            "settle",
            "open",
            "deliver",
            "push",
            "withdraw",
            "rotate",
            "takeBack",
            "claim",
            "claimUnfilled",
            "sponsor"
        ];
        for (uint256 i; i < names.length; ++i) {
            ok(handler.done(names[i]) != 0, string(abi.encodePacked("never made: ", names[i])));
        }
        invariant_bond();
    }

    function invariant_bond() public view {
        onlyBrokenPromisesPay();
        everyBondIsHeld();
    }

    function onlyBrokenPromisesPay() private view {
        ok(bytes(handler.surprise()).length == 0, handler.surprise());
        eq(handler.lost(0), 0, "the honest LP's bond");
    }

    /// @dev Bonds, and what is owed, are what the contract holds, to the unit.
    function everyBondIsHeld() private view {
        IQuoteBond bond = handler.place();
        for (uint256 t; t < 2; ++t) {
            address token = handler.tokenAt(t);
            uint256 sum = bond.owed(handler.forfeitAccount(), token) + bond.owed(handler.takerAccount(), token);
            eq(bond.owed(handler.forfeitAccount(), token), handler.forfeits(t), "forfeited");
            for (uint256 i; i < 3; ++i) {
                (uint256 amount, uint256 leaving,) = bond.bondOf(handler.lpAt(i), token);
                if (i < 2) eq(amount, handler.bonds(i, t), "a bond");
                ok(leaving <= amount, "no more leaves than there is");
                sum += amount;
            }
            eq(DevToken(token).balanceOf(address(bond)), sum, "bonds and what is owed");
        }
    }
}
