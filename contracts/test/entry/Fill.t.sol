// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    Approval,
    IEscrow,
    MandateOutput,
    OrderStatus,
    SolveParams,
    StandardOrder
} from "../../src/interfaces/IEscrow.sol";
import {Base} from "../support/Base.sol";

/// @notice fill, fillOrderOutputs, fillWithApprovals and hasAttested, on the destination chain of cross-chain orders.
contract FillTest is Base {
    bytes private stored;
    bytes32 internal orderId;

    function setUp() public override {
        super.setUp();
        StandardOrder memory o = cross();
        orderId = openOrder(o);
        stored = abi.encode(o);
        vm.chainId(THERE);
    }

    function order() internal view returns (StandardOrder memory) {
        return abi.decode(stored, (StandardOrder));
    }

    function out() internal view returns (MandateOutput memory) {
        return order().outputs[0];
    }

    function record(address solver) internal view returns (bytes32) {
        return keccak256(abi.encodePacked(word(solver), uint32(block.timestamp)));
    }

    function fill(address from, MandateOutput memory o, uint48 until, bytes memory data) internal returns (bytes32) {
        vm.prank(from);
        return remote.fill(orderId, o, until, data);
    }

    function refuse(address from, MandateOutput memory o, uint48 until, bytes memory data, bytes memory reason)
        internal
    {
        vm.prank(from);
        vm.expectRevert(reason);
        remote.fill(orderId, o, until, data);
    }

    function refuse(MandateOutput memory o, bytes memory reason) internal {
        refuse(operator(0), o, order().fillDeadline, fillerData(lp(0)), reason);
    }

    /* EFFECTS */

    function test_fuzz_fill_from_the_ledger(uint256 amount, bool byOperator) public {
        MandateOutput memory o = out();
        o.amount = bound(amount, 0, 1000e18);
        vm.expectEmit(true, true, true, true, address(remote));
        emit IEscrow.OutputFilled(orderId, word(lp(0)), uint32(block.timestamp), o, o.amount);
        bytes32 r = fill(byOperator ? operator(0) : lp(0), o, order().fillDeadline, fillerData(lp(0)));
        eq(r, record(lp(0)), "record returned");
        eq(remote.fillRecord(orderId, hashes.outputHash(o)), r, "record kept");
        eq(remote.balanceOf(lp(0), address(weth)), 1000e18 - o.amount, "ledger");
        eq(weth.balanceOf(recipient), 1 + o.amount, "delivered");
    }

    function test_fill_from_the_callers_wallet_when_the_ledger_does_not_cover() public {
        MandateOutput memory o = out();
        o.amount = 1000e18 + 1;
        weth.mint(lp(0), o.amount);
        vm.prank(lp(0));
        weth.approve(address(remote), o.amount);
        fill(lp(0), o, order().fillDeadline, fillerData(lp(0)));
        eq(remote.balanceOf(lp(0), address(weth)), 1000e18, "ledger untouched");
        eq(weth.balanceOf(recipient), 1 + o.amount, "delivered");
    }

    function test_fill_by_a_stranger_is_paid_by_the_stranger() public {
        weth.mint(stranger, OUT);
        vm.prank(stranger);
        weth.approve(address(remote), OUT);
        fill(stranger, out(), order().fillDeadline, fillerData(lp(0)));
        eq(remote.balanceOf(lp(0), address(weth)), 1000e18, "the LP's ledger is untouched");
        eq(weth.balanceOf(stranger), 0, "paid");
    }

    function test_fill_by_a_stranger_without_tokens() public {
        vm.prank(stranger);
        vm.expectRevert();
        remote.fill(orderId, out(), order().fillDeadline, fillerData(lp(0)));
    }

    function test_fill_plain_outputs_as_a_stock_solver() public {
        MandateOutput memory o = out();
        o.context = "";
        weth.mint(stranger, OUT);
        vm.prank(stranger);
        weth.approve(address(remote), OUT);
        // Any deadline the caller vouches for, and a solver that is no EVM address.
        bytes32 solver = keccak256("solana");
        fill(stranger, o, uint48(block.timestamp), abi.encode(solver));
        eq(
            remote.fillRecord(orderId, hashes.outputHash(o)),
            keccak256(abi.encodePacked(solver, uint32(block.timestamp))),
            "record"
        );
    }

    function test_fill_twice_delivers_once() public {
        bytes32 first = fill(lp(0), out(), order().fillDeadline, fillerData(lp(0)));
        vm.warp(block.timestamp + 5);
        eq(fill(operator(0), out(), order().fillDeadline, fillerData(lp(0))), first, "the earlier record");
        eq(weth.balanceOf(recipient), 1 + OUT, "once");
        eq(remote.balanceOf(lp(0), address(weth)), 1000e18 - OUT, "once");
    }

    function test_fill_same_output_of_another_order() public {
        fill(lp(0), out(), order().fillDeadline, fillerData(lp(0)));
        orderId = keccak256("another");
        fill(lp(0), out(), order().fillDeadline, fillerData(lp(0)));
        eq(weth.balanceOf(recipient), 1 + 2 * OUT, "both");
    }

    function test_fill_in_the_last_second() public {
        vm.warp(order().fillDeadline);
        fill(lp(0), out(), order().fillDeadline, fillerData(lp(0)));
    }

    /* REFUSALS */

    function test_fill_refuses_other_chains_and_settlers() public {
        MandateOutput memory o = out();
        o.chainId = HERE;
        refuse(o, err(IEscrow.WrongChain.selector, HERE, THERE));
        o = out();
        o.settler = word(address(escrow));
        refuse(o, abi.encodeWithSelector(IEscrow.WrongSettler.selector, o.settler));
    }

    function test_fill_refuses_late() public {
        vm.warp(uint256(order().fillDeadline) + 1);
        refuse(out(), err(IEscrow.DeadlinePassed.selector, order().fillDeadline, block.timestamp));
    }

    function test_fill_refuses_deadlines_that_are_not_the_quotes() public {
        bytes memory data = fillerData(lp(0));
        uint256 start = uint256(order().fillDeadline) + 1;
        refuse(lp(0), out(), order().fillDeadline + 1, data, err(IEscrow.WrongStartTime.selector, start, start));
        refuse(lp(0), out(), order().fillDeadline - 1, data, err(IEscrow.WrongStartTime.selector, start, start - 2));
        refuse(
            lp(0),
            out(),
            type(uint48).max,
            data,
            err(IEscrow.WrongStartTime.selector, start, uint256(type(uint48).max))
        );
    }

    function test_fill_refuses_other_solvers_of_quotes() public {
        refuse(
            lp(1),
            out(),
            order().fillDeadline,
            fillerData(lp(1)),
            abi.encodeWithSelector(IEscrow.ExclusiveTo.selector, word(lp(0)))
        );
    }

    function test_fill_exclusive_until_start_time() public {
        MandateOutput memory o = out();
        o.context = abi.encodePacked(bytes1(0xe0), word(lp(0)), uint32(block.timestamp + 10));
        refuse(
            lp(1),
            o,
            order().fillDeadline,
            fillerData(lp(1)),
            abi.encodeWithSelector(IEscrow.ExclusiveTo.selector, word(lp(0)))
        );
        vm.warp(block.timestamp + 9);
        refuse(
            lp(1),
            o,
            order().fillDeadline,
            fillerData(lp(1)),
            abi.encodeWithSelector(IEscrow.ExclusiveTo.selector, word(lp(0)))
        );
        vm.warp(block.timestamp + 1);
        fill(lp(1), o, order().fillDeadline, fillerData(lp(1)));
    }

    function test_fill_refuses_solvers_and_contexts() public {
        bytes memory zero = err(IEscrow.ZeroValue.selector);
        refuse(lp(0), out(), order().fillDeadline, "", zero);
        refuse(lp(0), out(), order().fillDeadline, new bytes(31), zero);
        refuse(lp(0), out(), order().fillDeadline, new bytes(32), zero);
        MandateOutput memory o = out();
        o.context = hex"e1";
        refuse(o, abi.encodeWithSelector(IEscrow.InvalidContext.selector, hex"e1"));
        o = out();
        o.callbackData = new bytes(65_536);
        refuse(o, err(IEscrow.TooLong.selector, 65_536));
    }

    function test_fill_refuses_tokens_and_recipients() public {
        MandateOutput memory o = out();
        o.token = 0;
        refuse(o, abi.encodeWithSelector(IEscrow.NotAnAddress.selector, bytes32(0)));
        o = out();
        o.recipient = ~bytes32(0);
        refuse(o, abi.encodeWithSelector(IEscrow.NotAnAddress.selector, ~bytes32(0)));
        o = out();
        o.recipient = word(address(remote));
        refuse(o, abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(remote)));
    }

    function test_fill_refuses_orders_of_this_chain_that_are_not_open() public {
        vm.chainId(HERE);
        StandardOrder memory o = simple();
        bytes32 id = idOf(o);
        vm.startPrank(lp(0));
        vm.expectRevert(badStatus(id, OrderStatus.None));
        escrow.fill(id, o.outputs[0], o.fillDeadline, fillerData(lp(0)));
        vm.stopPrank();
        settle(o);
        vm.startPrank(lp(0));
        vm.expectRevert(badStatus(id, OrderStatus.Claimed));
        escrow.fill(id, o.outputs[0], o.fillDeadline, fillerData(lp(0)));
        vm.stopPrank();
        o = toOpen(simple());
        id = openOrder(o);
        vm.prank(lp(0));
        escrow.fill(id, o.outputs[0], o.fillDeadline, fillerData(lp(0)));
        eq(weth.balanceOf(recipient), 1 + 2 * OUT, "settled and filled");
    }

    function test_fill_refuses_refunded_orders_of_this_chain_with_another_oracle() public {
        vm.chainId(HERE);
        StandardOrder memory o = toOpen(simple());
        o.outputs[0].oracle = word(address(oracle));
        bytes32 id = openOrder(o);
        bytes[] memory signatures = new bytes[](1);
        signatures[0] = releaseSignature(id, LP);
        escrow.release(o, signatures);
        vm.prank(lp(0));
        vm.expectRevert(badStatus(id, OrderStatus.Refunded));
        escrow.fill(id, o.outputs[0], o.fillDeadline, fillerData(lp(0)));
    }

    /* fillOrderOutputs */

    function pair() internal view returns (MandateOutput[] memory list) {
        list = new MandateOutput[](2);
        list[0] = out();
        list[1] = out();
        list[1].amount = 3;
    }

    function fillAll(address from, MandateOutput[] memory list) internal {
        vm.prank(from);
        remote.fillOrderOutputs(orderId, list, order().fillDeadline, fillerData(lp(0)));
    }

    function test_fillOrderOutputs() public {
        fillAll(operator(0), pair());
        eq(weth.balanceOf(recipient), 1 + OUT + 3, "both");
        eq(remote.balanceOf(lp(0), address(weth)), 1000e18 - OUT - 3, "from the ledger");
    }

    function test_fillOrderOutputs_refuses_when_the_first_was_filled() public {
        MandateOutput[] memory list = pair();
        fill(lp(0), list[0], order().fillDeadline, fillerData(lp(0)));
        bytes memory reason =
            abi.encodeWithSelector(IEscrow.AlreadyFilled.selector, orderId, hashes.outputHash(list[0]));
        vm.prank(lp(0));
        vm.expectRevert(reason);
        remote.fillOrderOutputs(orderId, list, order().fillDeadline, fillerData(lp(0)));
    }

    function test_fillOrderOutputs_passes_over_later_ones() public {
        MandateOutput[] memory list = pair();
        fill(lp(0), list[1], order().fillDeadline, fillerData(lp(0)));
        fillAll(lp(0), list);
        eq(weth.balanceOf(recipient), 1 + OUT + 3, "each once");
    }

    function test_fillOrderOutputs_all_or_none() public {
        MandateOutput[] memory list = pair();
        list[1].chainId = HERE;
        vm.prank(lp(0));
        vm.expectRevert(err(IEscrow.WrongChain.selector, HERE, THERE));
        remote.fillOrderOutputs(orderId, list, order().fillDeadline, fillerData(lp(0)));
        eq(weth.balanceOf(recipient), 1, "none");
    }

    function test_fillOrderOutputs_refuses() public {
        vm.startPrank(lp(0));
        vm.expectRevert(IEscrow.ZeroValue.selector);
        remote.fillOrderOutputs(orderId, new MandateOutput[](0), order().fillDeadline, fillerData(lp(0)));
        vm.expectRevert(IEscrow.ZeroValue.selector);
        remote.fillOrderOutputs(orderId, pair(), order().fillDeadline, "");
        vm.warp(uint256(order().fillDeadline) + 1);
        vm.expectRevert(err(IEscrow.DeadlinePassed.selector, order().fillDeadline, block.timestamp));
        remote.fillOrderOutputs(orderId, pair(), order().fillDeadline, fillerData(lp(0)));
        vm.stopPrank();
    }

    /* fillWithApprovals */

    function three() internal view returns (MandateOutput[] memory list) {
        list = new MandateOutput[](3);
        for (uint256 i; i < 3; ++i) {
            list[i] = out();
            list[i].amount = OUT + i;
            list[i].context = quoteContext(lp(i), order().fillDeadline, 3333, FEE, 0);
        }
    }

    function approvals(MandateOutput[] memory list) internal view returns (Approval[] memory signed) {
        signed = new Approval[](list.length);
        for (uint256 i; i < list.length; ++i) {
            signed[i] = approvalFor(remote, orderId, list[i], order().fillDeadline, OPERATOR + 16 * i);
        }
    }

    function refuseAll(MandateOutput[] memory list, Approval[] memory signed, bytes memory reason) internal {
        vm.prank(stranger);
        vm.expectRevert(reason);
        remote.fillWithApprovals(orderId, list, order().fillDeadline, signed);
        eq(weth.balanceOf(recipient), 1, "none");
    }

    function test_fillWithApprovals() public {
        MandateOutput[] memory list = three();
        Approval[] memory signed = approvals(list);
        vm.prank(stranger);
        vm.expectEmit(true, true, true, true, address(remote));
        emit IEscrow.OutputFilled(orderId, word(lp(0)), uint32(block.timestamp), list[0], OUT);
        remote.fillWithApprovals(orderId, list, order().fillDeadline, signed);
        eq(weth.balanceOf(recipient), 1 + 3 * OUT + 3, "delivered");
        for (uint256 i; i < 3; ++i) {
            eq(remote.balanceOf(lp(i), address(weth)), 1000e18 - OUT - i, "each pays its own");
            eq(remote.fillRecord(orderId, hashes.outputHash(list[i])), record(lp(i)), "record");
        }
    }

    function test_fillWithApprovals_refuses_lists() public {
        MandateOutput[] memory list = three();
        refuseAll(new MandateOutput[](0), new Approval[](0), err(IEscrow.ZeroValue.selector));
        refuseAll(list, new Approval[](2), err(IEscrow.LengthMismatch.selector, 3, 2));
        list[2] = list[0];
        Approval[] memory signed = approvals(list);
        signed[2] = signed[0];
        refuseAll(
            list,
            signed,
            abi.encodeWithSelector(IEscrow.AlreadyFilled.selector, orderId, hashes.outputHash(list[0]))
        );
    }

    function test_fillWithApprovals_refuses_plain_outputs() public {
        MandateOutput[] memory list = three();
        Approval[] memory signed = approvals(list);
        list[1].context = "";
        refuseAll(list, signed, err(IEscrow.NotAQuote.selector));
    }

    function test_fillWithApprovals_refuses_filled_outputs() public {
        MandateOutput[] memory list = three();
        Approval[] memory signed = approvals(list);
        vm.prank(lp(2));
        remote.fill(orderId, list[2], order().fillDeadline, fillerData(lp(2)));
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.AlreadyFilled.selector, orderId, hashes.outputHash(list[2]))
        );
        remote.fillWithApprovals(orderId, list, order().fillDeadline, signed);
        eq(weth.balanceOf(recipient), 1 + list[2].amount, "only the one");
    }

    function test_fillWithApprovals_refuses_signatures() public {
        MandateOutput[] memory list = three();
        Approval[] memory signed = approvals(list);
        signed[1] = approvalFor(remote, orderId, list[1], order().fillDeadline, STRANGER);
        refuseAll(list, signed, badSigner(lp(1)));
        signed[1] = approvalFor(remote, orderId, list[1], order().fillDeadline, OPERATOR);
        refuseAll(list, signed, badSigner(lp(1)));
        signed[1] = approvalFor(remote, keccak256("other order"), list[1], order().fillDeadline, LP + 16);
        refuseAll(list, signed, badSigner(lp(1)));
        signed[1] = approvalFor(remote, orderId, list[0], order().fillDeadline, LP + 16);
        refuseAll(list, signed, badSigner(lp(1)));
        signed[1] = approvalFor(escrow, orderId, list[1], order().fillDeadline, LP + 16);
        refuseAll(list, signed, badSigner(lp(1)));
        signed[1] = approvalFor(remote, orderId, list[1], order().fillDeadline, LP + 16);
        signed[1].deadline += 1;
        refuseAll(list, signed, badSigner(lp(1)));
    }

    function test_fillWithApprovals_refuses_stale_approvals() public {
        MandateOutput[] memory list = three();
        Approval[] memory signed = approvals(list);
        signed[1] = approvalFor(remote, orderId, list[1], uint32(block.timestamp) - 1, LP + 16);
        refuseAll(list, signed, err(IEscrow.DeadlinePassed.selector, block.timestamp - 1, block.timestamp));
    }

    function test_fillWithApprovals_refuses_late_fills_and_poor_lps() public {
        MandateOutput[] memory list = three();
        list[2].amount = 1000e18 + 1;
        refuseAll(
            list,
            approvals(list),
            abi.encodeWithSelector(
                IEscrow.InsufficientBalance.selector, lp(2), address(weth), 1000e18, 1000e18 + 1
            )
        );
        vm.warp(uint256(order().fillDeadline) + 1);
        refuseAll(
            list, approvals(list), err(IEscrow.DeadlinePassed.selector, order().fillDeadline, block.timestamp)
        );
    }

    function test_fillWithApprovals_of_an_order_of_this_chain() public {
        vm.chainId(HERE);
        StandardOrder memory o = toOpen(simple());
        bytes32 id = idOf(o);
        Approval[] memory signed = new Approval[](1);
        signed[0] = approvalFor(escrow, id, o.outputs[0], o.fillDeadline, LP);
        vm.expectRevert(badStatus(id, OrderStatus.None));
        escrow.fillWithApprovals(id, o.outputs, o.fillDeadline, signed);
        openOrder(o);
        escrow.fillWithApprovals(id, o.outputs, o.fillDeadline, signed);
        escrow.finalise(o, solves(lp(0), block.timestamp), 0, "");
        eq(status(id), 2, "claimed");
    }

    /* hasAttested */

    function attested(address asOracle, bytes memory payload) internal returns (bool) {
        bytes[] memory list = new bytes[](1);
        list[0] = payload;
        vm.prank(asOracle);
        return remote.hasAttested(list);
    }

    function test_hasAttested() public {
        MandateOutput memory o = out();
        o.callbackData = "";
        uint32 now_ = uint32(block.timestamp);
        bytes memory payload = hashes.payload(word(lp(0)), orderId, now_, o);
        ok(!attested(address(oracle), payload), "not before");
        fill(lp(0), o, order().fillDeadline, fillerData(lp(0)));
        ok(attested(address(oracle), payload), "filled");
        ok(!attested(stranger, payload), "not for another oracle");
        ok(!attested(address(oracle), hashes.payload(word(lp(1)), orderId, now_, o)), "solver");
        ok(!attested(address(oracle), hashes.payload(word(lp(0)), ~orderId, now_, o)), "order");
        ok(!attested(address(oracle), hashes.payload(word(lp(0)), orderId, now_ + 1, o)), "time");
        o.amount -= 1;
        ok(!attested(address(oracle), hashes.payload(word(lp(0)), orderId, now_, o)), "amount");
        vm.chainId(HERE);
        ok(!attested(address(oracle), payload), "chain");
    }

    function test_hasAttested_of_an_output_without_context() public {
        MandateOutput memory o = out();
        (o.callbackData, o.context) = ("", "");
        fill(lp(0), o, order().fillDeadline, fillerData(lp(0)));
        bytes memory payload = hashes.payload(word(lp(0)), orderId, uint32(block.timestamp), o);
        eq(payload.length, 168, "the shortest there is");
        ok(attested(address(oracle), payload), "filled");
    }

    function test_hasAttested_every_payload_and_at_least_one() public {
        fill(lp(0), out(), order().fillDeadline, fillerData(lp(0)));
        bytes[] memory list = new bytes[](2);
        list[0] = hashes.payload(word(lp(0)), orderId, uint32(block.timestamp), out());
        list[1] = list[0];
        vm.prank(address(oracle));
        ok(remote.hasAttested(list), "both");
        list[1] = hashes.payload(word(lp(0)), orderId, uint32(block.timestamp) + 1, out());
        vm.prank(address(oracle));
        ok(!remote.hasAttested(list), "one");
        ok(!remote.hasAttested(new bytes[](0)), "none");
    }

    function test_hasAttested_refuses_what_is_no_payload() public {
        bytes[] memory list = new bytes[](1);
        bytes memory reason = err(IEscrow.InvalidPayload.selector);
        bytes memory good = hashes.payload(word(lp(0)), orderId, 1, out());
        for (uint256 length; length < 168; ++length) {
            list[0] = new bytes(length);
            vm.expectRevert(reason);
            remote.hasAttested(list);
        }
        list[0] = abi.encodePacked(good, bytes1(0));
        vm.expectRevert(reason);
        remote.hasAttested(list);
        assembly ("memory-safe") {
            mstore(good, sub(mload(good), 1))
        }
        list[0] = good;
        vm.expectRevert(reason);
        remote.hasAttested(list);
        list[0] = abi.encodePacked(new bytes(164), uint16(2), uint16(0));
        vm.expectRevert(reason);
        remote.hasAttested(list);
        list[0] = abi.encodePacked(new bytes(164), uint16(3), uint16(0));
        vm.expectRevert(reason);
        remote.hasAttested(list);
    }
}
