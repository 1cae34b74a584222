// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Vm} from "./Vm.sol";

abstract contract Test {
    Vm internal constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);

    // solhint-disable-next-line func-name-mixedcase
    function IS_TEST() external pure returns (bool) {
        return true;
    }

    function eq(uint256 a, uint256 b, string memory what) internal pure {
        vm.assertEq(a, b, what);
    }

    function eq(address a, address b, string memory what) internal pure {
        vm.assertEq(a, b, what);
    }

    function eq(bytes32 a, bytes32 b, string memory what) internal pure {
        vm.assertEq(a, b, what);
    }

    function ok(bool condition, string memory what) internal pure {
        vm.assertTrue(condition, what);
    }

    function bound(uint256 x, uint256 min, uint256 max) internal pure returns (uint256) {
        return x >= min && x <= max ? x : min + x % (max - min + 1);
    }
}
