// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {Commitment, MandateOutput, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {IQuoteBond} from "../../src/interfaces/IQuoteBond.sol";
import {Base} from "./Base.sol";

/// @notice Base with a bond contract beside the escrow of the origin: half a per cent of what was promised, a day to leave.
abstract contract BondBase is Base {
    uint256 internal constant SHARE = 50;
    uint256 internal constant TAKE_BACK = 1 days;
    uint32 internal constant FILL_WINDOW = 30;
    address internal forfeitTo = address(0xf0f);
    IQuoteBond internal bond;

    function setUp() public virtual override {
        super.setUp();
        bond = IQuoteBond(
            vm.deployCode("QuoteBond.sol:QuoteBond", abi.encode(address(escrow), forfeitTo, SHARE, TAKE_BACK))
        );
        for (uint256 i; i < 3; ++i) {
            post(lp(i), address(weth), 10e18);
            post(lp(i), address(usd), 50_000e6);
        }
    }

    function post(address account, address token, uint256 amount) internal {
        DevToken(token).mint(address(this), amount);
        DevToken(token).approve(address(bond), amount);
        bond.post(account, token, amount);
    }

    function bonded(address account, address token) internal view returns (uint256 amount) {
        (amount,,) = bond.bondOf(account, token);
    }

    function setTerms(address account, uint32 fillWindow, bool wallets) internal {
        vm.prank(account);
        bond.setTerms(fillWindow, wallets);
    }

    /// @dev The LP fills an order that it made up, to its own wallet: no withdrawal delay applies.
    function moveAway(address account, address token, uint256 left) internal {
        MandateOutput memory o = output(escrow, HERE, escrow.balanceOf(account, token) - left, "");
        o.oracle = word(address(oracle));
        o.token = word(token);
        o.recipient = word(account);
        vm.prank(account);
        escrow.fill(keccak256(abi.encode("made up", ++orders)), o, uint48(block.timestamp), fillerData(account));
    }

    /// @param i The output; the first of its LP in its token.
    function claim(StandardOrder memory order, uint256 i) internal returns (uint256) {
        (bytes memory signature, Commitment memory commitment) = (orderSignature(order), commitments(order)[i]);
        vm.prank(stranger);
        return bond.claim(order, signature, commitment)[i];
    }

    function refuseClaim(StandardOrder memory order, bytes memory reason) internal {
        (bytes memory signature, Commitment memory commitment) = (orderSignature(order), commitments(order)[0]);
        refuseClaim(order, signature, commitment, reason);
    }

    function refuseClaim(
        StandardOrder memory order,
        bytes memory signature,
        Commitment memory commitment,
        bytes memory reason
    ) internal {
        vm.prank(stranger);
        vm.expectRevert(reason);
        bond.claim(order, signature, commitment);
    }

    function claimUnfilled(StandardOrder memory order) internal returns (uint256[] memory) {
        Commitment memory commitment = commitments(order)[0];
        vm.prank(stranger);
        return bond.claimUnfilled(order, commitment);
    }

    function refuseUnfilled(StandardOrder memory order, bytes memory reason) internal {
        Commitment memory commitment = commitments(order)[0];
        vm.prank(stranger);
        vm.expectRevert(reason);
        bond.claimUnfilled(order, commitment);
    }

    function about(bytes4 selector, address account) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(selector, account);
    }

    function about(bytes4 selector, bytes32 orderId) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(selector, orderId);
    }
}
