// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Batch} from "../src/Batch.sol";
import {IEscrow, StandardOrder} from "../src/interfaces/IEscrow.sol";
import {Base} from "./support/Base.sol";

/// @notice What a transaction costs its sender, as a receipt would say: each measured call is a transaction of its own (isolate),
/// with the 21,000, its calldata, every account and slot cold, refunds taken off. The state is that of a running venue: LPs and
/// the fee recipient have ledger balances in both tokens, the taker and the recipient hold them before and after. Nonces and
/// order ids are always new. Commitments are signed by operators.
contract GasTest is Base {
    function setUp() public override {
        super.setUp();
        settle(simple());
    }

    function measure(string memory name, address from, bytes memory data) internal returns (uint256 total) {
        vm.prank(from);
        (bool success,) = address(escrow).call(data);
        total = vm.lastCallGas().gasTotalUsed;
        ok(success, name);
        vm.snapshotValue(name, total);
    }

    /// forge-config: default.isolate = true
    function test_settle_eip3009() public {
        StandardOrder memory order = simple();
        bytes memory data = abi.encodeCall(escrow.settle, (order, by3009(order), commitments(order)));
        vm.assertLe(measure("settle, one output, EIP-3009", stranger, data), 200_000, "gas target");
    }

    /// forge-config: default.isolate = true
    function test_settle_split_eip3009() public {
        StandardOrder memory order = split(IN, OUT);
        bytes memory data = abi.encodeCall(escrow.settle, (order, by3009(order), commitments(order)));
        measure("settle, three outputs, EIP-3009", stranger, data);
    }

    /// forge-config: default.isolate = true
    function test_settle_grant() public {
        grant(address(usd), type(uint160).max);
        StandardOrder memory order = simple();
        bytes memory data = abi.encodeCall(escrow.settle, (order, byGrant(order), commitments(order)));
        measure("settle, one output, standing Permit2 grant", stranger, data);
    }

    /// forge-config: default.isolate = true
    function test_settle_inline() public {
        StandardOrder memory order = simple();
        bytes memory funding = byInline(order, block.timestamp + 60);
        bytes memory data = abi.encodeCall(escrow.settle, (order, funding, commitments(order)));
        measure("settle, one output, inline Permit2", stranger, data);
    }

    /// forge-config: default.isolate = true
    function test_settle_ledger() public {
        depositTaker(address(usd), 2 * IN);
        StandardOrder memory order = simple();
        bytes memory data = abi.encodeCall(escrow.settle, (order, byLedger(order), commitments(order)));
        measure("settle, one output, ledger", stranger, data);
    }

    /// forge-config: default.isolate = true
    function test_settle_into_the_ledger() public {
        depositTaker(address(weth), 1);
        StandardOrder memory order = simple();
        intoLedger(order, false, taker);
        bytes memory data = abi.encodeCall(escrow.settle, (order, by3009(order), commitments(order)));
        measure("settle, one output into the ledger, EIP-3009", stranger, data);
        order = simple();
        intoLedger(order, true, taker);
        data = abi.encodeCall(escrow.settle, (order, by3009(order), commitments(order)));
        measure("settle, one output into the ledger to be withdrawn, EIP-3009", stranger, data);
        vm.warp(block.timestamp + DELAY);
        data = abi.encodeCall(escrow.withdrawDeferred, (idOf(order), order.outputs[0]));
        measure("withdrawDeferred", stranger, data);
    }

    /// forge-config: default.isolate = true
    function test_cross_chain() public {
        StandardOrder memory order = cross();
        bytes32 orderId = idOf(order);
        measure("openFor, EIP-3009", stranger, abi.encodeCall(escrow.openFor, (order, taker, by3009(order))));
        vm.chainId(THERE);
        IEscrow origin = escrow;
        escrow = remote;
        bytes memory data =
            abi.encodeCall(remote.fill, (orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0))));
        measure("fill from the ledger", operator(0), data);
        escrow = origin;
        vm.chainId(HERE);
        bytes32 payload = hashes.payloadHash(word(lp(0)), orderId, uint32(block.timestamp), order.outputs[0]);
        attest(payload);
        vm.snapshotValue("attest, two signatures", vm.lastCallGas().gasTotalUsed);
        data = abi.encodeCall(escrow.finalise, (order, solves(lp(0), block.timestamp), bytes32(0), ""));
        measure("finalise", stranger, data);
    }

    /// forge-config: default.isolate = true
    function test_refund() public {
        StandardOrder memory order = cross();
        openOrder(order);
        vm.warp(uint256(order.expires) + 1);
        measure("refund", stranger, abi.encodeCall(escrow.refund, (order)));
    }

    /// forge-config: default.isolate = true
    function test_settle_in_batches() public {
        Batch batch = new Batch(address(escrow));
        uint256[3] memory sizes = [uint256(2), 8, 32];
        string[3] memory names = ["each of 2", "each of 8", "each of 32"];
        for (uint256 k; k < sizes.length; ++k) {
            Batch.Call[] memory calls = new Batch.Call[](sizes[k]);
            for (uint256 i; i < calls.length; ++i) {
                StandardOrder memory order = simple();
                bytes memory data = abi.encodeCall(escrow.settle, (order, by3009(order), commitments(order)));
                calls[i] = Batch.Call(300_000, data);
            }
            vm.prank(stranger);
            (uint256 failed,) = batch.run(calls);
            uint256 total = vm.lastCallGas().gasTotalUsed;
            eq(failed, 0, "all settle");
            vm.snapshotValue(string.concat("settle in a batch, one output, EIP-3009, ", names[k]), total / sizes[k]);
        }
    }
}
