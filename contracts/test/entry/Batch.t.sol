// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Batch} from "../../src/Batch.sol";
import {IOutputCallback} from "../../src/interfaces/ICallbacks.sol";
import {Approval, Commitment, IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Puppet} from "../mocks/Puppet.sol";
import {Base} from "../support/Base.sol";
import {Vm} from "../support/Vm.sol";

/// @notice Remembers the gas it was last called with.
contract GasProbe {
    uint256 public given;

    fallback() external {
        given = gasleft();
    }
}

/// @notice A recipient that eats all the gas it is given.
contract Glutton is IOutputCallback {
    function outputFilled(bytes32, uint256, bytes calldata) external pure {
        while (true) {}
    }
}

contract BatchTest is Base {
    uint256 private constant LIMIT = 600_000;

    Batch private batch;

    function setUp() public override {
        super.setUp();
        batch = new Batch(address(escrow));
    }

    function callOf(StandardOrder memory order) private view returns (Batch.Call memory) {
        return Batch.Call(LIMIT, abi.encodeCall(escrow.settle, (order, by3009(order), commitments(order))));
    }

    function several(uint256 n) private returns (StandardOrder[] memory list, Batch.Call[] memory calls) {
        (list, calls) = (new StandardOrder[](n), new Batch.Call[](n));
        for (uint256 i; i < n; ++i) {
            list[i] = simple(IN + i, OUT + i);
            calls[i] = callOf(list[i]);
        }
    }

    function run(Batch.Call[] memory calls) private returns (uint256 failed, uint256[] memory used) {
        vm.prank(stranger);
        return batch.run(calls);
    }

    function settled(StandardOrder memory order) private view returns (bool) {
        return escrow.orderStatus(idOf(order)) == OrderStatus.Claimed;
    }

    /// @dev Of the batch, in what was recorded; none counts as 0.
    function failedInLog() private returns (uint256 failed) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i; i < logs.length; ++i) {
            if (logs[i].emitter != address(batch)) continue;
            eq(logs[i].topics[0], Batch.Failed.selector, "the batch says only what failed");
            eq(failed, 0, "and says it once");
            failed = abi.decode(logs[i].data, (uint256));
            ok(failed != 0, "and only if something did");
        }
    }

    function test_all_settle_as_they_would_alone() public {
        (StandardOrder[] memory list, Batch.Call[] memory calls) = several(5);
        uint256 had = weth.balanceOf(recipient);
        vm.recordLogs();
        (uint256 failed, uint256[] memory used) = run(calls);
        eq(failed, 0, "none failed");
        eq(failedInLog(), 0, "and no log says so");
        uint256 delivered;
        for (uint256 i; i < 5; ++i) {
            ok(settled(list[i]), "settled");
            ok(used[i] > 50_000 && used[i] < LIMIT, "what each took");
            delivered += OUT + i;
        }
        eq(weth.balanceOf(recipient), had + delivered, "delivered");
        eq(usd.balanceOf(address(batch)), 0, "nothing stays in the batch");
        eq(escrow.balanceOf(address(batch), address(usd)), 0, "nor in its ledger account");
    }

    function test_a_bad_order_spoils_no_other() public {
        (StandardOrder[] memory list, Batch.Call[] memory calls) = several(4);
        // The second was settled by somebody else, the fourth is signed by nobody.
        settle(list[1]);
        Commitment[] memory unsigned = commitments(list[3]);
        unsigned[0].signature = new bytes(65);
        calls[3].data = abi.encodeCall(escrow.settle, (list[3], by3009(list[3]), unsigned));
        vm.recordLogs();
        (uint256 failed,) = run(calls);
        eq(failed, 10, "the second and the fourth");
        eq(failedInLog(), 10, "as the log says");
        ok(settled(list[0]) && settled(list[2]), "the others settled");
        eq(status(idOf(list[3])), uint256(OrderStatus.None), "and what failed changed nothing");
    }

    function test_the_same_order_twice_settles_once() public {
        (StandardOrder[] memory list, Batch.Call[] memory calls) = several(2);
        calls[1] = calls[0];
        uint256 had = weth.balanceOf(recipient);
        (uint256 failed,) = run(calls);
        eq(failed, 2, "the second time");
        ok(settled(list[0]), "once");
        eq(weth.balanceOf(recipient), had + OUT, "and delivered once");
    }

    function test_an_order_that_eats_gas_eats_its_own() public {
        (StandardOrder[] memory list, Batch.Call[] memory calls) = several(3);
        list[1].outputs[0].recipient = word(address(new Glutton()));
        list[1].outputs[0].callbackData = hex"01";
        calls[1] = callOf(list[1]);
        uint256 before = gasleft();
        (uint256 failed, uint256[] memory used) = run(calls);
        eq(failed, 2, "the glutton alone");
        ok(used[1] <= LIMIT + 2_700, "and no more than its limit");
        ok(before - gasleft() < 2 * LIMIT + 400_000, "so that the sender knows what it may cost");
        ok(settled(list[0]) && settled(list[2]), "the others settled");
    }

    function test_an_order_that_answers_at_length_costs_the_others_nothing() public {
        (StandardOrder[] memory list, Batch.Call[] memory calls) = several(2);
        AwkwardToken bomb = new AwkwardToken(6);
        bomb.mint(taker, IN);
        bomb.setAnswer(AwkwardToken.Answer.RevertBomb);
        list[0].inputs[0][0] = uint256(uint160(address(bomb)));
        vm.prank(taker);
        bomb.approve(address(permit2), IN);
        grant(address(bomb), uint160(IN));
        calls[0] =
            Batch.Call(8_000_000, abi.encodeCall(escrow.settle, (list[0], byGrant(list[0]), commitments(list[0]))));
        (uint256 failed, uint256[] memory used) = run(calls);
        eq(failed, 1, "it failed");
        ok(used[0] > 1_000_000, "with a megabyte of reasons");
        ok(used[1] < 250_000, "whose length the next one does not pay for");
        ok(settled(list[1]), "and it settled");
    }

    /// @notice However little gas there is, no good order is ever said to have failed: the whole transaction does.
    function test_fuzz_want_of_gas_never_looks_like_a_refusal(uint256 gasGiven, uint256 limit) public {
        (StandardOrder[] memory list, Batch.Call[] memory calls) = several(3);
        limit = bound(limit, 300_000, LIMIT);
        for (uint256 i; i < 3; ++i) {
            calls[i].gas = limit;
        }
        gasGiven = bound(gasGiven, 20_000, 2_000_000);
        vm.prank(stranger);
        (bool success, bytes memory answer) = address(batch).call{gas: gasGiven}(abi.encodeCall(batch.run, (calls)));
        if (success) {
            (uint256 failed,) = abi.decode(answer, (uint256, uint256[]));
            eq(failed, 0, "none failed");
        }
        for (uint256 i; i < 3; ++i) {
            ok(settled(list[i]) == success, "all or none");
        }
        // What is left of a limit after a call goes to the next: all three, and the slack of the last.
        ok(success || gasGiven < 3 * limit + limit / 63 + 60_000, "and it runs with what its limits come to");
    }

    /// @notice A call that is made gets all that its limit says.
    function test_fuzz_a_call_gets_its_limit(uint256 gasGiven, uint256 limit) public {
        GasProbe probe = new GasProbe();
        Batch own = new Batch(address(probe));
        Batch.Call[] memory calls = new Batch.Call[](1);
        calls[0] = Batch.Call(limit = bound(limit, 30_000, 400_000), abi.encodePacked(IEscrow.settle.selector));
        (bool success,) = address(own).call{gas: bound(gasGiven, limit, limit + limit / 50 + 20_000)}(
            abi.encodeCall(own.run, (calls))
        );
        // The probe reads its gas a few instructions after its start.
        ok(success == (probe.given() != 0), "made, or nothing happened");
        ok(!success || probe.given() + 100 > limit, "all of it");
    }

    function test_want_of_gas_is_said_in_words() public {
        (, Batch.Call[] memory calls) = several(2);
        calls[1].gas = type(uint64).max;
        vm.expectRevert(err(Batch.NotEnoughGas.selector, 1));
        batch.run(calls);
    }

    /// @notice Called back in the middle of a settlement, nobody settles another one, neither there nor here.
    function test_no_way_in_from_within() public {
        (StandardOrder[] memory list, Batch.Call[] memory calls) = several(2);
        Puppet puppet = new Puppet();
        list[0].outputs[0].recipient = word(address(puppet));
        list[0].outputs[0].callbackData = hex"01";
        Batch.Call[] memory inner = new Batch.Call[](1);
        inner[0] = callOf(list[1]);
        puppet.plan(address(batch), abi.encodeCall(batch.run, (inner)));
        puppet.plan(address(escrow), inner[0].data);
        calls[0] = callOf(list[0]);
        calls[0].gas = 2_000_000;
        vm.recordLogs();
        (uint256 failed,) = run(calls);
        eq(failed, 0, "both settled");
        eq(failedInLog(), 0, "and nobody said otherwise");
        bytes4[] memory outcomes = puppet.results();
        eq(bytes32(outcomes[0]), bytes32(Batch.Reentered.selector), "not by the batch");
        eq(bytes32(outcomes[1]), bytes32(IEscrow.Reentered.selector), "not by the escrow");
        ok(settled(list[0]) && settled(list[1]), "settled, each once");
        (list, calls) = several(1);
        (failed,) = run(calls);
        eq(failed, 0, "and the next one runs");
    }

    /// @notice It can do what anybody may do with what others have signed, and nothing in its own name.
    function test_it_makes_nobodys_call_in_its_own_name() public {
        StandardOrder memory order = simple();
        order.user = address(batch);
        weth.mint(address(batch), OUT);
        usd.mint(address(batch), IN);
        vm.prank(lp(0));
        escrow.setOperator(address(batch), true);
        bytes[8] memory others = [
            abi.encodeCall(escrow.deposit, (address(weth), OUT)),
            abi.encodeCall(escrow.open, (order)),
            abi.encodeCall(escrow.setOperator, (stranger, true)),
            abi.encodeCall(escrow.requestWithdrawal, (address(weth), 1)),
            abi.encodeCall(escrow.withdraw, (address(weth), stranger)),
            abi.encodeCall(escrow.fill, (idOf(order), order.outputs[0], order.fillDeadline, fillerData(lp(0)))),
            abi.encodeCall(escrow.invalidateNonce, (1)),
            bytes(hex"00")
        ];
        Batch.Call[] memory calls = new Batch.Call[](1);
        for (uint256 i; i < others.length; ++i) {
            calls[0] = Batch.Call(LIMIT, others[i]);
            vm.expectRevert(err(Batch.NotAnyones.selector, 0));
            batch.run(calls);
        }
        calls[0] = Batch.Call(LIMIT, abi.encodeCall(escrow.openFor, (toOpen(order), address(batch), hex"ff")));
        (uint256 failed,) = run(calls);
        eq(failed, 1, "it has approved nothing");
        eq(weth.balanceOf(address(batch)), OUT, "what strayed here stays");
        eq(usd.allowance(address(batch), address(escrow)), 0, "and nobody may take it");
    }

    /// @notice Orders across chains: opened, delivered by the LP's approval, and finalised through here.
    function test_each_step_across_chains() public {
        StandardOrder memory order = cross();
        bytes32 orderId = idOf(order);
        step(batch, abi.encodeCall(escrow.openFor, (order, taker, by3009(order))));
        eq(status(orderId), 1, "opened");
        Approval[] memory approvals = new Approval[](1);
        Batch there = new Batch(address(remote));
        vm.chainId(THERE);
        approvals[0] = approvalFor(remote, orderId, order.outputs[0], order.fillDeadline, OPERATOR);
        step(
            there,
            abi.encodeCall(remote.fillWithApprovals, (orderId, order.outputs, order.fillDeadline, approvals))
        );
        vm.chainId(HERE);
        attest(hashes.payloadHash(word(lp(0)), orderId, uint32(block.timestamp), order.outputs[0]));
        step(batch, abi.encodeCall(escrow.finalise, (order, solves(lp(0), block.timestamp), bytes32(0), "")));
        eq(status(orderId), 2, "claimed");
    }

    function step(Batch through_, bytes memory data) internal {
        Batch.Call[] memory calls = new Batch.Call[](1);
        calls[0] = Batch.Call(LIMIT, data);
        vm.prank(stranger);
        (uint256 failed,) = through_.run(calls);
        eq(failed, 0, "done");
    }

    /// @notice What only the taker itself may send, nobody sends through here, the taker neither.
    function test_a_taker_pays_for_itself_by_itself() public {
        StandardOrder memory order = simple();
        vm.prank(taker);
        usd.approve(address(escrow), IN);
        Batch.Call[] memory calls = new Batch.Call[](1);
        calls[0] = Batch.Call(LIMIT, abi.encodeCall(escrow.settle, (order, hex"ff", commitments(order))));
        vm.prank(taker);
        (uint256 failed,) = batch.run(calls);
        eq(failed, 1, "refused");
    }

    function test_settleThrough_is_a_settlement_too() public {
        Puppet idle = new Puppet();
        StandardOrder memory order = through(address(idle));
        Batch.Call[] memory calls = new Batch.Call[](1);
        calls[0] = Batch.Call(
            LIMIT, abi.encodeCall(escrow.settleThrough, (order, by3009(order), address(idle), bytes("")))
        );
        (uint256 failed,) = run(calls);
        eq(failed, 1, "asked for, and refused because nothing was filled");
        eq(idle.called(), 0, "and undone");
        idle.plan(address(weth), abi.encodeCall(weth.mint, (address(idle), OUT)));
        idle.plan(address(weth), abi.encodeCall(weth.approve, (address(escrow), OUT)));
        idle.plan(
            address(escrow),
            abi.encodeCall(escrow.fill, (idOf(order), order.outputs[0], order.fillDeadline, fillerData(address(idle))))
        );
        (failed,) = run(calls);
        eq(failed, 0, "filled");
        ok(settled(order), "and settled");
    }

    function test_at_most_256() public {
        Batch.Call[] memory calls = new Batch.Call[](257);
        for (uint256 i; i < 257; ++i) {
            calls[i] = Batch.Call(30_000, abi.encodePacked(escrow.settle.selector));
        }
        vm.expectRevert(err(Batch.TooMany.selector, 257));
        batch.run(calls);
        assembly {
            mstore(calls, 256)
        }
        (uint256 failed,) = batch.run(calls);
        eq(failed, type(uint256).max, "all 256 failed");
    }

    function test_an_escrow_has_code() public {
        vm.expectRevert(abi.encodeWithSelector(Batch.NoCode.selector, stranger));
        new Batch(stranger);
    }
}
