// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Test} from "../support/Test.sol";
import {AccountHandler} from "./AccountHandler.sol";
import {FuzzSelector} from "./Invariants.t.sol";

/// @notice No sequence of calls by mover, operator and strangers moves money of an account anywhere but its own places, beyond the
/// limits: what its ledger, bond and own balance lack went through a bridge to its own address, or to the operator's orders.
contract LpAccountInvariantsTest is Test {
    AccountHandler private handler;

    function setUp() public {
        handler = new AccountHandler();
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
        s = new bytes4[](10);
        s[0] = AccountHandler.request.selector;
        s[1] = AccountHandler.withdraw.selector;
        s[2] = AccountHandler.deposit.selector;
        s[3] = AccountHandler.postBond.selector;
        s[4] = AccountHandler.cctp.selector;
        s[5] = AccountHandler.oftSend.selector;
        s[6] = AccountHandler.sell.selector;
        s[7] = AccountHandler.fill.selector;
        s[8] = AccountHandler.other.selector;
        s[9] = AccountHandler.pass.selector;
    }

    function test_everyStepOfTheAccountIsReached() public {
        bytes4[] memory s = selectors();
        for (uint256 i; i < 400; ++i) {
            uint256 seed = uint256(keccak256(abi.encode(i)));
            (bool success,) = address(handler).call(abi.encodeWithSelector(s[seed % s.length], seed));
            ok(success, "a step reverted");
        }
        string[9] memory names =
            ["request", "withdraw", "deposit", "postBond", "cctp", "oftSend", "sell", "fill", "other"];
        for (uint256 i; i < names.length; ++i) {
            ok(handler.done(names[i]) != 0, string.concat("never made: ", names[i]));
        }
        invariant_account();
    }

    function invariant_account() public view {
        accountsKeepTheirMoney();
        thievesKeepToTheLimits();
    }

    function accountsKeepTheirMoney() private view {
        eq(
            handler.holdings(0) + handler.sent(0), handler.atFirst(0) + handler.came(0), "usd in its places or on the way"
        );
        eq(handler.holdings(1) + handler.sent(1) + handler.spent(), handler.atFirst(1), "weth");
        ok(!handler.foreignRecipient(), "bridges bring it to itself");
        eq(handler.allowances(), 0, "no allowance stays");
        ok(handler.rolesAreKept(), "nobody takes a role");
        ok(bytes(handler.surprise()).length == 0, handler.surprise());
    }

    function thievesKeepToTheLimits() private view {
        ok(!handler.overLimits(), "more than a limit in its day or window");
        ok(handler.spent() <= handler.windows() * handler.mostSpent(), "spent within the operator's limit");
    }
}
