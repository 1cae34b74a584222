// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevWallet} from "../../src/devnet/DevWallet.sol";
import {IAttestationOracle} from "../../src/interfaces/IAttestationOracle.sol";
import {IInputCallback} from "../../src/interfaces/ICallbacks.sol";
import {IInputOracle} from "../../src/interfaces/IInputOracle.sol";
import {IEscrow, OrderStatus, SolveParams, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {OrderLib} from "../../src/libraries/OrderLib.sol";
import {Base} from "../support/Base.sol";

contract Destination is IInputCallback {
    uint256[2][] public inputs;
    bytes public data;

    function orderFinalised(uint256[2][] calldata inputs_, bytes calldata data_) external {
        if (data_.length == 1) revert("no");
        (inputs, data) = (inputs_, data_);
    }
}

/// @notice finalise and finaliseWithSignature.
contract FinaliseTest is Base {
    /// @dev Filled on the other chain now; the clock and chain are back here afterwards.
    function fillRemotely(StandardOrder memory order, bytes32 orderId, address solver) internal {
        vm.chainId(THERE);
        weth.mint(solver, OUT);
        vm.startPrank(solver);
        weth.approve(address(remote), OUT);
        remote.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(solver));
        vm.stopPrank();
        vm.chainId(HERE);
    }

    function payloadOf(StandardOrder memory order, bytes32 orderId, address solver, uint256 timestamp)
        internal
        view
        returns (bytes32)
    {
        return hashes.payloadHash(word(solver), orderId, uint32(timestamp), order.outputs[0]);
    }

    function proven() internal returns (StandardOrder memory order, bytes32 orderId) {
        order = cross();
        orderId = openOrder(order);
        fillRemotely(order, orderId, lp(0));
        attest(payloadOf(order, orderId, lp(0), block.timestamp));
    }

    function refuse(StandardOrder memory order, SolveParams[] memory list, bytes memory reason) internal {
        vm.prank(stranger);
        vm.expectRevert(reason);
        escrow.finalise(order, list, word(stranger), "");
    }

    /* QUOTES */

    function test_finalise_by_anyone() public {
        (StandardOrder memory order, bytes32 orderId) = proven();
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Finalised(orderId, word(lp(0)), word(lp(0)));
        vm.prank(stranger);
        escrow.finalise(order, solves(lp(0), block.timestamp), word(stranger), "");
        eq(status(orderId), uint256(OrderStatus.Claimed), "claimed");
        eq(escrow.balanceOf(lp(0), address(usd)), 1_000_000e6 + IN - feeOf(IN, RELAY), "LP");
        eq(feesAt(escrow, address(usd)), feeOf(IN, RELAY), "fees");
        eq(usd.balanceOf(stranger), 0, "not the caller");
        refuse(order, solves(lp(0), block.timestamp), badStatus(orderId, OrderStatus.Claimed));
    }

    function test_finalise_after_expiry_while_nobody_refunded() public {
        (StandardOrder memory order,) = proven();
        vm.warp(uint256(order.expires) + 1000);
        escrow.finalise(order, solves(lp(0), START), 0, "");
    }

    function test_finalise_a_split_filled_here() public {
        StandardOrder memory order = toOpen(split(IN, OUT));
        bytes32 orderId = openOrder(order);
        SolveParams[] memory list = new SolveParams[](3);
        for (uint256 i; i < 3; ++i) {
            vm.warp(START + i);
            vm.prank(operator(i));
            escrow.fill(orderId, order.outputs[i], order.fillDeadline, fillerData(lp(i)));
            list[i] = SolveParams(uint32(START + i), word(lp(i)));
        }
        SolveParams memory last = list[2];
        list[2] = SolveParams(uint32(START + 1), word(lp(2)));
        refuse(
            order,
            list,
            abi.encodeWithSelector(IEscrow.NotFilled.selector, orderId, hashes.outputHash(order.outputs[2]))
        );
        list[2] = SolveParams(last.timestamp, word(lp(1)));
        refuse(order, list, abi.encodeWithSelector(IEscrow.ExclusiveTo.selector, word(lp(2))));
        list[2] = SolveParams(order.fillDeadline + 1, word(lp(2)));
        refuse(
            order,
            list,
            abi.encodeWithSelector(IEscrow.FilledTooLate.selector, order.fillDeadline, order.fillDeadline + 1)
        );
        list[2] = last;
        escrow.finalise(order, list, 0, "");
        uint256 slice = IN - IN / 2 - IN * 3333 / 10_000;
        eq(escrow.balanceOf(lp(2), address(usd)), 1_000_000e6 + slice - feeOf(slice, 0), "the last slice");
    }

    /// @dev Chain, oracle, settler and payload of each output, in their order and in one question.
    function test_finalise_asks_the_oracle_for_every_output() public {
        StandardOrder memory order = split(IN, OUT);
        order.inputOracle = address(oracle);
        bytes memory series;
        SolveParams[] memory list = new SolveParams[](3);
        for (uint256 i; i < 3; ++i) {
            order.outputs[i].oracle = word(vm.addr(0x900 + i));
            order.outputs[i].settler = word(vm.addr(0xa00 + i));
            order.outputs[i].chainId = THERE + i;
        }
        bytes32 orderId = openOrder(order);
        for (uint256 i; i < 3; ++i) {
            list[i] = SolveParams(uint32(block.timestamp), word(lp(i)));
            bytes32 payload = hashes.payloadHash(word(lp(i)), orderId, uint32(block.timestamp), order.outputs[i]);
            series = abi.encodePacked(series, THERE + i, order.outputs[i].oracle, order.outputs[i].settler, payload);
        }
        vm.mockCallRevert(address(oracle), abi.encodeWithSelector(IInputOracle.efficientRequireProven.selector), "other");
        vm.mockCall(address(oracle), abi.encodeCall(IInputOracle.efficientRequireProven, (series)), "");
        escrow.finalise(order, list, 0, "");
        eq(status(orderId), uint256(OrderStatus.Claimed), "claimed");
    }

    function test_finalise_of_a_fill_in_the_last_second() public {
        StandardOrder memory order = cross();
        bytes32 orderId = openOrder(order);
        vm.warp(order.fillDeadline);
        fillRemotely(order, orderId, lp(0));
        attest(payloadOf(order, orderId, lp(0), order.fillDeadline));
        escrow.finalise(order, solves(lp(0), order.fillDeadline), 0, "");
        eq(status(orderId), 2, "claimed");
    }

    function test_finalise_refuses() public {
        StandardOrder memory order = cross();
        bytes32 orderId = idOf(order);
        SolveParams[] memory list = solves(lp(0), block.timestamp);
        refuse(order, list, badStatus(orderId, OrderStatus.None));
        openOrder(order);
        refuse(order, new SolveParams[](0), err(IEscrow.LengthMismatch.selector, 1, 0));
        refuse(order, new SolveParams[](2), err(IEscrow.LengthMismatch.selector, 1, 2));
        refuse(
            order,
            solves(lp(0), uint256(order.fillDeadline) + 1),
            abi.encodeWithSelector(IEscrow.FilledTooLate.selector, order.fillDeadline, order.fillDeadline + 1)
        );
        refuse(
            order,
            solves(lp(1), block.timestamp),
            abi.encodeWithSelector(IEscrow.ExclusiveTo.selector, word(lp(0)))
        );
        refuse(
            order,
            list,
            abi.encodeWithSelector(
                IAttestationOracle.NotProven.selector,
                THERE,
                word(address(remote)),
                payloadOf(order, orderId, lp(0), block.timestamp)
            )
        );
        order.originChainId = THERE;
        refuse(order, list, err(IEscrow.WrongChain.selector, THERE, HERE));
    }

    function test_finalise_refuses_a_call_for_a_quote() public {
        (StandardOrder memory order,) = proven();
        vm.expectRevert(IEscrow.NotForQuotes.selector);
        escrow.finalise(order, solves(lp(0), block.timestamp), 0, hex"00");
    }

    function test_finalise_refuses_a_fill_at_another_time() public {
        (StandardOrder memory order, bytes32 orderId) = proven();
        refuse(
            order,
            solves(lp(0), block.timestamp - 1),
            abi.encodeWithSelector(
                IAttestationOracle.NotProven.selector,
                THERE,
                word(address(remote)),
                payloadOf(order, orderId, lp(0), block.timestamp - 1)
            )
        );
    }

    function test_finalise_refuses_refunded_orders() public {
        (StandardOrder memory order, bytes32 orderId) = proven();
        vm.warp(uint256(order.expires) + 1);
        escrow.refund(order);
        refuse(order, solves(lp(0), START), badStatus(orderId, OrderStatus.Refunded));
    }

    /* PLAIN ORDERS */

    function plainFilled() internal returns (StandardOrder memory order, bytes32 orderId) {
        order = plain();
        orderId = openOrder(order);
        vm.prank(lp(0));
        escrow.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0)));
    }

    function test_finalise_plain_by_its_owner() public {
        (StandardOrder memory order, bytes32 orderId) = plainFilled();
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Finalised(orderId, word(lp(0)), word(address(0xcafe)));
        vm.prank(lp(0));
        escrow.finalise(order, solves(lp(0), block.timestamp), word(address(0xcafe)), "");
        eq(usd.balanceOf(address(0xcafe)), IN, "the whole input");
        eq(feesAt(escrow, address(usd)), 0, "no fees");
    }

    function test_finalise_plain_calls_back() public {
        (StandardOrder memory order,) = plainFilled();
        Destination d = new Destination();
        vm.startPrank(lp(0));
        vm.expectRevert(abi.encodeWithSignature("Error(string)", "no"));
        escrow.finalise(order, solves(lp(0), block.timestamp), word(address(d)), hex"01");
        escrow.finalise(order, solves(lp(0), block.timestamp), word(address(d)), hex"c0ffee");
        vm.stopPrank();
        eq(usd.balanceOf(address(d)), IN, "paid");
        eq(d.inputs(0, 1), IN, "inputs");
        ok(keccak256(d.data()) == keccak256(hex"c0ffee"), "data");
    }

    function test_finalise_plain_refuses() public {
        (StandardOrder memory order,) = plainFilled();
        SolveParams[] memory list = solves(lp(0), block.timestamp);
        refuse(order, list, abi.encodeWithSelector(IEscrow.NotTheOwner.selector, word(lp(0))));
        vm.startPrank(operator(0));
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotTheOwner.selector, word(lp(0))));
        escrow.finalise(order, list, word(operator(0)), "");
        vm.stopPrank();
        vm.startPrank(lp(0));
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotAnAddress.selector, bytes32(0)));
        escrow.finalise(order, list, 0, "");
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotAnAddress.selector, ~bytes32(0)));
        escrow.finalise(order, list, ~bytes32(0), "");
        vm.expectRevert(abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(escrow)));
        escrow.finalise(order, list, word(address(escrow)), "");
        vm.stopPrank();
    }

    /* finaliseWithSignature */

    function allow(StandardOrder memory order, address destination, bytes memory call, uint256 key)
        internal
        view
        returns (bytes memory)
    {
        bytes32 structHash =
            keccak256(abi.encode(OrderLib.ALLOW_OPEN_TYPEHASH, idOf(order), word(destination), keccak256(call)));
        return sign(key, typed(address(escrow), structHash));
    }

    function test_finaliseWithSignature() public {
        (StandardOrder memory order, bytes32 orderId) = plainFilled();
        Destination d = new Destination();
        bytes memory signature = allow(order, address(d), hex"c0ffee", LP);
        vm.prank(stranger);
        escrow.finaliseWithSignature(
            order, solves(lp(0), block.timestamp), word(address(d)), hex"c0ffee", signature
        );
        eq(usd.balanceOf(address(d)), IN, "paid");
        eq(status(orderId), 2, "claimed");
        ok(d.data().length == 3, "called");
    }

    function refuseSigned(StandardOrder memory order, address to, bytes memory signature, bytes memory reason)
        internal
    {
        vm.prank(stranger);
        vm.expectRevert(reason);
        escrow.finaliseWithSignature(order, solves(lp(0), START), word(to), "", signature);
    }

    function test_finaliseWithSignature_refuses() public {
        StandardOrder memory order = plain();
        refuseSigned(order, taker, "", badStatus(idOf(order), OrderStatus.None));
        openOrder(order);
        refuseSigned(
            order,
            taker,
            "",
            abi.encodeWithSelector(
                IEscrow.NotFilled.selector, idOf(order), hashes.outputHash(order.outputs[0])
            )
        );
        (order,) = plainFilled();
        bytes memory bad = badSigner(lp(0));
        refuseSigned(order, stranger, allow(order, stranger, "", STRANGER), bad);
        refuseSigned(order, stranger, allow(order, stranger, "", OPERATOR), bad);
        refuseSigned(order, stranger, allow(order, lp(0), "", LP), bad);
        refuseSigned(order, stranger, allow(order, stranger, hex"00", LP), bad);
        refuseSigned(order, address(0), allow(order, address(0), "", LP), notAnAddress(0));
    }

    function notAnAddress(bytes32 w) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IEscrow.NotAnAddress.selector, w);
    }

    function test_finaliseWithSignature_refuses_quotes() public {
        (StandardOrder memory order,) = proven();
        refuseSigned(order, stranger, allow(order, stranger, "", LP), err(IEscrow.NotForQuotes.selector));
    }

    function test_finaliseWithSignature_of_a_contract_wallet() public {
        DevWallet wallet = new DevWallet(lp(0));
        StandardOrder memory order = plain();
        bytes32 orderId = openOrder(order);
        fundLp(address(wallet), address(weth), OUT);
        bytes memory data = abi.encodeCall(
            escrow.fill, (orderId, order.outputs[0], order.fillDeadline, fillerData(address(wallet)))
        );
        vm.prank(lp(0));
        wallet.execute(address(escrow), 0, data);
        bytes memory signature = allow(order, address(wallet), "", LP);
        escrow.finaliseWithSignature(
            order, solves(address(wallet), block.timestamp), word(address(wallet)), "", signature
        );
        eq(usd.balanceOf(address(wallet)), IN, "paid");
    }
}
