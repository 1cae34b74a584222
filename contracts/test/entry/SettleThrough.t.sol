// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {IFiller, IOutputCallback} from "../../src/interfaces/ICallbacks.sol";
import {Approval, Commitment, IEscrow, MandateOutput, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Base} from "../support/Base.sol";

/// @notice Liquidity that is swapped for what comes in: a stand-in for periphery over an exchange.
contract Filler is IFiller {
    enum Mode {
        Fill,
        Nothing,
        FirstOnly,
        ForAnother,
        Fail,
        Reenter
    }

    IEscrow internal immutable escrow;
    DevToken internal immutable weth;
    Mode public mode;
    bytes public again;
    uint256[] public amounts;
    bytes public data;

    constructor(IEscrow escrow_, DevToken weth_) {
        (escrow, weth) = (escrow_, weth_);
    }

    function set(Mode mode_, bytes calldata again_) external {
        (mode, again) = (mode_, again_);
    }

    function fillThrough(bytes32 orderId, bytes calldata encoded, uint256[] calldata amounts_, bytes calldata data_)
        external
    {
        (amounts, data) = (amounts_, data_);
        if (mode == Mode.Nothing) return;
        if (mode == Mode.Fail) revert("no liquidity");
        if (mode == Mode.Reenter) {
            (bool success, bytes memory result) = address(escrow).call(again);
            if (!success) {
                assembly ("memory-safe") {
                    revert(add(result, 0x20), mload(result))
                }
            }
            return;
        }
        StandardOrder memory order = abi.decode(encoded, (StandardOrder));
        address solver = mode == Mode.ForAnother ? address(0xa11) : address(this);
        for (uint256 i; i < order.outputs.length; ++i) {
            MandateOutput memory output = order.outputs[i];
            weth.mint(address(this), output.amount);
            weth.approve(address(escrow), output.amount);
            escrow.fill(orderId, output, order.fillDeadline, abi.encode(bytes32(uint256(uint160(solver)))));
            if (mode == Mode.FirstOnly) return;
        }
    }

    function fillEarly(bytes32 orderId, StandardOrder calldata order) external {
        weth.mint(address(this), order.outputs[0].amount);
        weth.approve(address(escrow), order.outputs[0].amount);
        escrow.fill(
            orderId, order.outputs[0], order.fillDeadline, abi.encode(bytes32(uint256(uint160(address(this)))))
        );
    }
}

/// @notice Fills in its own name when it is paid.
contract Interloper is IOutputCallback {
    bytes internal again;

    function set(bytes calldata again_) external {
        again = again_;
    }

    function outputFilled(bytes32, uint256, bytes calldata) external {
        (bool success, bytes memory result) = msg.sender.call(again);
        if (!success) {
            assembly ("memory-safe") {
                revert(add(result, 0x20), mload(result))
            }
        }
    }
}

