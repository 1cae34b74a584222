// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";

import {Approval, Commitment, StandardOrder} from "../src/interfaces/IEscrow.sol";
import {DevUsd} from "../src/devnet/DevUsd.sol";
import {OrderLib} from "../src/libraries/OrderLib.sol";
import {BondBase} from "./support/BondBase.sol";

/// @notice What calls cost that are no part of a trade, measured as in {GasTest}.
contract GasSeldomTest is BondBase {
    function setUp() public override {
        super.setUp();
        settle(simple());
    }

    function measure(string memory name, address from, address to, bytes memory data) private {
        vm.prank(from);
        (bool success,) = to.call(data);
        uint256 total = vm.lastCallGas().gasTotalUsed;
        ok(success, name);
        vm.snapshotValue(name, total);
    }

    /// forge-config: default.isolate = true
    function test_fees() public {
        bytes memory data = abi.encodeCall(escrow.collectFees, (lp(0), address(usd)));
        measure("collectFees, first", stranger, address(escrow), data);
        settle(simple());
        measure("collectFees, later", stranger, address(escrow), data);
    }

    /// forge-config: default.isolate = true
    function test_operators() public {
        bytes memory data = abi.encodeCall(escrow.limitOperator, (operator(0), address(weth), 5e18, 1 hours));
        measure("limitOperator, first", lp(0), address(escrow), data);
        settle(simple());
        data = abi.encodeCall(escrow.limitOperator, (operator(0), address(weth), 6e18, 1 hours));
        measure("limitOperator, later", lp(0), address(escrow), data);
        data = abi.encodeCall(escrow.setOperator, (operator(0), false));
        measure("setOperator, revoked", lp(0), address(escrow), data);
    }

    /// forge-config: default.isolate = true
    function test_releases() public {
        StandardOrder memory order = cross();
        openOrder(order);
        bytes[] memory signatures = new bytes[](1);
        signatures[0] = releaseSignature(idOf(order), OPERATOR);
        bytes memory data = abi.encodeCall(escrow.release, (order, signatures));
        measure("release", stranger, address(escrow), data);
    }

    /// @dev The operator signed the root above 16 approvals.
    /// forge-config: default.isolate = true
    function test_a_fill_by_a_tree() public {
        StandardOrder memory order = cross();
        bytes32 orderId = openOrder(order);
        vm.chainId(THERE);
        Approval[] memory list = new Approval[](1);
        uint32 until = order.fillDeadline;
        bytes32 node = typed(
            address(remote),
            keccak256(
                abi.encode(OrderLib.FILL_APPROVAL_TYPEHASH, orderId, hashes.outputHash(order.outputs[0]), until)
            )
        );
        bytes memory proof;
        for (uint256 i; i < 4; ++i) {
            bytes32 sibling = keccak256(abi.encode("sibling", i));
            proof = abi.encodePacked(proof, sibling);
            node = keccak256(node < sibling ? abi.encode(node, sibling) : abi.encode(sibling, node));
        }
        bytes32 root = typed(address(remote), keccak256(abi.encode(OrderLib.QUOTE_TREE_TYPEHASH, node)));
        list[0] = Approval(until, abi.encodePacked(sign(OPERATOR, root), proof));
        bytes memory data = abi.encodeCall(remote.fillWithApprovals, (orderId, order.outputs, until, list));
        measure("fill by approval, signed with 15 others", stranger, address(remote), data);
    }

    /// @dev As USDC is.
    /// forge-config: default.isolate = true
    function test_dollars_behind_a_proxy() public {
        DevUsd dollars = DevUsd(address(new ERC1967Proxy(address(usd), abi.encodeCall(usd.version, ()))));
        dollars.mint(address(this), 30e6);
        dollars.approve(address(escrow), 30e6);
        escrow.depositFor(taker, address(dollars), 10e6);
        bytes memory data = abi.encodeCall(escrow.depositFor, (taker, address(dollars), 10e6));
        measure("depositFor, token behind a proxy, later", address(this), address(escrow), data);
        vm.prank(taker);
        escrow.requestWithdrawal(address(dollars), 10e6);
        vm.warp(block.timestamp + DELAY);
        data = abi.encodeCall(escrow.withdraw, (address(dollars), taker));
        measure("withdraw, token behind a proxy", taker, address(escrow), data);
    }

    /// forge-config: default.isolate = true
    function test_claims() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        bytes memory signature = orderSignature(order);
        bytes memory data = abi.encodeCall(bond.settleOrClaim, (order, by3009(order), signature, list));
        measure("settleOrClaim, settled", stranger, address(bond), data);
        order = simple();
        list = commitments(order);
        signature = orderSignature(order);
        moveAway(lp(0), address(weth), 0);
        data = abi.encodeCall(bond.claim, (order, signature, list[0]));
        measure("claim, one output", stranger, address(bond), data);
    }
}
