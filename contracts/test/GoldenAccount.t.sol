// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ILpAccount} from "../src/interfaces/ILpAccount.sol";
import {AccountBase} from "./support/AccountBase.sol";

/// @notice test/vectors/lp-account.json, shared with TypeScript, where ethers computed it. Apart from the tests of the entry points,
/// because it notices every mutant by its code.
contract GoldenAccountTest is AccountBase {
    function test_the_address_depends_on_owner_and_salt_alone() public {
        string memory json = vm.readFile("test/vectors/lp-account.json");
        eq(keccak256(vm.getCode("LpAccount.sol:LpAccount")), vm.parseJsonBytes32(json, ".codeHash"), "code");
        for (uint256 i; i < 3; ++i) {
            string memory row = string.concat(".accounts[", vm.toString(i), "]");
            address first = vm.parseJsonAddress(json, string.concat(row, ".owner"));
            bytes32 salt = vm.parseJsonBytes32(json, string.concat(row, ".salt"));
            address place = vm.parseJsonAddress(json, string.concat(row, ".address"));
            vm.chainId(1000 + i);
            eq(address(deployAccount(first, salt)), place, "at its address");
            eq(ILpAccount(place).owner(), first, "its owner, whoever deployed it");
        }
    }
}