contract SettleThroughTest is Base {
    Filler internal filler;

    function setUp() public override {
        super.setUp();
        filler = new Filler(escrow, weth);
    }

    /// @dev Two outputs, both exclusive to the filler.
    function quote() internal returns (StandardOrder memory order) {
        order = blank(IN, 2);
        for (uint256 i; i < 2; ++i) {
            order.outputs[i] = output(
                escrow,
                HERE,
                OUT + i,
                quoteContext(address(filler), order.fillDeadline, 5000, FEE, i == 0 ? RELAY : 0)
            );
        }
    }

    function one() internal returns (StandardOrder memory) {
        return through(address(filler));
    }

    function go(StandardOrder memory order) internal {
        bytes memory funding = by3009(order);
        vm.prank(stranger);
        escrow.settleThrough(order, funding, address(filler), hex"c0ffee");
    }

    function refuse(StandardOrder memory order, bytes memory reason) internal {
        bytes memory funding = by3009(order);
        vm.prank(stranger);
        vm.expectRevert(reason);
        escrow.settleThrough(order, funding, address(filler), hex"c0ffee");
        eq(usd.balanceOf(taker), 1_000_000e6, "the taker keeps the input");
    }

    function notFilled(StandardOrder memory order, uint256 i) internal view returns (bytes memory) {
        return abi.encodeWithSelector(IEscrow.NotFilled.selector, idOf(order), hashes.outputHash(order.outputs[i]));
    }

    function test_settleThrough() public {
        StandardOrder memory order = quote();
        bytes32 orderId = idOf(order);
        go(order);
        uint256 fees = feeOf(IN / 2, RELAY) + feeOf(IN / 2, 0);
        eq(usd.balanceOf(address(filler)), IN - fees, "handed over, less the fees");
        eq(filler.amounts(0), IN - fees, "and said so");
        ok(keccak256(filler.data()) == keccak256(hex"c0ffee"), "data");
        eq(feesAt(escrow, address(usd)), fees, "fees");
        eq(weth.balanceOf(recipient), 1 + 2 * OUT + 1, "delivered");
        eq(status(orderId), uint256(OrderStatus.Claimed), "claimed");
        ok(escrow.isNonceUsed(taker, order.nonce), "nonce");
        eq(weth.allowance(address(filler), address(escrow)), 0, "nothing left over");
    }

    function test_settleThrough_refuses_plain_orders() public {
        refuse(plain(), err(IEscrow.NotAQuote.selector));
    }

    function test_settleThrough_events() public {
        StandardOrder memory order = one();
        bytes32 orderId = idOf(order);
        bytes memory funding = by3009(order);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Open(orderId, order);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.OutputFilled(orderId, word(address(filler)), uint32(block.timestamp), order.outputs[0], OUT);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Finalised(orderId, word(address(filler)), word(address(filler)));
        escrow.settleThrough(order, funding, address(filler), "");
    }

    function test_settleThrough_refuses_what_was_not_delivered() public {
        StandardOrder memory order = quote();
        filler.set(Filler.Mode.Nothing, "");
        refuse(order, notFilled(order, 0));
        filler.set(Filler.Mode.FirstOnly, "");
        refuse(order, notFilled(order, 1));
        filler.set(Filler.Mode.Fail, "");
        refuse(order, abi.encodeWithSignature("Error(string)", "no liquidity"));
    }

    function test_settleThrough_refuses_fills_in_another_name() public {
        filler.set(Filler.Mode.ForAnother, "");
        StandardOrder memory order = quote();
        refuse(order, abi.encodeWithSelector(IEscrow.ExclusiveTo.selector, word(address(filler))));
    }

    function test_settleThrough_binds_exclusivity() public {
        refuse(simple(), abi.encodeWithSelector(IEscrow.ExclusiveTo.selector, word(lp(0))));
    }

    function test_settleThrough_cannot_be_filled_before() public {
        StandardOrder memory order = one();
        bytes32 orderId = idOf(order);
        vm.expectRevert(badStatus(orderId, OrderStatus.None));
        filler.fillEarly(orderId, order);
    }

    function test_settleThrough_reenters_only_to_fill() public {
        StandardOrder memory order = one();
        StandardOrder memory other = simple();
        bytes[16] memory calls = [
            abi.encodeCall(escrow.settle, (other, by3009(other), commitments(other))),
            abi.encodeCall(escrow.settleThrough, (other, by3009(other), address(filler), "")),
            abi.encodeCall(escrow.deposit, (address(weth), 1)),
            abi.encodeCall(escrow.openFor, (other, taker, by3009(other))),
            abi.encodeCall(escrow.refund, (order)),
            abi.encodeCall(escrow.finalise, (order, solves(address(filler), block.timestamp), word(stranger), "")),
            abi.encodeCall(escrow.withdraw, (address(weth), stranger)),
            abi.encodeCall(escrow.requestWithdrawal, (address(weth), 1)),
            abi.encodeCall(escrow.depositFor, (stranger, address(weth), 1)),
            abi.encodeCall(escrow.open, (other)),
            abi.encodeCall(escrow.release, (order, new bytes[](1))),
            abi.encodeCall(
                escrow.finaliseWithSignature, (order, solves(address(filler), block.timestamp), word(stranger), "", "")
            ),
            abi.encodeCall(escrow.fillWithApprovals, (idOf(order), order.outputs, order.fillDeadline, new Approval[](1))),
            abi.encodeCall(escrow.collectFees, (lp(0), address(weth))),
            abi.encodeCall(escrow.withdrawDeferred, (idOf(order), order.outputs[0])),
            abi.encodeCall(escrow.keepDeferred, (idOf(order), order.outputs[0]))
        ];
        for (uint256 i; i < calls.length; ++i) {
            filler.set(Filler.Mode.Reenter, calls[i]);
            refuse(order, err(IEscrow.Reentered.selector));
        }
    }

    function test_only_the_filler_fills_and_not_while_it_does() public {
        Interloper interloper = new Interloper();
        StandardOrder memory other = plain();
        bytes32 otherId = openOrder(other);
        interloper.set(
            abi.encodeCall(
                escrow.fill, (otherId, other.outputs[0], other.fillDeadline, fillerData(address(interloper)))
            )
        );
        StandardOrder memory order = one();
        order.outputs[0].recipient = word(address(interloper));
        order.outputs[0].callbackData = hex"01";
        bytes memory funding = by3009(order);
        vm.expectRevert(IEscrow.Reentered.selector);
        escrow.settleThrough(order, funding, address(filler), "");
        order = simple();
        order.outputs[0].recipient = word(address(interloper));
        order.outputs[0].callbackData = hex"01";
        funding = by3009(order);
        Commitment[] memory list = commitments(order);
        vm.expectRevert(IEscrow.Reentered.selector);
        escrow.settle(order, funding, list);
    }

    function test_settleThrough_refuses_fillers() public {
        StandardOrder memory order = one();
        bytes memory funding = by3009(order);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(escrow)));
        escrow.settleThrough(order, funding, address(escrow), "");
        vm.expectRevert();
        escrow.settleThrough(order, funding, stranger, "");
        // A token is no filler, whatever the call says: the callback has a selector of its own.
        vm.expectRevert();
        escrow.settleThrough(
            order, funding, address(usd), abi.encodeCall(usd.transferFrom, (taker, stranger, 1))
        );
    }

    function test_settleThrough_refuses_orders() public {
        refuse(cross(), wrongOracle(address(oracle)));
        StandardOrder memory order = one();
        order.outputs[0].settler = word(address(remote));
        refuse(order, err(IEscrow.Unprovable.selector, 0));
        order = one();
        order.originChainId = THERE;
        refuse(order, err(IEscrow.WrongChain.selector, THERE, HERE));
        order = one();
        bytes memory funding = by3009(order);
        vm.warp(uint256(order.fillDeadline) + 1);
        vm.expectRevert(err(IEscrow.DeadlinePassed.selector, order.fillDeadline, block.timestamp));
        escrow.settleThrough(order, funding, address(filler), "");
    }

    function test_settleThrough_only_once() public {
        StandardOrder memory order = one();
        go(order);
        bytes memory funding = by3009(order);
        vm.expectRevert(badStatus(idOf(order), OrderStatus.Claimed));
        escrow.settleThrough(order, funding, address(filler), "");
        StandardOrder memory twin = quote();
        twin.nonce = order.nonce;
        funding = by3009(twin);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NonceUsed.selector, taker, order.nonce));
        escrow.settleThrough(twin, funding, address(filler), "");
    }
}
